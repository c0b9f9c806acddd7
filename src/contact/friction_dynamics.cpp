// Friction rows in a phase of constant contact state (members of ContactDynamics).
//
// Sliding joints j push with l_j >= 0 against their slip, along the columns w_j = sum_c d_c w_jc. With x_j, mu_j the
// response of the jointed bodies to w_j and r = r_0 + R l what the rows of contacts and sticking friction answer,
//
//   lambda(l) = lambda_0 + Lambda l,   Lambda = -mu + Mu R,     l_j = base_j + mu_j N_j(lambda(l))
//
// is a small system of equations, piecewise smooth because N are norms, solved by Newton's method with
// J = 1 - diag(mu) dN/dlambda Lambda (P-23 for norms in the place of signed forces; for N linear it is P-23 itself).
// det J is 1 without feedback and vanishes where friction, by the reactions it causes itself, grows beyond all bounds.
#include <Eigen/LU>
#include <cmath>

#include "contact/contact_dynamics.hpp"

namespace clatter::contact {

namespace {

constexpr double kForceOffset = 1e-11, kSlipOffset = 1e-11;
constexpr double kJam = 1e-6;
constexpr double kNoSlip = 1e-10, kStopped = 1e-6;
constexpr int kIterations = 60;
constexpr double kConverged = 1e-14;

}  // namespace

void ContactDynamics::set_frictions(std::vector<ActiveFriction> frictions) {
  const Sizes& n = engine_.sizes();
  active_frictions_ = std::move(frictions);
  if (system().smooth) {
    active_frictions_.clear();
    for (int i = 0; i < frictions_.joints(); ++i) active_frictions_.push_back({i, Mode::slide, {1, 0}});
  }
  sliding_.list.clear();
  sliding_.load_themselves = false;
  for (std::size_t i = 0; i < active_frictions_.size(); ++i) {
    const ActiveFriction& f = active_frictions_[i];
    if (f.mode == Mode::stick)
      for (int c = 0; c < frictions_[f.index].count; ++c)
        rows_.push_back({-1, c, n.nc() + static_cast<int>(rows_.size()), static_cast<int>(i)});
    if (!slides_in_joint(f)) continue;
    sliding_.list.push_back(static_cast<int>(i));
    sliding_.load_themselves = sliding_.load_themselves || frictions_.loaded(f.index);
  }
  const auto nf = static_cast<Eigen::Index>(sliding_.list.size()), k = static_cast<Eigen::Index>(rows_.size());
  sliding_.W.setZero(n.nv, nf);
  sliding_.X.setZero(n.nv, nf);
  sliding_.Mu.setZero(n.nc(), nf);
  sliding_.Lambda.setZero(n.nc(), nf);
  sliding_.R.setZero(k, nf);
  sliding_.J.setZero(nf, nf);
  sliding_.limit.setZero(nf);
  sliding_.residual.setZero(nf);
  sliding_.lambda.setZero(n.nc());
  sliding_.jam = 1;
  sliding_.jamming = sliding_.list.empty() ? 0 : sliding_.list.front();
}

int ContactDynamics::joint_channel(int friction) const {
  return engine_.sizes().np + 2 * static_cast<int>(system().groups.size()) +
         system().channel_of_friction[static_cast<std::size_t>(friction)];
}

int ContactDynamics::normal_of(int slot) const {
  for (int i = 0; i < normals_; ++i)
    if (active_[static_cast<std::size_t>(i)].slot == slot) return i;
  return -1;
}

double ContactDynamics::friction_direction(const ActiveFriction& f, double d[2]) const {
  const int count = frictions_[f.index].count;
  const double* rate = frictions_.rate(f.index);
  const double speed = frictions_.speed(f.index);
  double direction[2] = {f.direction[0], f.direction[1]};
  if (system().smooth) {
    const double slope = smooth_slope(speed, frictions_[f.index].velocity, nullptr);
    for (int c = 0; c < 2; ++c) direction[c] = c < count ? slope * rate[c] : 0;
  } else if (count == 2 &&
             f.direction[0] * rate[0] + f.direction[1] * rate[1] > kNoSlip * frictions_[f.index].speed_scale) {
    // Beyond rest the direction before it holds, so that a step across it is smooth; an event cuts it there.
    for (int c = 0; c < 2; ++c) direction[c] = rate[c] / speed;
  }
  d[0] = direction[0];
  d[1] = direction[1];
  return speed;
}

void ContactDynamics::friction_columns() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.friction < 0) continue;
    const auto col = static_cast<Eigen::Index>(i);
    frictions_.column(active_frictions_[static_cast<std::size_t>(row.friction)].index, row.component,
                      problem_.W.col(col).data());
    problem_.D.col(col) = problem_.W.col(col);
  }
  Eigen::Index j = 0;
  for (const ActiveFriction& f : active_frictions_) {
    if (f.mode != Mode::slide) continue;
    const FrictionInstance& row = frictions_[f.index];
    double d[2];
    friction_direction(f, d);
    if (row.joint >= 0) sliding_.W.col(j).setZero();
    for (int c = 0; c < row.count; ++c) {
      frictions_.column(f.index, c, problem_.column.data());
      if (row.joint >= 0)
        sliding_.W.col(j) += d[c] * problem_.column;
      else
        problem_.D.col(normal_of(row.slot)) -= row.ratio * d[c] * problem_.column;
    }
    if (row.joint >= 0) ++j;
  }
}

