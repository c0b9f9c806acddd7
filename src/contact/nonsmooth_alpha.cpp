#include "contact/nonsmooth_alpha.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "contact/pair_way.hpp"
#include "integrate/alpha_weights.hpp"

namespace clatter::contact {

namespace {

constexpr int kMaxIterations = 15;
constexpr double kNoApproach = 1e-9, kNoSlip = 1e-9, kTouching = 1e-9;
constexpr double kImpact = 2;

}  // namespace

NonsmoothAlpha::NonsmoothAlpha(ContactDynamics& dynamics, const IntegratorSettings& settings)
    : ContactStepper(dynamics, settings), matrix_(dynamics) {
  const double r = settings.rho_inf;
  if (!(r >= 0 && r <= 1)) throw InputError(fmt::format("rho_inf = {} is not between 0 and 1", r));
  const AlphaWeights weights = AlphaWeights::chung_hulbert(r);
  am_ = weights.am;
  af_ = weights.af;
  g_ = weights.gamma;
  b_ = weights.beta;
  const auto slots = static_cast<std::size_t>(contacts_.slots());
  for (std::vector<char>* c : {&closed_, &closed_trial_, &held_}) c->assign(slots, 0);
  for (Vec* x : {&force_, &force_trial_, &impact_}) x->setZero(3 * contacts_.slots());
  impact_rate_.setZero(2 * contacts_.slots());
  for (Vec* x : {&A_, &A_trial_, &A0_, &r_, &da_, &x_, &rhs_, &impulses_}) x->setZero(n_.nv);
  for (Vec* x : {&B_, &B_trial_, &B0_, &f_}) x->setZero(n_.nz);
  for (Vec* x : {&dlambda_, &mu_step_, &residual_}) x->setZero(n_.nc());
  phi_.setZero(n_.nh);
  for (Vec* x : {&p_base_, &p_end_, &p_}) x->setZero(n_.np);
  if (!engine_.system().flexible.empty()) correction_ = &matrix_;
}

void NonsmoothAlpha::started() {
  ContactStepper::started();
  const double near = kTouching * system().length_scale, slow = kNoApproach * system().velocity_scale;
  closed_.assign(closed_.size(), 0);
  force_.setZero();
  loaded_.clear();
  if (system().any_rigid) {
    detect(now_, near);
    for (int slot = 0; slot < contacts_.slots(); ++slot) {
      const SlotState& s = contacts_[slot];
      closed_[static_cast<std::size_t>(slot)] =
          system().pair(slot).rigid && s.present && std::abs(s.gap) <= near && std::abs(s.rate[0]) <= slow;
    }
  }
  list(closed_, lasting_);
  consistent(now_, lasting_, force_, loaded_, a_, lambda_, zdot_);
  step_frictions_.samples = step_frictions_.samples_trial;
  known_ = true;
  A_ = a_;
  B_ = zdot_;
  matrix_.forget();
}

void NonsmoothAlpha::exchange(Archive& archive) {
  ContactStepper::exchange(archive);
  archive.vector(A_);
  archive.vector(B_);
  archive.vector(force_);
  for (char& c : closed_) archive.count(c);
  if (archive.reading()) {
    list(closed_, lasting_);
    loaded_.clear();
    for (int slot = 0; slot < contacts_.slots(); ++slot)
      if (!force_.segment<3>(3 * slot).isZero(0)) loaded_.push_back(slot);
  }
  // Friction rows as samples: every row has one or none.
  std::vector<FrictionSample> all(static_cast<std::size_t>(frictions_.size()));
  for (const FrictionSample& f : step_frictions_.samples) all[static_cast<std::size_t>(f.index)] = f;
  step_frictions_.samples.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    archive.count(all[i].index);
    archive.value(all[i].limit);
    for (int c = 0; c < 2; ++c) archive.value(all[i].force[c]);
    if (all[i].index >= 0) step_frictions_.samples.push_back(all[i]);
  }
}

