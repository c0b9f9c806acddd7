#include "analysis/contact_transition.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/compliant_law.hpp"
#include "impulse/impact_derivative.hpp"

namespace clatter {

using contact::ActiveContact;
using contact::ContactDynamics;
using contact::ContactEvent;
using contact::Mode;

namespace {

// Event rates in units of the scales: below the first S is close to its pole, below the second it is the pole.
constexpr double kGrazing = 1e-4, kPole = 1e-12;
// Jumps of the rates below this part of their scales are rounding of the forces.
constexpr double kContinuous = 1e-9;
constexpr double kRank = 1e-12;
// Parts of a step that ends with slip in space coming to rest: the order of the scheme leaves 1e-8 of each, and the
// displacement in the last one is its square.
constexpr double kShrink = 0.85, kLastPart = 1e-6;
// How far before an event, in parts of its step, what held until then is looked at.
constexpr double kBefore = 1e-7;

Mat dense(const SparseMatrix<double>& A) {
  const Pattern& p = A.pattern();
  Mat X = Mat::Zero(p.rows(), p.cols());
  for (int j = 0; j < p.cols(); ++j) {
    const auto col = static_cast<std::size_t>(j);
    for (int k = p.col_start()[col]; k < p.col_start()[col + 1]; ++k)
      X(p.row_index()[static_cast<std::size_t>(k)], j) += A.values()[static_cast<std::size_t>(k)];
  }
  return X;
}

const ActiveContact* find(const std::vector<ActiveContact>& list, int slot) {
  for (const ActiveContact& c : list)
    if (c.slot == slot) return &c;
  return nullptr;
}

// M x - G^T mu = b, G x = c for many right-hand sides; redundant rows of G share by least norm.
class Response {
 public:
  Response(const Mat& M, const Mat& G) : nv_(M.rows()), nc_(G.rows()), scale_(Vec::Ones(nv_ + nc_)) {
    Mat kkt = Mat::Zero(nv_ + nc_, nv_ + nc_);
    kkt.topLeftCorner(nv_, nv_) = M;
    kkt.topRightCorner(nv_, nc_) = -G.transpose();
    kkt.bottomLeftCorner(nc_, nv_) = G;
    for (Eigen::Index i = 0; i < nv_; ++i)
      if (M(i, i) > 0) scale_[i] = 1 / std::sqrt(M(i, i));
    for (Eigen::Index i = 0; i < nc_; ++i) {
      const double norm = G.row(i).transpose().cwiseProduct(scale_.head(nv_)).norm();
      if (norm > 0) scale_[nv_ + i] = 1 / norm;
    }
    qr_.setThreshold(kRank);
    qr_.compute(scale_.asDiagonal() * kkt * scale_.asDiagonal());
  }
  void solve(const Mat& b, const Mat& c, Mat& x, Mat& mu) const {
    Mat right(nv_ + nc_, b.cols());
    right << b, c;
    const Mat y = scale_.asDiagonal() * Mat(qr_.solve(scale_.asDiagonal() * right));
    x = y.topRows(nv_);
    mu = y.bottomRows(nc_);
  }