void ContactDynamics::respond_to_sliding() {
  for (Eigen::Index j = 0; j < sliding_.W.cols(); ++j)
    engine_.response(sliding_.W.col(j).data(), sliding_.X.col(j).data(),
                     sliding_.Mu.rows() > 0 ? sliding_.Mu.col(j).data() : nullptr);
}

void ContactDynamics::solve_frictions(Vec& a, Vec& row_forces) {
  const Eigen::Index nf = sliding_.W.cols(), k = static_cast<Eigen::Index>(rows_.size());
  const bool reactions = engine_.sizes().nc() > 0;
  if (reactions) {
    sliding_.Lambda = -sliding_.Mu;
    if (k > 0) sliding_.Lambda.noalias() += problem_.Mu * sliding_.R;
  }
  const auto index = [&](Eigen::Index j) {
    return active_frictions_[static_cast<std::size_t>(sliding_.list[static_cast<std::size_t>(j)])].index;
  };
  sliding_.jam = 1;
  for (Eigen::Index j = 0; j < nf; ++j)
    sliding_.limit[j] =
        frictions_.limit(index(j), frictions_.speed(index(j)),
                         frictions_.loaded(index(j)) ? frictions_.load(index(j), of_engine_.lambda) : 0.0);
  for (int iteration = 0; sliding_.load_themselves && iteration < kIterations; ++iteration) {
    sliding_.lambda = of_engine_.lambda;
    sliding_.lambda.noalias() += sliding_.Lambda * sliding_.limit;
    sliding_.J.setIdentity();
    for (Eigen::Index j = 0; j < nf; ++j) {
      const int i = index(j);
      sliding_.residual[j] = 0;
      if (!frictions_.loaded(i)) continue;
      sliding_.gradient.clear();
      const double speed = frictions_.speed(i), N = frictions_.load(i, sliding_.lambda, &sliding_.gradient);
      const double mu = frictions_.coefficient(i, speed);
      sliding_.residual[j] = sliding_.limit[j] - frictions_.limit(i, speed, N);
      for (const auto& [row, slope] : sliding_.gradient) sliding_.J.row(j) -= mu * slope * sliding_.Lambda.row(row);
    }
    // The limit itself stands for the scale of the residual: no friction, no error.
    const double size = sliding_.limit.cwiseAbs().maxCoeff() + 1e-12 * system().force_scale;
    const Eigen::PartialPivLU<Mat> lu(sliding_.J);
    sliding_.jam = lu.determinant();
    sliding_.jamming = sliding_.list.front();
    for (Eigen::Index j = 1; j < nf; ++j)
      if (sliding_.J(j, j) < sliding_.J(0, 0)) sliding_.jamming = sliding_.list[static_cast<std::size_t>(j)];
    if (sliding_.residual.cwiseAbs().maxCoeff() <= kConverged * size) break;
    if (sliding_.jam == 0) break;
    sliding_.residual = lu.solve(sliding_.residual).eval();
    if (!sliding_.residual.allFinite()) break;
    sliding_.limit -= sliding_.residual;
    if (sliding_.residual.cwiseAbs().maxCoeff() <= kConverged * size) break;
    // No fixed point on the way of growing friction: Newton's method jumps between the branches.
    if (iteration + 1 == kIterations) sliding_.jam = std::min(sliding_.jam, -kJam);
  }
  if (sliding_.load_themselves && sliding_.limit.minCoeff() < 0) sliding_.jam = std::min(sliding_.jam, -kJam);
  a.noalias() -= sliding_.X * sliding_.limit;
  if (k > 0) {
    a.noalias() += problem_.X * (sliding_.R * sliding_.limit);
    row_forces.noalias() += sliding_.R * sliding_.limit;
  }
  if (reactions) of_engine_.lambda.noalias() += sliding_.Lambda * sliding_.limit;
}

void ContactDynamics::add_sliding(Vec& r) {
  for (std::size_t j = 0; j < sliding_.list.size(); ++j) {
    const int i = active_frictions_[static_cast<std::size_t>(sliding_.list[j])].index;
    const double N = frictions_.loaded(i) ? frictions_.load(i, of_engine_.lambda) : 0;
    r.noalias() += frictions_.limit(i, frictions_.speed(i), N) * sliding_.W.col(static_cast<Eigen::Index>(j));
  }
}

double ContactDynamics::friction_limit(int i, const Vec& lambda) {
  const ActiveFriction& f = active_frictions_[static_cast<std::size_t>(i)];
  const FrictionInstance& row = frictions_[f.index];
  if (row.slot >= 0) return row.ratio * std::max(0.0, lambda[engine_.sizes().nh + normal_of(row.slot)]);
  split(lambda);
  const double N = frictions_.loaded(f.index) ? frictions_.load(f.index, of_engine_.lambda) : 0;
  return frictions_.limit(f.index, f.mode == Mode::stick ? 0 : frictions_.speed(f.index), N);
}