void NonsmoothAlpha::list(const std::vector<char>& closed, std::vector<int>& slots) {
  slots.clear();
  for (std::size_t slot = 0; slot < closed.size(); ++slot)
    if (closed[slot]) slots.push_back(static_cast<int>(slot));
}

void NonsmoothAlpha::clear_forces(Vec& forces, std::vector<int>& slots) {
  for (const int slot : slots) forces.segment<3>(3 * slot).setZero();
  slots.clear();
}

void NonsmoothAlpha::take_forces(Vec& forces, std::vector<int>& slots) {
  for (int i = 0; i < problem_.size(); ++i) {
    if (problem_[i].friction >= 0) continue;
    forces.segment<3>(3 * problem_[i].slot) = problem_[i].r;
    slots.push_back(problem_[i].slot);
  }
}

void NonsmoothAlpha::consistent(const State& s, const std::vector<int>& lasting, Vec& forces, std::vector<int>& loaded,
                                Vec& a, Vec& lambda, Vec& zdot) {
  dynamics_.accelerations(s, a, lambda, zdot);
  step_frictions_.samples_trial.clear();
  if (!system().any_rigid && frictions_.joints() == 0) return;
  engine_.prepare_response(contact_.engine_state(s));
  problem_.begin(nullptr);
  const double slow = kNoSlip * system().velocity_scale;
  for (const int slot : lasting) {
    contacts_.evaluate(slot, true);
    const SlotState& c = contacts_[slot];
    if (!c.present) continue;
    BlockCone cone;
    cone.tangents = frictional(slot) ? system().pair(slot).tangents : 0;
    const double speed = cone.tangents == 0 ? 0 : std::hypot(c.rate[1], cone.tangents == 2 ? c.rate[2] : 0.0);
    cone.mu = friction(slot, speed, false);
    if (speed > slow) {
      cone.sliding = true;
      for (int k = 0; k < cone.tangents; ++k) cone.d[k] = c.rate[1 + k] / speed;
    }
    StepProblem::Item& item = problem_.add(slot, cone);
    for (int k = 0; k < item.rows(); ++k) item.b[k] = problem_.along(problem_.size() - 1, k, a) + c.bias[k];
    item.r = forces.segment<3>(3 * slot);
  }
  step_frictions_.items.clear();
  if (any_frictions()) add_frictions(a, 1, 0, 1, true);
  clear_forces(forces, loaded);
  if (problem_.size() == 0) return;
  assemble(1);
  solve_with_frictions("forces", 1, lambda);
  take_forces(forces, loaded);
  problem_.impulses(impulses_);
  problem_.response(impulses_, x_, mu_step_);
  a += x_;
  lambda += mu_step_;
}

void NonsmoothAlpha::predict(double h) {
  const double k = (1 - af_) / (1 - am_);
  A_trial_ = A0_ + k * a_trial_;
  B_trial_ = B0_ + k * zdot_trial_;
  u1_ = h * now_.v + h * h * ((0.5 - b_) * A_ + b_ * A_trial_);
  trial_.v = now_.v + h * ((1 - g_) * A_ + g_ * A_trial_);
  trial_.z = now_.z + h * ((1 - g_) * B_ + g_ * B_trial_);
}

double NonsmoothAlpha::increment_size(double h, double cq) const {
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale();
  double size = 0;
  for (int i = 0; i < n_.nv; ++i) {
    const double rate = h * vs[i] / us[i];
    size = std::max(size, std::abs(cq * da_[i]) / (us[i] * std::max(settings_.newton_tolerance * rate * rate, 1e-15)));
  }
  return size;
}

