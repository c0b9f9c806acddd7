#include <algorithm>
#include <limits>

#include "api/clatter.hpp"
#include "api/setup.hpp"
#include "study/simulate.hpp"

namespace clatter::api {

struct Simulation::Impl {
  explicit Impl(Model model)
      : prepared(study::prepare(std::move(model))), observer(prepared.system, {"*"}, prepared.extra) {
    for (const QuantityInfo& q : observer.quantities())
      quantities.push_back({q.name, q.unit, q.components, q.description});
    values.resize(static_cast<std::size_t>(observer.width()));
    restart();
  }

  Stepper& stepper() const { return prepared.motion->stepper(); }

  // As Run::start does: what happened in no time at the start is in the ledger already.
  void restart() {
    stepper().start(prepared.start);
    sample();
    energy_at_start = stepper().dynamics().stored_energy(s) - W.sum();
    take_events();
  }
  double step(double until) {
    const StepReport& report = stepper().step(until);
    events.clear();
    if (report.at_event || report.changed) take_events();
    s = stepper().state();  // of the same size: views of it stay good
    sampled = observed = false;
    return s.t;
  }
  void take_events() {
    stepper().event_log(log);
    events.clear();
    for (const StepEvent& e : log)
      events.push_back({stepper().state().t, e.what.empty() ? "event" : e.what, e.element, e.detail});
  }
  void sample() {
    s = stepper().state();
    stepper().sample(stepper().state().t, s, a, lambda, W);
    sampled = true;
    observed = false;
  }
  void observe() {
    if (!sampled) sample();
    if (observed) return;
    contact::Motion& motion = *prepared.motion;
    motion.observe(s, lambda, W);
    const State& own = motion.engine_state(s);
    const double beyond =
        motion.has_contacts() ? stepper().dynamics().stored_energy(s) - prepared.engine->stored_energy(own) : 0;
    observer.evaluate(*prepared.engine, own, a, motion.engine_lambda(lambda), W, energy_at_start, values, beyond);
    observed = true;
  }

  study::Prepared prepared;
  Observer observer;
  std::vector<Quantity> quantities;
  State s;
  Vec a, lambda, W;
  double energy_at_start = 0;
  bool sampled = false, observed = false;
  std::vector<double> values;
  std::vector<StepEvent> log;
  std::vector<Event> events;
};

Simulation::Simulation(const Setup& setup) : impl_(std::make_unique<Impl>(load(setup))) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const std::string& Simulation::title() const { return impl_->prepared.system->model.title; }
double Simulation::time() const { return impl_->stepper().state().t; }
double Simulation::start() const { return impl_->prepared.start.t; }
double Simulation::end() const { return impl_->prepared.system->model.simulate.end; }
int Simulation::degrees_of_freedom() const { return impl_->prepared.degrees_of_freedom(); }
void Simulation::restart() { impl_->restart(); }

double Simulation::step(double until) {
  if (!(until > time())) throw InputError("a step must go forward in time: `until` is not after the present");
  return impl_->step(until);
}

double Simulation::advance(double until) {
  if (!(until >= time())) throw InputError("a motion goes forward in time: `until` is before the present");
  std::vector<Event> all;
  while (time() < until) {
    impl_->step(until);
    all.insert(all.end(), impl_->events.begin(), impl_->events.end());
  }
  impl_->events = std::move(all);
  return time();
}

const std::vector<Event>& Simulation::events() const { return impl_->events; }
const std::vector<Quantity>& Simulation::quantities() const { return impl_->quantities; }

std::span<const double> Simulation::value(const std::string& quantity) {
  std::size_t column = 0;
  for (const QuantityInfo& q : impl_->observer.quantities()) {
    const auto width = static_cast<std::size_t>(q.width());
    std::size_t first = column, count = 0;
    if (q.name == quantity) count = width;
    for (std::size_t i = 0; i < q.components.size() && count == 0; ++i)
      if (quantity.size() == q.name.size() + 1 + q.components[i].size() && quantity.starts_with(q.name) &&
          quantity.ends_with("." + q.components[i])) {
        first = column + i;
        count = 1;
      }
    if (count > 0) {
      impl_->observe();
      return std::span<const double>(impl_->values).subspan(first, count);
    }
    column += width;
  }
  study::column_of(impl_->observer, quantity);  // throws, with the nearest name
  throw InputError("there is no quantity `" + quantity + "`");
}

std::span<const double> Simulation::coordinates() const {
  const Vec& q = impl_->s.q;
  return {q.data(), static_cast<std::size_t>(q.size())};
}
std::span<const double> Simulation::velocities() const {
  const Vec& v = impl_->s.v;
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<const double> Simulation::inner_states() const {
  const Vec& z = impl_->s.z;
  return {z.data(), static_cast<std::size_t>(z.size())};
}
const std::vector<std::string>& Simulation::velocity_names() const { return impl_->prepared.system->velocity_names; }

}  // namespace clatter::api
