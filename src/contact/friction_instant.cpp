// Friction rows at one moment (members of Instant): who sticks, who slides and where to.
//
// Rows at rest take part in the complementarity problem on accelerations with boxes or discs, moments of contacts with
// limits that follow r_N in it. Joints' limits follow multipliers lambda = lambda_0 + Mu r - mu l that the problem
// changes by norms: the problem is solved for given limits, and these again for the lambda found, until they agree
// (relaxation by Aitken's rule, which lands on the fixed point of a linear map in one step more than it has modes).
// Limits that run away have no answer: the joint jams.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/instant.hpp"

namespace clatter::contact {

namespace {

constexpr int kIterations = 100;
constexpr double kConverged = 1e-13;
// Limits this many times larger than what presses without friction are on their way to infinity.
constexpr double kRunaway = 1e8;

}  // namespace

int Instant::collect_frictions(int rows) {
  const ContactSystem& sys = dynamics_.system();
  FrictionRows& friction = dynamics_.frictions();
  frictions_.clear();
  if (sys.smooth) return rows;
  int columns = 0;
  const auto add = [&](int index) {
    friction.evaluate(index, true);
    LastingFriction f;
    f.index = index;
    f.row = rows;
    const double speed = friction.speed(index);
    const bool slides =
        speed > settings.velocity * friction[index].speed_scale && !friction_stopped_[static_cast<std::size_t>(index)];
    if (slides) {
      for (int c = 0; c < friction[index].count; ++c) f.direction[c] = friction.rate(index)[c] / speed;
      if (friction[index].joint >= 0) f.column = columns++;
    } else {
      f.rows = friction[index].count;
    }
    rows += f.rows;
    frictions_.push_back(f);
  };
  for (int i = 0; i < friction.joints(); ++i) add(i);
  for (const Lasting& c : lasting_) {
    const int first = sys.friction_of_slot[static_cast<std::size_t>(c.slot)];
    for (int i = first; i >= 0 && i < friction.size() && friction[i].slot == c.slot; ++i) add(i);
  }
  const int nv = engine_.sizes().nv, nc = engine_.sizes().nc();
  joints_.W.setZero(nv, columns);
  joints_.X.setZero(nv, columns);
  joints_.Mu.setZero(nc, columns);
  return rows;
}

void Instant::friction_rows() {
  FrictionRows& friction = dynamics_.frictions();
  for (LastingFriction& f : frictions_) {
    const FrictionInstance& row = friction[f.index];
    const Lasting* contact = nullptr;
    for (const Lasting& c : lasting_)
      if (row.slot >= 0 && c.slot == row.slot) contact = &c;
    for (int c = 0; c < row.count; ++c) {
      friction.column(f.index, c, rows_.column.data());
      if (f.rows > 0) {
        rows_.W.col(f.row + c) = rows_.column;
        rows_.D.col(f.row + c) = rows_.column;
        problem_.b[f.row + c] = rows_.column.dot(a_) + friction.bias(f.index)[c];
      } else if (f.column >= 0) {
        joints_.W.col(f.column) += f.direction[c] * rows_.column;
      } else {
        rows_.D.col(contact->row) -= row.ratio * f.direction[c] * rows_.column;
      }
    }
    if (f.column >= 0)
      engine_.response(joints_.W.col(f.column).data(), joints_.X.col(f.column).data(),
                       joints_.Mu.rows() > 0 ? joints_.Mu.col(f.column).data() : nullptr);
    if (row.slot < 0 || f.rows == 0) continue;
    problem_.cones.push_back(f.rows == 1 ? Cone::friction(contact->row, f.row, row.ratio)
                                         : Cone::disc(contact->row, f.row, row.ratio));
  }
}

bool Instant::solve_with_frictions(const State&) {
  FrictionRows& friction = dynamics_.frictions();
  joints_.jam = false;
  const std::size_t fixed_cones = problem_.cones.size();
  std::vector<LastingFriction*> joints;
  for (LastingFriction& f : frictions_)
    if (friction[f.index].joint >= 0) joints.push_back(&f);
  const auto n = static_cast<Eigen::Index>(joints.size());
  const bool loaded =
      std::any_of(joints.begin(), joints.end(), [&](const LastingFriction* f) { return friction.loaded(f->index); });
  const auto limits = [&](const Vec& lambda, Vec& out) {
    out.resize(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const LastingFriction& f = *joints[static_cast<std::size_t>(j)];
      out[j] = friction.limit(f.index, f.rows > 0 ? 0 : friction.speed(f.index),
                              friction.loaded(f.index) ? friction.load(f.index, lambda) : 0);
    }
  };
  Vec now, next, sliding = Vec::Zero(joints_.X.cols());
  Relaxation relaxation;
  limits(lambda_e_, now);
  const double start = n > 0 ? now.maxCoeff() : 0;
  joints_.b_free = problem_.b;
  for (int iteration = 0;; ++iteration) {
    problem_.cones.resize(fixed_cones);
    for (Eigen::Index j = 0; j < n; ++j) {
      const LastingFriction& f = *joints[static_cast<std::size_t>(j)];
      if (f.column >= 0) sliding[f.column] = now[j];
      if (f.rows == 1) problem_.cones.push_back(Cone::box(f.row, -now[j], now[j]));
      if (f.rows == 2) problem_.cones.push_back(Cone::disc(-1, f.row, 0, now[j]));
    }
    problem_.b = joints_.b_free;
    if (joints_.X.cols() > 0) problem_.b.noalias() -= rows_.W.transpose() * (joints_.X * sliding);
    rows_.r.setZero(problem_.b.size());
    if (problem_.b.size() > 0) {
      const ContactResult result = solver_.solve(problem_, rows_.r);
      if (result.status != ContactStatus::solved) return false;
    }
    if (!loaded) break;
    joints_.lambda_now = lambda_e_;
    if (rows_.Mu.cols() > 0) joints_.lambda_now.noalias() += rows_.Mu * rows_.r;
    if (joints_.Mu.cols() > 0) joints_.lambda_now.noalias() -= joints_.Mu * sliding;
    limits(joints_.lambda_now, next);
    const double size = next.cwiseAbs().maxCoeff();
    if ((next - now).cwiseAbs().maxCoeff() <= kConverged * (size + 1e-6 * dynamics_.system().force_scale)) break;
    if (iteration == kIterations || !(size < kRunaway * (start + dynamics_.system().force_scale))) {
      joints_.jam = true;
      return false;
    }
    relaxation.advance(now, next);
  }
  for (Eigen::Index j = 0; j < n; ++j) joints[static_cast<std::size_t>(j)]->limit = now[j];
  if (problem_.b.size() > 0) a_.noalias() += rows_.X * rows_.r;
  if (joints_.X.cols() > 0) a_.noalias() -= joints_.X * sliding;
  return true;
}

bool Instant::decide_frictions(InstantResult& out, double tolerance) const {
  FrictionRows& friction = dynamics_.frictions();
  bool on_edge = false;
  for (const LastingFriction& f : frictions_) {
    const FrictionInstance& row = friction[f.index];
    double limit = f.limit;
    if (row.slot >= 0) {
      const auto lasts = [&](const ActiveContact& c) { return c.slot == row.slot; };
      if (std::none_of(out.active.begin(), out.active.end(), lasts)) continue;
      for (const Lasting& c : lasting_)
        if (c.slot == row.slot) limit = row.ratio * rows_.r[c.row];
    }
    ActiveFriction active;
    active.index = f.index;
    active.direction[0] = f.direction[0];
    active.direction[1] = row.count == 2 ? f.direction[1] : 0;
    if (f.rows > 0) {
      const double y1 = rows_.y[f.row], y2 = f.rows == 2 ? rows_.y[f.row + 1] : 0, second = std::hypot(y1, y2);
      const double force = std::hypot(rows_.r[f.row], f.rows == 2 ? rows_.r[f.row + 1] : 0);
      if (second > tolerance) {
        active.direction[0] = y1 / second;
        active.direction[1] = y2 / second;
      } else {
        active.mode = Mode::stick;
        if ((limit - force) * std::abs(problem_.A(f.row, f.row)) <= tolerance) on_edge = true;
      }
    }
    out.frictions.push_back(active);
  }
  return on_edge;
}

void Instant::describe_frictions(const Frictions& frictions, InstantResult& out) const {
  FrictionRows& friction = dynamics_.frictions();
  for (const ActiveFriction& now : out.frictions) {
    const ActiveFriction* was = nullptr;
    for (const ActiveFriction& f : frictions.before)
      if (f.index == now.index) was = &f;
    if (was == nullptr && now.mode == Mode::slide) continue;
    if (was != nullptr && was->mode == now.mode &&
        (now.mode == Mode::stick || was->direction[0] * now.direction[0] + was->direction[1] * now.direction[1] > 0))
      continue;
    std::string limit;
    for (const LastingFriction& f : frictions_)
      if (f.index == now.index && friction[now.index].joint >= 0)
        limit = friction.joint(now.index).angular[0]
                    ? fmt::format("limit {:.6g} N m", f.limit * friction[now.index].scale[0])
                    : fmt::format("limit {:.6g} N", f.limit);
    const char* what = now.mode == Mode::stick ? "sticks" : was->mode == Mode::stick ? "slides" : "slides back";
    out.changes.push_back({-1, what, limit, now.index});
  }
}

void Instant::joint_jams(const State& s) const {
  FrictionRows& friction = dynamics_.frictions();
  std::vector<std::string> names;
  std::string all;
  for (const LastingFriction& f : frictions_) {
    if (friction[f.index].joint < 0 || !friction.loaded(f.index)) continue;
    names.push_back(friction.joint_name(f.index));
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw SolveError(
      "joint-jams", s.t, names,
      fmt::format("friction jams in {}: the reactions it causes itself ask for more friction without end", all),
      "reduce the coefficient or the lever arm of the load, or make the guide longer");
}

}  // namespace clatter::contact