bool NonsmoothAlpha::smooth_part(double h) {
  const double k = (1 - af_) / (1 - am_), cv = h * g_ * k, cq = h * h * b_ * k;
  A0_ = (af_ * a_ - am_ * A_) / (1 - am_);
  B0_ = (af_ * zdot_ - am_ * B_) / (1 - am_);
  a_trial_ = a_;
  zdot_trial_ = zdot_;
  lambda_trial_ = lambda_;
  clear_forces(force_trial_, loaded_trial_);
  for (const int slot : loaded_) force_trial_.segment<3>(3 * slot) = force_.segment<3>(3 * slot);
  loaded_trial_ = loaded_;
  double last = 0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    leave_if_interrupted();
    predict(h);
    if (!increment_rate(u1_, trial_.v, x_)) return false;
    dynamics_.plus(now_.q, u1_, trial_.q);
    if (iteration == 0 && !matrix_.factorize(trial_, a_trial_, lambda_trial_, cv, cq)) return false;
    dynamics_.residual(trial_, a_trial_, lambda_trial_, r_, f_);
    const double z_change =
        n_.nz > 0 ? h * (f_ - zdot_trial_).cwiseQuotient(projector_.z_scale()).lpNorm<Eigen::Infinity>() : 0;
    zdot_trial_ = f_;
    rhs_ = -r_;
    if (n_.nc() > 0) {
      dynamics_.constraints(trial_, phi_, residual_);
      residual_ /= -cv;
    }
    matrix_.solve(rhs_.data(), residual_.data(), da_.data(), dlambda_.data());
    problem_.begin(&matrix_);
    step_frictions_.items.clear();
    if (system().any_rigid || frictions_.joints() > 0) {
      engine_.prepare_response(contact_.engine_state(trial_));
      for (const int slot : lasting_) {
        contacts_.evaluate(slot, false);
        const SlotState& c = contacts_[slot];
        if (!c.present) continue;
        BlockCone cone;
        cone.tangents = frictional(slot) ? system().pair(slot).tangents : 0;
        cone.mu =
            friction(slot, cone.tangents == 0 ? 0 : std::hypot(c.rate[1], cone.tangents == 2 ? c.rate[2] : 0.0), false);
        StepProblem::Item& item = problem_.add(slot, cone);
        for (int row = 0; row < item.rows(); ++row)
          item.b[row] = c.rate[row] + cv * problem_.along(problem_.size() - 1, row, da_);
        item.r = force_trial_.segment<3>(3 * slot);
      }
      if (any_frictions()) add_frictions(da_, cv, 1, 0, false);
    }
    clear_forces(force_trial_, loaded_trial_);
    if (problem_.size() > 0) {
      assemble(cv);
      lambda_now_ = lambda_trial_ + dlambda_;
      solve_with_frictions("forces", 1, lambda_now_);
      take_forces(force_trial_, loaded_trial_);
      problem_.impulses(impulses_);
      problem_.response(impulses_, x_, mu_step_);
      da_ += x_;
      dlambda_ += mu_step_;
    }
    a_trial_ += da_;
    lambda_trial_ += dlambda_;
    ++report_.newton_iterations;
    const double size = std::max(increment_size(h, cq), z_change * 1e10);
    if (!std::isfinite(size)) return false;
    for (int i = 0; i < n_.nv; ++i) worst_error_[i] = std::abs(cq * da_[i]) / projector_.u_scale()[i];
    // Increments cannot fall below what the contact problem leaves of them.
    const double reached = 1 + 10 * proof_.step.complementarity / settings_.newton_tolerance;
    const bool stagnant = iteration > 3 && size >= 0.5 * last && worst_error_.maxCoeff() < 1e-12;
    if (iteration > 0 && (size <= reached || stagnant)) {
      // What forces other than rigid contacts change in a step.
      if (problem_.size() == 0) x_.setZero();
      rhs_ = h * (a_trial_ - x_);
      dv_speed_ = speed_of(rhs_);
      predict(h);
      dynamics_.plus(now_.q, u1_, trial_.q);
      return true;
    }
    last = size;
  }
  return false;
}

// S A - G^T mu = M a, G A = G a with the matrix of the step. Models of rigid bodies alone start from a.
void NonsmoothAlpha::start_averages(const Vec& a, Vec& A) {
  if (correction_ == nullptr) {
    A = a;
    return;
  }
  const Tangents& t = matrix_.tangents();
  t.M.multiply(a.data(), rhs_.data());
  if (n_.nc() > 0) t.G.multiply(a.data(), residual_.data());
  matrix_.solve(rhs_.data(), residual_.data(), A.data(), nullptr);
}

