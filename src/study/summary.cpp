#include "study/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "contact/crowd_stepper.hpp"
#include "integrate/projection.hpp"
#include "integrate/scheme_choice.hpp"
#include "study/method.hpp"

namespace clatter::study {

namespace {

// Steps that stability or small fast vibrations kept short: who took over, or what to do about it. `steps`: of the
// whole run, also of one that was continued.
void tell_stiffness(const SchemeChoice& choice, Dynamics& dynamics, bool automatic, std::uint64_t steps,
                    Summary& summary) {
  constexpr std::uint64_t kMany = 1000, kVeryMany = 20000;
  const auto stiff = static_cast<std::uint64_t>(choice.stiff_steps()),
             fast = static_cast<std::uint64_t>(choice.fast_steps()),
             implicit = static_cast<std::uint64_t>(choice.implicit_steps());
  if (choice.fastest() < 0) return;
  const std::string from = number(choice.fast_since(), 4), fastest = dynamics.velocity_name(choice.fastest());
  if (automatic && 2 * implicit > fast && implicit > 0) {
    summary.notes.push_back(fmt::format("the motion is stiff from {} s on (fastest: {}): there radau5 took {} steps",
                                        from, fastest, whole(implicit)));
  } else if (!automatic && stiff >= kMany && 2 * stiff > steps) {
    summary.warnings.push_back(
        fmt::format("stiff: {} of {} steps were kept short by the stability of dopri5, not by the tolerance, from {} s "
                    "on; the fastest motion is that of {}. Use `radau5`, whose steps are not limited by it",
                    whole(stiff), whole(steps), from, fastest));
  } else if (fast >= kVeryMany && 2 * fast > steps) {
    summary.warnings.push_back(fmt::format(
        "stiff: {} of {} steps follow small fast vibrations from {} s on, most of all of {}. Where these are "
        "of no interest use `radau5` with a larger `tolerance`, or `generalized-alpha`, which damps them",
        whole(fast), whole(steps), from, fastest));
  }
}

// How well the constraints hold at the end.
void sum_up_constraints(Prepared& prepared, const State& last, Summary& summary) {
  const System& system = *prepared.system;
  if (system.sizes.nc() == 0) return;
  summary.constrained = true;
  Projector projector(*prepared.engine);
  projector.start(prepared.start);
  if (system.sizes.nh > 0) summary.position_residual = projector.position_violation(last);
  summary.velocity_residual = projector.velocity_violation(last);
}

void sum_up_contacts(const contact::Motion& motion, Summary& summary) {
  if (!motion.has_contacts()) return;
  const contact::ContactSystem& contacts = motion.contacts();
  summary.contact = {contacts.pairs.size(), static_cast<std::uint64_t>(contacts.slots()),
                     contacts.any_rigid,    motion.counts(),
                     motion.certificate(),  contacts.length_scale};
  summary.contact.unsolved = motion.unsolved();
  summary.contact.passages = motion.passages();
  if (const contact::CrowdStepper* crowd = motion.crowd()) {
    summary.contact.rigid = summary.contact.crowd = true;
    summary.contact.contacts = contacts.groups.size();
    summary.contact.points = static_cast<std::uint64_t>(crowd->touching());
    summary.contact.residual = crowd->worst_residual();
  }
}

}  // namespace

double Ledger::remainder() const {
  double sum = start;
  for (const double w : works) sum += w;
  return end - sum;
}

double Ledger::scale() const {
  double sum = kinetic;
  for (const double w : works) sum += std::abs(w);
  return sum;
}

double Ledger::rounding() const { return kLedgerRounding * summands; }

bool Ledger::closes() const { return std::abs(remainder()) <= kLedgerTolerance * scale() + rounding(); }

double energy_summands(const Engine& engine, double stored) {
  const System& system = engine.system();
  double weights = 0;
  for (std::size_t i = 0; i < system.model.bodies.size(); ++i)
    weights +=
        std::abs(system.model.bodies[i].mass * system.model.gravity.dot(engine.frame_state(system.bodies[i].frame).p));
  const double speed = system.length_scale / system.time_scale;
  return std::abs(stored) + 2 * weights + system.mass_scale * speed * speed;
}

std::string unsolved_text(const ContactSummary& c) {
  const contact::UnsolvedSteps& w = c.unsolved.worst;
  if (w.steps == 0) return "";
  std::string where = fmt::format("contact `{}`", c.unsolved.contact);
  if (c.unsolved.shapes.size() == 2)
    where += fmt::format(" of `{}` and `{}`", c.unsolved.shapes[0], c.unsolved.shapes[1]);
  const std::string steps = counted(static_cast<std::uint64_t>(w.steps), "step");
  const std::string was = w.steps == 1 ? "was" : "were";
  if (c.unsolved.relative)
    return fmt::format(
        "contacts-not-solved: the contacts of {} {} not solved: at worst rates are off by {} of the largest where {} "
        "is "
        "allowed, at {} s, {}; try a smaller --step",
        steps, was, number(w.residual, 2), number(w.tolerance, 2), number(w.t, 6), where);
  return fmt::format(
      "contacts-not-solved: the contacts of {} {} not solved: at worst rates are off by {} m/s where {} m/s is "
      "allowed, "
      "at {} s, {}; give no contact_iterations or more of them, a larger contact_tolerance, or a smaller --step",
      steps, was, number(w.residual, 2), number(w.tolerance, 2), number(w.t, 6), where);
}

std::string passages_text(const ContactSummary& c) {
  const contact::Passages& w = c.passages.worst;
  if (w.steps == 0) return "";
  return fmt::format(
      "passed-through: in {} shapes passed through each other between the ends, at worst {} m deep at {} s, contact "
      "`{}`; try a smaller --step, or method: event-driven",
      counted(static_cast<std::uint64_t>(w.steps), "step"), number(w.depth, 2), number(w.t, 6), c.passages.contact);
}

Summary summary_of(const Prepared& prepared) {
  const System& system = *prepared.system;
  const Model& model = system.model;
  Summary summary;
  summary.title = model.title;
  summary.bodies = model.bodies.size();
  summary.coordinates = static_cast<std::uint64_t>(system.sizes.nv);
  summary.constraints = static_cast<std::uint64_t>(system.sizes.nc());
  summary.degrees_of_freedom = static_cast<std::uint64_t>(prepared.degrees_of_freedom());
  summary.method = method_name(model.simulate.method);
  summary.ledger.names = prepared.motion->channel_names();
  return summary;
}

void sum_up_motion(Prepared& prepared, const State& last, std::uint64_t steps, Summary& summary) {
  contact::Motion& motion = *prepared.motion;
  if (const SchemeChoice* choice = motion.stepper().scheme_choice())
    tell_stiffness(*choice, motion.dynamics(), chosen_by_program(prepared.system->model.simulate), steps, summary);
  sum_up_constraints(prepared, last, summary);
  sum_up_contacts(motion, summary);
}

}  // namespace clatter::study
