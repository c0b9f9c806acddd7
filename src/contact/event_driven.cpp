#include "contact/event_driven.hpp"

#include <algorithm>

namespace clatter::contact {

EventDriven::EventDriven(std::shared_ptr<const ContactSystem> contacts, Engine& engine,
                         const IntegratorSettings& settings)
    : engine_(engine), dynamics_(std::move(contacts), engine), instant_(dynamics_), settings_(settings) {
  W_.setZero(dynamics_.sizes().np);
  W_base_ = W_;
}

void EventDriven::begin_phase(const State& s, double h) {
  IntegratorSettings settings = settings_;
  if (h > 0 && (settings.scheme == Scheme::dopri5 || settings.scheme == Scheme::radau5)) settings.step = h;
  inner_ = make_integrator(settings, dynamics_);
  inner_->start(s);
  W_base_ = W_;
}

void EventDriven::start(const State& s) {
  W_.setZero(dynamics_.sizes().np);
  impacts_ = 0;
  state_ = s;
  touched_.clear();
  stopped_.clear();
  dynamics_.set_active({}, s);
  instant_.settle(state_, {}, {}, {}, false, result_);
  W_ += result_.work;
  impacts_ += result_.impacts;
  begin_phase(state_, settings_.step);
  at_instant_ = pending_ = false;
}

const StepReport& EventDriven::step(double t_limit) {
  if (pending_) {
    decide();
    report_ = {};
    report_.t = state_.t;
    report_.at_event = true;
    return report_;
  }
  at_instant_ = false;
  fired_names_.clear();
  result_.changes.clear();
  report_ = inner_->step(t_limit);
  W_ = W_base_ + inner_->work();
  if (!report_.at_event) {
    h_ = inner_->next_step();
    return report_;
  }
  touched_.clear();
  stopped_.clear();
  on_edge_ = false;
  std::vector<int> compliant;
  const int first_compliant = dynamics_.sizes().ne - dynamics_.compliant().event_count();
  for (const int index : inner_->fired()) {
    fired_names_.push_back(dynamics_.event_name(index));
    const ContactDynamics::EventInfo info = dynamics_.event_info(index);
    if (index >= first_compliant) compliant.push_back(index - first_compliant);
    if (info.slot < 0) continue;
    pending_ = true;
    if (info.kind == ContactEvent::touch) touched_.push_back(info.slot);
    if (info.kind == ContactEvent::stop) stopped_.push_back(info.slot);
    if (info.kind == ContactEvent::lift || info.kind == ContactEvent::slip) on_edge_ = true;
  }
  if (!compliant.empty()) dynamics_.compliant().on_events(compliant);
  return report_;
}

void EventDriven::decide() {
  state_ = inner_->state();
  const std::vector<ActiveContact> before = dynamics_.active();
  const double h = std::max(inner_->next_step(), h_);
  instant_.settle(state_, before, touched_, stopped_, on_edge_, result_);
  W_ += result_.work;
  impacts_ += result_.impacts;
  begin_phase(state_, h);
  pending_ = false;
  at_instant_ = true;
}

void EventDriven::refresh() {
  if (pending_) decide();
  const State s = state();
  begin_phase(s, inner_->next_step());
  at_instant_ = false;
}

void EventDriven::interpolate_work(double t, Vec& W) {
  inner_->interpolate_work(t, W);
  W += W_base_;
}

void EventDriven::exchange(Archive& archive) {
  // After refresh() everything is in the state, the contact state and the next step.
  State s = state();
  archive.value(s.t);
  archive.vector(s.q);
  archive.vector(s.v);
  archive.vector(s.z);
  archive.vector(W_);
  double h = inner_->next_step();
  archive.value(h);
  archive.count(impacts_);
  const int slots = dynamics_.contacts().slots();
  std::vector<ActiveContact> active;
  for (int slot = 0; slot < slots; ++slot) {
    ActiveContact c;
    double mode = 0;
    for (const ActiveContact& a : dynamics_.active())
      if (a.slot == slot) {
        c = a;
        mode = static_cast<double>(a.mode);
      }
    archive.value(mode);
    archive.value(c.direction[0]);
    archive.value(c.direction[1]);
    Branch& branch = dynamics_.contacts().branch(slot);
    archive.count(branch.feature);
    archive.value(branch.s1);
    archive.value(branch.s2);
    if (mode != 0) {
      c.slot = slot;
      c.mode = static_cast<Mode>(static_cast<int>(mode));
      active.push_back(c);
    }
  }
  dynamics_.compliant().exchange(archive);
  if (!archive.reading()) return;
  dynamics_.set_active(active, s);
  begin_phase(s, h);
  pending_ = at_instant_ = false;
}

std::size_t EventDriven::memory_size() {
  Archive archive = Archive::counter();
  exchange(archive);
  return archive.position();
}

void EventDriven::save(std::span<double> memory) {
  Archive archive = Archive::writer(memory);
  exchange(archive);
}

void EventDriven::restore(std::span<const double> memory) {
  Archive archive = Archive::reader(memory);
  exchange(archive);
}

}  // namespace clatter::contact