bool NonsmoothAlpha::release() {
  const double slow = kNoApproach * system().velocity_scale;
  bool any = false;
  engine_.prepare_response(contact_.engine_state(trial_));
  for (const int slot : lasting_) {
    if (!(force_[3 * slot] > 0) || force_trial_[3 * slot] > 0) continue;
    contacts_.evaluate(slot, false);
    if (contacts_[slot].present && contacts_[slot].rate[0] <= slow) continue;
    closed_[static_cast<std::size_t>(slot)] = 0;
    any = true;
  }
  if (!any) return false;
  list(closed_, lasting_);
  consistent(now_, lasting_, force_, loaded_, a_, lambda_, zdot_);
  step_frictions_.samples = step_frictions_.samples_trial;
  start_averages(a_, A_);
  return true;
}

double NonsmoothAlpha::take_lift(double lifted) {
  if (!(lifted > 0)) return 0;
  const Tree& tree = engine_.system().tree;
  lifted_.assign(tree.trees.size(), 0);
  bool grounded = false;
  for (int i = 0; i < problem_.size(); ++i) {
    if (problem_[i].r[0] == 0) continue;
    const PairInstance& pair = system().pair(problem_[i].slot);
    for (const int link : {pair.link1, pair.link2}) {
      const int t = link < 0 ? -1 : tree.links[static_cast<std::size_t>(link)].tree;
      if (t < 0 || tree.trees[static_cast<std::size_t>(t)].v1 == tree.trees[static_cast<std::size_t>(t)].v0)
        grounded = true;
      else
        lifted_[static_cast<std::size_t>(t)] = 1;
    }
  }
  if (!grounded || driven()) return 0;
  const auto each = [&](auto&& visit) {
    for (std::size_t t = 0; t < tree.trees.size(); ++t)
      if (lifted_[t]) visit(trial_.v.segment(tree.trees[t].v0, tree.trees[t].v1 - tree.trees[t].v0));
  };
  const double with = dynamics_.stored_energy(trial_);
  x_ = trial_.v;
  each([](auto v) { v.setZero(); });
  const double kinetic = with - dynamics_.stored_energy(trial_);
  trial_.v = x_;
  if (!(kinetic > 0)) return 0;
  const double part = std::min(1.0, lifted / kinetic), s = std::sqrt(1 - part);
  each([&](auto v) { v *= s; });
  return part * kinetic;
}