 private:
  Eigen::Index nv_, nc_;
  Vec scale_;
  Eigen::CompleteOrthogonalDecomposition<Mat> qr_;
};

}  // namespace

ContactTransition::ContactTransition(contact::EventDriven& stepper)
    : stepper_(stepper),
      dynamics_(stepper.contact_dynamics()),
      probe_(dynamics_.contacts().shared_system(), dynamics_.engine()) {}

void ContactTransition::begin_phase() {
  variational_ = std::make_unique<VariationalStep>(dynamics_, stepper_.settings());
}

void ContactTransition::start(const State& s) {
  stepper_.start(s);
  jumps_.clear();
  Mat Pi;
  Vec jt;
  apply_impacts(state(), Phi_, jt);
  projection(state(), Pi);
  Phi_ = Pi * Phi_;
  begin_phase();
}

const StepReport& ContactTransition::step(double t_limit) {
  if (stepper_.undecided()) {
    before_event();
    const StepReport& report = stepper_.step(t_limit);
    after_event();
    return report;
  }
  features_.clear();
  for (const ActiveContact& c : dynamics_.active()) features_.push_back(dynamics_.contacts().branch(c.slot).feature);
  const StepReport& report = stepper_.step(t_limit);
  if (!stepper_.undecided()) refuse_passed_edges(report.t);
  advance();
  return report;
}

// Slip in space that comes to rest turns ever faster under perturbations across it: d(slip) ~ -mu r_N / |slip|, and
// |slip| goes to zero with the time left. The step is then taken in parts that shrink with it, and the last one, across
// which nothing is left of them, as free motion.
void ContactTransition::advance() {
  Integrator& integrator = stepper_.integrator();
  bool stops = false;
  if (stepper_.undecided())
    for (const int index : integrator.fired()) {
      const ContactDynamics::EventInfo info = dynamics_.event_info(index);
      stops =
          stops ||
          (info.slot >= 0 && info.kind == ContactEvent::stop && dynamics_.system().pair(info.slot).tangents == 2) ||
          (info.friction >= 0 && info.kind == ContactEvent::stop && dynamics_.frictions()[info.friction].count == 2);
    }
  if (!stops) return variational_->advance(integrator, Phi_);
  const double end = integrator.state().t, h = end - integrator.step_begin();
  const int nv = dynamics_.sizes().nv;
  double left = h;
  while (left > kLastPart * h) {
    variational_->advance(integrator, end - left, end - kShrink * left, Phi_);
    left *= kShrink;
  }
  Phi_.topRows(nv) += left * Phi_.middleRows(nv, nv);
}

void ContactTransition::rates(const State& s, Vec& f) {
  const Sizes& n = dynamics_.sizes();
  a_.resize(n.nv);
  lambda_.resize(n.nc());
  zdot_.resize(n.nz);
  dynamics_.accelerations(s, a_, lambda_, zdot_);
  f.resize(2 * n.nv + n.nz);
  f << s.v, a_, zdot_;
}

void ContactTransition::before_event() {
  const State s = state();
  Integrator& integrator = stepper_.integrator();
  bool passes = false;
  for (const int index : integrator.fired()) {
    const ContactDynamics::EventInfo info = dynamics_.event_info(index);
    passes = passes || (info.slot >= 0 && info.kind == ContactEvent::feature);
  }
  if (passes) {
    // The state is a rounding error beyond the end of the edge, where the next feature takes over: accelerations before
    // it are those of a moment before.
    State left = s;
    integrator.interpolate(s.t - kBefore * (s.t - integrator.step_begin()), left);
    rates(left, f_before_);
    f_before_.head(s.v.size()) = s.v;
    left_ = left;
  } else {
    rates(s, f_before_);
  }
  triggers_.clear();
  for (const int index : integrator.fired()) add_trigger(index, s);
}

// A round body that rolls over the end of an edge stays in contact, and its step goes on across the corner of its
// accelerations: nothing there adds what the corner does to perturbations.
void ContactTransition::refuse_passed_edges(double t) {
  constexpr double kNowhere = 1e29;  // margin of kernels without another feature
  for (std::size_t i = 0; i < features_.size() && i < dynamics_.active().size(); ++i) {
    const int slot = dynamics_.active()[i].slot;
    const contact::SlotState& now = dynamics_.contacts()[slot];
    if (dynamics_.contacts().branch(slot).feature == features_[i] || !now.present || now.margin > kNowhere) continue;
    throw SolveError("no-sensitivity", t, {dynamics_.system().slot_name(slot)},
                     "the point of contact passed from one edge or face to the next within a step, and what that does "
                     "to perturbations is not carried",
                     "carry no transition matrix through this contact, or round the edge off by a curve");
  }
}

void ContactTransition::after_event() {
  const State s = state();
  const Sizes& n = dynamics_.sizes();
  ContactJump jump;
  jump.t = s.t;
  for (const Trigger& trigger : triggers_) jump.events.push_back(trigger.name);
  jump.impacts = static_cast<int>(stepper_.result().records.size());

  Vec jt, f;
  apply_impacts(s, jump.S, jt);
  rates(s, f);
  const Vec change = f - jump.S * f_before_ - jt;

  Vec u_scale(n.nv), v_scale(n.nv), z_scale(n.nz);
  dynamics_.scales(u_scale, v_scale, z_scale);
  Vec scale(change.size());
  scale << u_scale, v_scale, z_scale;
  const double size = change.cwiseQuotient(scale).cwiseAbs().maxCoeff() * dynamics_.engine().system().time_scale;
  if (size > kContinuous) {
    const Trigger* chosen = nullptr;
    for (const Trigger& trigger : triggers_)
      if (trigger.n.size() > 0 &&
          (chosen == nullptr || std::abs(trigger.rate / trigger.scale) > 10 * std::abs(chosen->rate / chosen->scale)))
        chosen = &trigger;
    if (chosen == nullptr)
      throw SolveError("no-sensitivity", s.t, jump.events,
                       "the motion changes abruptly at an event whose dependence on the state is not known",
                       "carry no transition matrix through this event");
    jump.event_rate = chosen->rate / chosen->scale;
    jump.grazing = std::abs(jump.event_rate) < kGrazing;
    if (!(std::abs(jump.event_rate) > kPole))
      throw SolveError("grazing", s.t, {chosen->name},
                       "the contact is only grazed: neighbouring motions meet the event or miss it, and no transition "
                       "matrix holds for both",
                       "start the motion elsewhere, or carry no transition matrix through this event");
    // Events of one motion at one moment are met together by its neighbours only if they share this gradient.
    const Eigen::RowVectorXd when = chosen->n.transpose() * Phi_ / chosen->rate;
    for (const Trigger& other : triggers_)
      if (other.n.size() > 0 && std::abs(other.rate) > kPole * other.scale)
        jump.ambiguous = jump.ambiguous || (other.n.transpose() * Phi_ / other.rate - when).norm() > 1e-6 * when.norm();
    jump.S += change * chosen->n.transpose() / chosen->rate;
  }
  Mat Pi;
  projection(s, Pi);
  jump.S = Pi * jump.S;
  Phi_ = jump.S * Phi_;
  jumps_.push_back(std::move(jump));
  begin_phase();
}

void ContactTransition::use_probe(const std::vector<int>& slots, const State& s) {
  std::vector<ActiveContact> active;
  for (const int slot : slots) active.push_back({slot, Mode::stick, {1, 0}});
  probe_.set_active(std::move(active), s);
  for (const int slot : slots) probe_.contacts().branch(slot) = dynamics_.contacts().branch(slot);
}

namespace {

// The inner state of the surface that an event of compliant contacts begins to touch; -1 for all other events. Those of
// contacts follow those of the engine, one for each contact with a surface of its own in turn.
int surface_met(contact::ContactDynamics& dynamics, int compliant) {
  if (compliant < 0 || dynamics.compliant().event_info(compliant).second != 0) return -1;
  const auto relaxes = [&](int event) {
    const int slot = dynamics.compliant().event_info(event).first;
    return contact::has_surface(std::get<CompliantContact>(dynamics.system().law(slot)));
  };
  if (!relaxes(compliant)) return -1;
  int z = dynamics.engine().sizes().nz;
  for (int event = 0; event < compliant; event += 2) z += relaxes(event) ? 1 : 0;
  return z;
}

}  // namespace

// What a law remembers of an event is not part of the state that is perturbed.
void ContactTransition::refuse_memory(int compliant, double t) {
  if (compliant < 0) return;
  const auto [slot, ends] = dynamics_.compliant().event_info(compliant);
  const auto& law = std::get<CompliantContact>(dynamics_.system().law(slot));
  if (ends != 0 || !contact::remembers(law)) return;
  throw SolveError(
      "no-sensitivity", t, {dynamics_.system().slot_name(slot)},
      "a law with `restitution` remembers the speed at which its contact began, and no perturbation of that memory is "
      "carried",
      "take a law with a given `damping` for this contact, or carry no transition matrix through it");
}

void ContactTransition::add_trigger(int index, const State& s) {
  const contact::ContactSystem& system = dynamics_.system();
  const int first_compliant = dynamics_.sizes().ne - dynamics_.compliant().event_count();
  const ContactDynamics::EventInfo info = dynamics_.event_info(index);
  const int slot =
      index >= first_compliant ? dynamics_.compliant().event_info(index - first_compliant).first : info.slot;
  refuse_memory(index - first_compliant, s.t);
  Trigger trigger;
  if (slot >= 0) {
    switch (info.kind) {
      case ContactEvent::touch: {
        dynamics_.engine().prepare_response(dynamics_.engine_state(s));
        dynamics_.contacts().evaluate(slot, false);
        Vec gradient(dynamics_.sizes().nv);
        dynamics_.contacts().column(slot, 0, gradient.data());
        trigger.n.setZero(f_before_.size());
        trigger.n.head(gradient.size()) = gradient;
        trigger.rate = dynamics_.contacts()[slot].rate[0];
        trigger.scale = system.velocity_scale;
        // A relaxing surface is met where it has crept to, gap = z + offset.
        if (const int z = surface_met(dynamics_, index - first_compliant); z >= 0) {
          const int place = 2 * dynamics_.sizes().nv + z;
          trigger.n[place] = -1;
          trigger.rate -= f_before_[place];
        }
        break;
      }
      case ContactEvent::stop:
        trigger = slip_trigger(slot, s);
        break;
      case ContactEvent::lift:
      case ContactEvent::slip:
        trigger = force_trigger(slot, info.kind == ContactEvent::slip, s);
        break;
      case ContactEvent::feature:
        trigger = margin_trigger(slot, left_);
        break;
      case ContactEvent::jam:
        break;
    }
  }
  // Where a friction row begins to slip rates are continuous.
  if (info.friction >= 0 && info.kind == ContactEvent::stop) trigger = friction_trigger(info.friction, s);
  trigger.name = dynamics_.event_name(index);
  triggers_.push_back(std::move(trigger));
}

ContactTransition::Trigger ContactTransition::friction_trigger(int friction, const State& s) {
  const int nv = dynamics_.sizes().nv, slot = dynamics_.frictions()[friction].slot;
  const int count = dynamics_.frictions()[friction].count;
  std::vector<ActiveContact> contacts;
  if (slot >= 0) contacts.push_back({slot, Mode::stick, {1, 0}});
  probe_.set_active(contacts, s, {{friction, Mode::stick, {1, 0}}});
  if (slot >= 0) probe_.contacts().branch(slot) = dynamics_.contacts().branch(slot);
  Tangents tangents = probe_.tangent_layout();
  probe_.tangents(s, Vec::Zero(nv), Vec::Zero(probe_.sizes().nc()), tangents);
  const Mat G = dense(tangents.G), Vq = dense(tangents.Vq);

  contact::FrictionRows& rows = dynamics_.frictions();
  dynamics_.engine().prepare_response(dynamics_.engine_state(s));
  if (slot >= 0) dynamics_.contacts().evaluate(slot, true);
  rows.evaluate(friction, true);
  double d[2] = {1, 0};
  for (const contact::ActiveFriction& f : dynamics_.active_frictions())
    if (f.index == friction) d[0] = f.direction[0], d[1] = f.direction[1];
  const double speed = rows.speed(friction);
  for (int c = 0; count == 2 && speed > 0 && c < 2; ++c) d[c] = rows.rate(friction)[c] / speed;
  Trigger out;
  out.n.setZero(f_before_.size());
  out.scale = rows[friction].speed_scale / dynamics_.engine().system().time_scale;
  for (int c = 0; c < count; ++c) {
    const Eigen::Index row = G.rows() - count + c;
    out.n.head(nv) += d[c] * Vq.row(row).transpose();
    out.n.segment(nv, nv) += d[c] * G.row(row).transpose();
    out.rate += d[c] * (rows.bias(friction)[c] + G.row(row).dot(a_));
  }
  return out;
}

ContactTransition::Trigger ContactTransition::slip_trigger(int slot, const State& s) {
  const contact::ContactSystem& system = dynamics_.system();
  const int nv = dynamics_.sizes().nv, nt = system.pair(slot).tangents;
  use_probe({slot}, s);
  Tangents tangents = probe_.tangent_layout();
  probe_.tangents(s, Vec::Zero(nv), Vec::Zero(probe_.sizes().nc()), tangents);
  const Mat G = dense(tangents.G), Vq = dense(tangents.Vq);

  // Second rates are those at accelerations zero and W^T a.
  contact::Contacts& contacts = dynamics_.contacts();
  dynamics_.engine().prepare_response(dynamics_.engine_state(s));
  contacts.evaluate(slot, true);
  const ActiveContact* active = find(dynamics_.active(), slot);
  double d[2] = {active->direction[0], active->direction[1]};
  const double speed = std::hypot(contacts[slot].rate[1], contacts[slot].rate[2]);
  if (nt == 2 && speed > 0)
    for (int k = 0; k < 2; ++k) d[k] = contacts[slot].rate[k + 1] / speed;
  Trigger out;
  out.n.setZero(f_before_.size());
  out.scale = system.velocity_scale / dynamics_.engine().system().time_scale;
  for (int k = 0; k < nt; ++k) {
    const Eigen::Index row = G.rows() - nt + k;
    out.n.head(nv) += d[k] * Vq.row(row).transpose();
    out.n.segment(nv, nv) += d[k] * G.row(row).transpose();
    out.rate += d[k] * (contacts[slot].bias[k + 1] + G.row(row).dot(a_));
  }
  return out;
}

ContactTransition::Trigger ContactTransition::force_trigger(int slot, bool reserve, const State& s) {
  const contact::ContactSystem& system = dynamics_.system();
  const std::vector<ActiveContact>& active = dynamics_.active();
  const int i = static_cast<int>(find(active, slot) - active.data());
  const int normal = dynamics_.engine().sizes().nh + i;
  Linearisation linearisation(dynamics_);
  Mat A;
  linearisation.evaluate(s, A);
  const Mat dlambda = linearisation.multipliers();
  Vec r_t, gamma_t;
  dynamics_.time_tangent(s, a_, lambda_, r_t, gamma_t);
  const Vec by_time = linearisation.multipliers_by_time(r_t, gamma_t);
  // Derivative of the event function by the multipliers.
  Vec weight = Vec::Zero(by_time.size());
  weight[normal] = 1;
  if (reserve) {
    weight[normal] = contact::friction_coefficient(system.rigid(slot).friction, 0);
    int row = dynamics_.engine().sizes().nc() + static_cast<int>(active.size());
    for (int k = 0; k < i; ++k)
      if (active[static_cast<std::size_t>(k)].mode == Mode::stick)
        row += system.pair(active[static_cast<std::size_t>(k)].slot).tangents;
    const Vec T = lambda_.segment(row, system.pair(slot).tangents);
    if (T.norm() > 0) weight.segment(row, T.size()) = -T.normalized();
  }
  Trigger out;
  out.n = dlambda.transpose() * weight;
  out.rate = out.n.dot(f_before_) + weight.dot(by_time);
  out.scale = system.force_scale / dynamics_.engine().system().time_scale;
  return out;
}

ContactTransition::Trigger ContactTransition::margin_trigger(int slot, const State& s) {
  const contact::ContactSystem& system = dynamics_.system();
  Trigger out;
  const contact::PairInstance& pair = system.pair(slot);
  Engine& engine = dynamics_.engine();
  engine.prepare_response(dynamics_.engine_state(s));
  contact::SlotTangent tangent;
  if (pair.in_coordinates()) return out;
  dynamics_.contacts().evaluate(slot, false);
  if (!dynamics_.contacts()[slot].present) return out;
  dynamics_.contacts().tangent(slot, tangent);
  Vec gradient = Vec::Zero(dynamics_.sizes().nv);
  const int links[2] = {pair.link1, pair.link2};
  for (int b = 0; b < 2; ++b)
    engine.add_generalized(links[b], tangent.margin_x.segment<3>(6 * b), tangent.margin_x.segment<3>(6 * b + 3),
                           gradient.data());
  out.n.setZero(f_before_.size());
  out.n.head(gradient.size()) = gradient;
  out.rate = gradient.dot(s.v);
  out.scale = system.velocity_scale;
  return out;
}

void ContactTransition::apply_impacts(const State& s, Mat& D, Vec& jt) {
  const Sizes& n = dynamics_.sizes();
  const int size = 2 * n.nv + n.nz;
  D.setIdentity(size, size);
  jt.setZero(size);
  Mat step;
  Vec step_t;
  for (const contact::ImpactRecord& record : stepper_.result().records) {
    impact_matrix(record, s, step, step_t);
    D = step * D;
    jt = step * jt + step_t;
  }
}

void ContactTransition::impact_matrix(const contact::ImpactRecord& record, const State& s, Mat& D, Vec& jt) {
  const contact::ContactSystem& system = dynamics_.system();
  const Sizes& e = dynamics_.engine().sizes();
  const int nv = e.nv, size = 2 * nv + dynamics_.sizes().nz;
  use_probe(record.slots, s);
  const int nc = probe_.sizes().nc(), normals = static_cast<int>(record.slots.size());
  const Vec no_a = Vec::Zero(nv), no_lambda = Vec::Zero(nc);
  State still = s, moving = s;
  still.v.setZero();
  moving.v = record.v;

  // Rows of the problem and of the engine among those of the probe.
  std::vector<int> rows(static_cast<std::size_t>(record.problem.rate.size())), joints;
  int tangent_row = e.nc() + normals;
  for (int i = 0; i < normals; ++i) {
    const contact::ImpactContact& c = record.problem.contacts[static_cast<std::size_t>(i)];
    rows[static_cast<std::size_t>(c.row)] = e.nh + i;
    for (int k = 0; k < c.tangents; ++k) rows[static_cast<std::size_t>(c.row + 1 + k)] = tangent_row + k;
    tangent_row += system.pair(record.slots[static_cast<std::size_t>(i)]).tangents;
  }
  for (int r = 0; r < e.nc(); ++r) joints.push_back(probe_.row_of_engine(r));

  Tangents tangents = probe_.tangent_layout();
  probe_.tangents(moving, no_a, no_lambda, tangents);
  const Mat Vq = dense(tangents.Vq), G_all = dense(tangents.G), M = dense(tangents.M);
  const auto all = Eigen::all;
  const Mat G = G_all(joints, all), WT = G_all(rows, all), rate_q = Vq(rows, all);
  probe_.tangents(still, no_a, no_lambda, tangents);
  const Mat K0 = dense(tangents.K), Aq0 = dense(tangents.Aq);

  const Response response(M, G);
  Mat X, Mu, Y, unused;
  response.solve(WT.transpose(), Mat::Zero(e.nc(), WT.rows()), X, Mu);

  // Directions du, dv, and the time.
  contact::ImpactVariation variation;
  variation.rate.setZero(WT.rows(), 2 * nv + 1);
  variation.rate.leftCols(nv) = rate_q;
  variation.rate.middleCols(nv, nv) = WT;
  contact::Contacts& contacts = probe_.contacts();
  dynamics_.engine().prepare_response(probe_.engine_state(moving));
  for (int i = 0; i < normals; ++i) {
    const int slot = record.slots[static_cast<std::size_t>(i)];
    const contact::ImpactContact& c = record.problem.contacts[static_cast<std::size_t>(i)];
    contacts.evaluate(slot, true);
    for (int k = 0; k <= c.tangents; ++k)
      variation.rate(c.row + k, 2 * nv) = contacts[slot].bias[k] - rate_q.row(c.row + k).dot(record.v);
    double slope = 0;
    const RigidContact& law = system.rigid(slot);
    if (!law.impact_friction && c.tangents > 0)
      contact::friction_coefficient(law.friction, record.problem.rate.segment(c.row + 1, c.tangents).norm(), &slope);
    variation.mu_slope.push_back(slope);
  }
  Mat Y_sum = Mat::Zero(nv, nv);
  for (const contact::ImpactStage& stage : record.stages) {
    const Vec jump = X * stage.P, Lambda = Mu * stage.P;
    Vec lambda = no_lambda;
    for (std::size_t r = 0; r < rows.size(); ++r) lambda[rows[r]] = stage.P[static_cast<Eigen::Index>(r)];
    for (std::size_t r = 0; r < joints.size(); ++r) lambda[joints[r]] = Lambda[static_cast<Eigen::Index>(r)];
    probe_.tangents(still, jump, lambda, tangents);
    const Mat K = dense(tangents.K) - K0, Aq = dense(tangents.Aq) - Aq0;
    response.solve(-K, -Aq(joints, all), Y, unused);
    Mat dG = Mat::Zero(WT.rows(), 2 * nv + 1);
    dG.leftCols(nv) = Mat(Aq(rows, all)) + WT * Y;
    variation.G.push_back(std::move(dG));
    Y_sum += Y;
  }
  std::vector<Mat> dP;
  contact::impact_derivative(record.problem, record.stages, variation, dP);
  Mat dv = Mat::Zero(nv, 2 * nv + 1);
  for (const Mat& part : dP) dv += X * part;
  D.setIdentity(size, size);
  D.block(nv, 0, nv, 2 * nv) += dv.leftCols(2 * nv);
  D.block(nv, 0, nv, nv) += Y_sum;
  jt.setZero(size);
  jt.segment(nv, nv) = dv.col(2 * nv);
}

void ContactTransition::projection(const State& s, Mat& Pi) {
  const Sizes& n = dynamics_.sizes();
  Pi.setIdentity(2 * n.nv + n.nz, 2 * n.nv + n.nz);
  if (n.nc() == 0) return;
  Tangents tangents = dynamics_.tangent_layout();
  dynamics_.tangents(s, Vec::Zero(n.nv), Vec::Zero(n.nc()), tangents);
  const Mat G = dense(tangents.G), Vq = dense(tangents.Vq);
  Vec b(n.nc()), delta(n.nv);
  for (int j = 0; j < n.nv; ++j) {
    b.setZero();
    b.head(n.nh) = -G.col(j).head(n.nh);
    dynamics_.least_correction(s, b, true, delta);
    Pi.col(j).head(n.nv) += delta;
  }
  for (int j = 0; j < 2 * n.nv; ++j) {
    b = -(Vq * Pi.col(j).head(n.nv) + G * Pi.col(j).segment(n.nv, n.nv));
    dynamics_.least_correction(s, b, false, delta);
    Pi.col(j).segment(n.nv, n.nv) += delta;
  }
}

}  // namespace clatter