void ContactDynamics::friction_force(int i, const Vec& lambda, double force[2]) {
  const ActiveFriction& f = active_frictions_[static_cast<std::size_t>(i)];
  force[0] = force[1] = 0;
  if (f.mode == Mode::stick) {
    for (const Row& row : rows_)
      if (row.friction == i) force[row.component] = lambda[row.index];
    return;
  }
  double d[2];
  friction_direction(f, d);
  const double limit =
      frictions_[f.index].slot >= 0
          ? frictions_[f.index].ratio * lambda[engine_.sizes().nh + normal_of(frictions_[f.index].slot)]
          : friction_limit(i, lambda);
  for (int c = 0; c < frictions_[f.index].count; ++c) force[c] = -limit * d[c];
}

bool ContactDynamics::friction_has_stopped(int friction) const {
  return frictions_.speed(friction) < kStopped * frictions_[friction].speed_scale;
}

int ContactDynamics::friction_event_count() const {
  return system().smooth ? 0 : static_cast<int>(active_frictions_.size()) + (sliding_.load_themselves ? 1 : 0);
}

void ContactDynamics::friction_events(const Vec& lambda, Vec& g, int& at) {
  if (friction_event_count() == 0) return;
  for (std::size_t i = 0; i < active_frictions_.size(); ++i) {
    const ActiveFriction& f = active_frictions_[i];
    if (f.mode == Mode::stick) {
      double r[2];
      friction_force(static_cast<int>(i), lambda, r);
      g[at++] = friction_limit(static_cast<int>(i), lambda) - std::hypot(r[0], r[1]) +
                kForceOffset * frictions_[f.index].force_scale;
    } else {
      const double* rate = frictions_.rate(f.index);
      double along = f.direction[0] * rate[0];
      if (frictions_[f.index].count == 2) along += f.direction[1] * rate[1];
      g[at++] = along + kSlipOffset * frictions_[f.index].speed_scale;
    }
  }
  if (sliding_.load_themselves) g[at++] = sliding_.jam - kJam;
}

// Tangents. A sliding row pushes with f = -l(|s|, lambda) d(s):
//
//   df/ds = -[l p (1 - d d^T) + dl/d|s| d d^T]           p = 1/|s|, smoothed l phi/|s| and d(l phi)/d|s|
//   N(row) -= mu dN/d(row) d . g                          force direction of the rows that load the friction
void ContactDynamics::add_friction_tangents(const Vec& lambda, Tangents& out) {
  for (std::size_t at = 0; at < active_frictions_.size(); ++at) {
    const ActiveFriction& f = active_frictions_[at];
    const FrictionInstance& row = frictions_[f.index];
    double force[2];
    friction_force(static_cast<int>(at), lambda, force);
    frictions_.rows(f.index, force, contact_rows_);
    if (f.mode == Mode::stick) {
      add_forces(contact_rows_, nullptr, out);
      for (const Row& r : rows_)
        if (r.friction == static_cast<int>(at)) add_row(contact_rows_, r.component, r.index, out);
      continue;
    }
    double d[2] = {0, 0};
    const double speed = friction_direction(f, d), *rate = frictions_.rate(f.index);
    double limit = 0, by_speed = 0, mu = 0;
    sliding_.gradient.clear();
    if (row.slot >= 0) {
      const int normal = engine_.sizes().nh + normal_of(row.slot);
      limit = row.ratio * lambda[normal];
      mu = row.ratio;
      sliding_.gradient.emplace_back(normal, 1);
    } else {
      const double N = frictions_.loaded(f.index) ? frictions_.load(f.index, of_engine_.lambda, &sliding_.gradient) : 0;
      limit = frictions_.limit(f.index, speed, N, &by_speed);
      mu = frictions_.loaded(f.index) ? frictions_.coefficient(f.index, speed) : 0;
      for (auto& [r, slope] : sliding_.gradient) r = row_of_engine(r);
    }
    double unit[2] = {d[0], d[1]}, across = row.count == 2 && speed > 0 ? limit / speed : 0, along = by_speed;
    if (system().smooth) {
      double dslope = 0;
      const double slope = smooth_slope(speed, row.velocity, &dslope);
      for (int c = 0; c < row.count; ++c) unit[c] = speed > 0 ? rate[c] / speed : (c == 0 ? 1 : 0);
      across = limit * slope;
      along = by_speed * slope * speed + limit * (slope + dslope * speed);
    }
    ForceSlopes slopes;
    slopes.add_sliding(0, row.count, unit, across, along);
    add_forces(contact_rows_, &slopes, out);
    for (const auto& [r, slope] : sliding_.gradient)
      for (int c = 0; c < row.count; ++c) add_direction(contact_rows_, c, r, -mu * slope * d[c], out);
  }
}

}  // namespace clatter::contact