bool NonsmoothAlpha::collide() {
  engine_.prepare_response(contact_.engine_state(trial_));
  problem_.begin(nullptr);
  factors_.resize(contacts_.slots());
  const auto add = [&](int slot, double factor, bool impact) {
    contacts_.evaluate(slot, false);
    const SlotState& c = contacts_[slot];
    if (!c.present) return;
    BlockCone cone;
    cone.tangents = frictional(slot) ? system().pair(slot).tangents : 0;
    cone.mu =
        friction(slot, cone.tangents == 0 ? 0 : std::hypot(c.rate[1], cone.tangents == 2 ? c.rate[2] : 0.0), impact);
    factors_[problem_.size()] = factor;
    problem_.add(slot, cone);
  };
  const auto is_fast = [&](const Hit& hit) {
    return hit.approach > kImpact * dv_speed_ + kNoApproach * system().velocity_scale;
  };
  // Where nothing is fast nothing bounces: lasting contacts that gave back would rock for ever on what forces bring in.
  const bool any_fast = std::any_of(hit_.begin(), hit_.end(), is_fast);
  for (const int slot : lasting_)
    if (closed_trial_[static_cast<std::size_t>(slot)]) add(slot, any_fast ? 1 : 0, any_fast);
  const int lasting = problem_.size();
  for (const Hit& hit : hit_) {
    const RigidContact& law = system().rigid(hit.slot);
    const bool fast = is_fast(hit);
    const bool bounces = fast && law.restitution > 0;
    // The law's impulse of expansion belongs to the speed at which the gap vanished, not to that at the step's end.
    const double end = -contacts_[hit.slot].rate[0];
    add(hit.slot, !bounces ? 0.0 : end > 0 ? std::min(1.0, hit.approach / end) : 1.0, fast);
    if (!bounces) closed_trial_[static_cast<std::size_t>(hit.slot)] = 1;
  }
  assemble(1);
  rates_.resize(problem_.rows());
  for (int i = 0, row = 0; i < problem_.size(); ++i)
    for (int k = 0; k < problem_[i].rows(); ++k) rates_[row++] = contacts_[problem_[i].slot].rate[k];
  solve_impact(rates_, factors_);
  problem_.impulses(impulses_);
  problem_.response(impulses_, x_, mu_step_);
  bool any = false;
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    const SlotState& c = contacts_[item.slot];
    impact_.segment<3>(3 * item.slot) = item.r;
    collided_.push_back(item.slot);
    const double after = c.rate[0] + problem_.along(i, 0, x_);
    impact_rate_.segment<2>(2 * item.slot) = Eigen::Vector2d(c.rate[0], after);
    const int group = system().pair(item.slot).group;
    if (!item.r.isZero(0)) {
      any = true;
      W_trial_[contact_.impact_channel(group)] += 0.5 * item.r[0] * (c.rate[0] + after);
      for (int row = 1; row < item.rows(); ++row)
        W_trial_[contact_.impact_channel(group)] += 0.5 * item.r[row] * (2 * c.rate[row] + problem_.along(i, row, x_));
    }
    char& stays = closed_trial_[static_cast<std::size_t>(item.slot)];
    stays = stays && after <= kNoApproach * system().velocity_scale;
    if (i >= lasting && item.r[0] == 0) stays = 0;
  }
  if (n_.nc() > 0 && n_.np > 0) {
    // Work of drives that the shock goes through: their channels are linear in the multipliers.
    dynamics_.powers(trial_, a_trial_, lambda_trial_, p_);
    W_trial_ -= p_;
    lambda_trial_ += mu_step_;
    dynamics_.powers(trial_, a_trial_, lambda_trial_, p_);
    W_trial_ += p_;
    lambda_trial_ -= mu_step_;
  }
  trial_.v += x_;
  return any;
}

void NonsmoothAlpha::powers_at(const State& s, const Vec& a, const Vec& lambda, const Vec& forces,
                               const std::vector<FrictionSample>& frictions, Vec& p) {
  dynamics_.powers(s, a, lambda, p);
  if (!system().any_rigid && frictions.empty()) return;
  engine_.prepare_response(contact_.engine_state(s));
  add_friction_powers(frictions, p);
  add_contact_powers(forces, p);
}

void NonsmoothAlpha::add_contact_powers(const Vec& forces, Vec& p) {
  for (const int slot : lasting_) {
    contacts_.evaluate(slot, false);
    const SlotState& c = contacts_[slot];
    if (!c.present) continue;
    const auto r = forces.segment<3>(3 * slot);
    p[contact_.friction_channel(system().pair(slot).group)] += r[0] * c.rate[0] + r[1] * c.rate[1] + r[2] * c.rate[2];
  }
}

bool NonsmoothAlpha::attempt(double t1) {
  const double h = t1 - now_.t;
  proof_.step = {};
  proof_.step_unsolved = {};
  trial_.t = t1;
  if (!known_) {
    // Restored runs know them; this is for a state that was set from outside.
    consistent(now_, lasting_, force_, loaded_, a_, lambda_, zdot_);
    known_ = true;
  }
  do {
    if (!smooth_part(h)) return false;
  } while (correction_ != nullptr && release());
  const double v_scale = system().velocity_scale;
  W_trial_ = W_;
  for (const int slot : collided_) impact_.segment<3>(3 * slot).setZero();
  collided_.clear();
  clear_gains();
  restart_ = false;
  hit_.clear();
  way_.open_near.clear();

  // Work of the smooth part, at its own end: a jump comes after.
  if (n_.np > 0) {
    powers_at(now_, a_, lambda_, force_, step_frictions_.samples, p_base_);
    powers_at(trial_, a_trial_, lambda_trial_, force_trial_, step_frictions_.samples_trial, p_end_);
    W_trial_ += 0.5 * h * (p_base_ + p_end_);
  }

  // Which lasting contacts press, which have opened, which came to rest.
  double penetration = 0, reach = 0;
  bool jump = false;
  if (contact_.compliant().any() && !system().any_rigid) {
    way_.fastest = largest_speed();
    way_.change = dv_speed_;
  }
  if (system().any_rigid) {
    closed_trial_ = closed_;
    std::fill(held_.begin(), held_.end(), 0);
    // Lasting contacts must be found wherever the smooth part has left them.
    engine_.prepare_response(contact_.engine_state(trial_));
    way_.fastest = largest_speed();
    way_.change = dv_speed_;
    reach = h * (way_.fastest + dv_speed_) + kTouching * system().length_scale;
    // Both shapes of a pair may have come a whole step's way.
    detect(trial_, 2 * reach);
    for (const int slot : lasting_) {
      const auto at = static_cast<std::size_t>(slot);
      const SlotState& c = contacts_[slot];
      if (!c.present || (force_trial_[3 * slot] == 0 && c.rate[0] > kNoApproach * v_scale)) closed_trial_[at] = 0;
      held_[at] = closed_trial_[at] && force_trial_[3 * slot] > 0;
    }
    for (const int slot : contacts_.near()) {
      const SlotState& c = contacts_[slot];
      if (!closed_[static_cast<std::size_t>(slot)] && system().pair(slot).rigid && c.gap < 0 &&
          c.rate[0] < kNoApproach * v_scale)
        hit_.push_back({slot, -c.rate[0]});
    }
    clear_carrying();
    for (const int slot : lasting_) note_carrying(slot);
    for (const Hit& hit : hit_) note_carrying(hit.slot);
    for (const int slot : contacts_.near())
      if (system().pair(slot).rigid && !carries(slot) &&
          may_pass(system(), contacts_[slot], slot, h, h, way_.change, 2 * reach))
        way_.open_near.push_back(pair_at(slot));
    if (!hit_.empty()) {
      // Rate at the moment the gap vanished: gap + gap'_0 s + (gap'_1 - gap'_0) s^2 / (2 h) = 0.
      engine_.prepare_response(contact_.engine_state(now_));
      for (Hit& hit : hit_) {
        contacts_.evaluate(hit.slot, false);
        const SlotState& c = contacts_[hit.slot];
        if (!c.present || c.gap <= 0) continue;
        const double end = -hit.approach, bend = (end - c.rate[0]) / h;
        const double root = c.rate[0] * c.rate[0] - 2 * bend * c.gap;
        if (root >= 0) hit.approach = std::max(0.0, std::sqrt(root));
      }
    }
    // Slip that comes to rest or turns round: forces jump.
    for (const int slot : lasting_) {
      if (!closed_trial_[static_cast<std::size_t>(slot)] || !frictional(slot)) continue;
      const Vec3 before = force_.segment<3>(3 * slot), after = force_trial_.segment<3>(3 * slot);
      const double mu0 = friction(slot, 0, false);
      const double change = (before.tail<2>() - after.tail<2>()).norm();
      if (change > 0.1 * mu0 * std::max(before[0], after[0])) restart_ = true;
    }
  }
  if (any_frictions()) restart_ = finish_frictions() || restart_;
  if (n_.nh > 0 && settings_.project) {
    projector_.positions(trial_);
  }
  if (system().any_rigid) {
    const double before = dynamics_.stored_energy(trial_);
    const int corrections = report_.projections;
    penetration = correct_gaps(&held_, false, reach);
    if (report_.projections != corrections && problem_.size() > 0) {
      const double lifted = dynamics_.stored_energy(trial_) - before;
      const double taken = correction_ != nullptr ? take_lift(lifted) : 0;
      W_trial_[contact_.impact_channel(system().pair(problem_[0].slot).group)] += lifted - taken;
    }
  }
  dynamics_.minus(trial_.q, now_.q, u1_);
  if (n_.nc() > 0 && settings_.project) projector_.velocities(trial_);
  if (!hit_.empty()) {
    jump = collide();
    restart_ = true;
  }
  if (system().any_rigid) list_trial();
  if (restart_) {
    consistent(trial_, lasting_trial_, force_trial_, loaded_trial_, a_trial_, lambda_trial_, zdot_trial_);
    if (any_frictions()) finish_frictions();
    start_averages(a_trial_, A_trial_);
    B_trial_ = zdot_trial_;
  } else {
    const double k = (1 - af_) / (1 - am_);
    A_trial_ = A0_ + k * a_trial_;
    B_trial_ = B0_ + k * zdot_trial_;
  }

  samples_trial_.clear();
  if (system().any_rigid) {
    engine_.prepare_response(contact_.engine_state(trial_));
    carriers_ = loaded_trial_;
    carriers_.insert(carriers_.end(), collided_.begin(), collided_.end());
    std::sort(carriers_.begin(), carriers_.end());
    carriers_.erase(std::unique(carriers_.begin(), carriers_.end()), carriers_.end());
    for (const int slot : carriers_) {
      ContactSample sample;
      sample.slot = slot;
      sample.force = force_trial_.segment<3>(3 * slot);
      sample.impulse = impact_.segment<3>(3 * slot);
      sample.impact = !sample.impulse.isZero(0);
      for (int k = 0; sample.impact && k < 2; ++k) sample.rate[k] = impact_rate_[2 * slot + k];
      if (sample.force.isZero(0) && sample.impulse.isZero(0)) continue;
      contacts_.evaluate(slot, false);
      const SlotState& c = contacts_[slot];
      if (!c.present) continue;
      sample.gap = c.gap;
      for (int k = 0; k < system().pair(slot).tangents; ++k) sample.slip[k] = c.rate[1 + k];
      const double slip = std::hypot(sample.slip[0], sample.slip[1]);
      sample.mode = !closed_trial_[static_cast<std::size_t>(slot)] ? Mode::open
                    : slip > kNoSlip * v_scale                     ? Mode::slide
                                                                   : Mode::stick;
      samples_trial_.push_back(sample);
    }
  }
  trial_known_ = true;
  finish_step(!jump, penetration);
  return true;
}

// Slots that last at the end of the step: of those that did before, and of those that it closed.
void NonsmoothAlpha::list_trial() {
  lasting_trial_.clear();
  for (const int slot : lasting_)
    if (closed_trial_[static_cast<std::size_t>(slot)]) lasting_trial_.push_back(slot);
  for (const Hit& hit : hit_)
    if (closed_trial_[static_cast<std::size_t>(hit.slot)]) lasting_trial_.push_back(hit.slot);
  std::sort(lasting_trial_.begin(), lasting_trial_.end());
}

bool NonsmoothAlpha::finish_frictions() {
  bool jumped = false;
  engine_.prepare_response(contact_.engine_state(trial_));
  for (FrictionSample& now : step_frictions_.samples_trial) {
    const FrictionInstance& row = frictions_[now.index];
    if (row.slot >= 0) contacts_.evaluate(row.slot, false);
    frictions_.evaluate(now.index, false);
    for (int c = 0; c < row.count; ++c) now.slip[c] = frictions_.rate(now.index)[c];
    now.mode = frictions_.speed(now.index) > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
    const FrictionSample* was = nullptr;
    for (const FrictionSample& f : step_frictions_.samples)
      if (f.index == now.index) was = &f;
    const double change = was == nullptr ? std::hypot(now.force[0], now.force[1])
                                         : std::hypot(now.force[0] - was->force[0], now.force[1] - was->force[1]);
    jumped = jumped || change > 0.1 * std::max(now.limit, was == nullptr ? 0.0 : was->limit);
  }
  return jumped;
}

void NonsmoothAlpha::accept() {
  ContactStepper::accept();
  A_.swap(A_trial_);
  B_.swap(B_trial_);
  closed_.swap(closed_trial_);
  lasting_.swap(lasting_trial_);
  force_.swap(force_trial_);
  loaded_.swap(loaded_trial_);
}

}  // namespace clatter::contact
