#include "engine/deformation_watch.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"

namespace clatter {

namespace {

// Highest frequency, rad/s: 1/omega_n^2 is the smallest eigenvalue of M in the metric of K, among shapes that have
// both.
double highest(const ReducedBody& b) {
  constexpr double kNone = 1e-12;
  const Vec scale = b.K.diagonal().cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Mat> K(Mat(scale.asDiagonal() * b.K * scale.asDiagonal()));
  std::vector<Vec> shapes;
  for (long i = 0; i < b.n; ++i)
    if (K.eigenvalues()[i] > kNone)
      shapes.emplace_back(scale.cwiseProduct(K.eigenvectors().col(i)) / std::sqrt(K.eigenvalues()[i]));
  Mat V(b.n, static_cast<long>(shapes.size()));
  for (std::size_t i = 0; i < shapes.size(); ++i) V.col(static_cast<long>(i)) = shapes[i];
  const Vec inverse =
      Eigen::SelfAdjointEigenSolver<Mat>(Mat(V.transpose() * b.M * V), Eigen::EigenvaluesOnly).eigenvalues();
  for (const double x : inverse)
    if (x > kNone * inverse.maxCoeff()) return 1 / std::sqrt(x);
  return 0;
}

}  // namespace

DeformationWatch::DeformationWatch(const System& system, double explicit_step, double limit)
    : system_(&system),
      told_(system.flexible.size(), 0),
      told_fast_(system.flexible.size(), 0),
      slender_(system.flexible.size()),
      step_(explicit_step),
      limit_(limit) {
  residual_.setZero(system.sizes.nv);
  zdot_.setZero(system.sizes.nz);
  for (std::size_t i = 0; i < system.flexible.size(); ++i) {
    const FlexibleIndex& f = system.flexible[i];
    const Body& body = system.model.bodies[static_cast<std::size_t>(f.body)];
    if (is_beam(body.kind)) {  // exact for any displacement
      lowest_.push_back(0);
      continue;
    }
    const ReducedBody& b = *body.reduced;
    // Superelements: their internal modes say nothing of the free body's.
    const bool watched = b.stiffening.empty() && b.boundary.empty() && !b.frequencies.empty();
    lowest_.push_back(watched ? 2 * std::numbers::pi * *std::min_element(b.frequencies.begin(), b.frequencies.end())
                              : 0.0);
    constexpr double kThin = 0.02;  // square of the largest extent of a section by the length: 1 : 7
    const Eigen::SelfAdjointEigenSolver<Mat3> moments(b.E00);
    if (b.stiffening.empty() && moments.eigenvalues()[1] < kThin * moments.eigenvalues()[2])
      slender_[i] = {std::sqrt(12 * moments.eigenvalues()[2] / b.mass), moments.eigenvectors().col(2), false};
  }
}

double DeformationWatch::displacement(const ReducedBody& b, const double* eta) {
  double sum = 0;
  for (int k = 0; k < b.n; ++k) sum += eta[k] * b.M.col(k).dot(Eigen::Map<const Vec>(eta, b.n));
  return std::sqrt(std::max(0.0, sum) / b.E00.trace());
}

double DeformationWatch::bending(const ReducedBody& b, const double* eta) {
  const Eigen::Map<const Vec> x(eta, b.n);
  const Vec3 moved = b.N * x;  // int u rho dV
  Vec3 turned;                 // int X cross u rho dV
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    turned[i] = (b.E0[static_cast<std::size_t>(j)].row(k) - b.E0[static_cast<std::size_t>(k)].row(j)).dot(x);
  }
  // A straight line of beams has no inertia about itself, and no turn about it either.
  Mat3 J = b.J0;
  J.diagonal().array() += 1e-6 * J.diagonal().maxCoeff();
  return std::max(0.0, x.dot(b.M * x) - moved.squaredNorm() / b.mass - turned.dot(J.inverse() * turned)) / b.mass;
}

std::string DeformationWatch::advice(const ReducedBody& b) {
  return b.stiffening.empty() && b.boundary.empty()
             ? "say `stiffening: true`: without it fast rotation makes a slender body softer "
               "instead of stiffer; or cut the body into several"
             : "cut the body into several, each of which deforms little against its own frame";
}

void DeformationWatch::refuse(const Body& body, double r, double t) const {
  const double fastest = step_ > 0 ? highest(*body.reduced) : 0;
  if (step_ * fastest > limit_) {
    const double stable = limit_ / fastest;
    throw SolveError(
        "step-too-long", t, {body.name},
        fmt::format("the flexible body `{}` has a mode of {:.4g} rad/s, which explicit steps of {:.4g} s make grow "
                    "without bound: {}",
                    body.name, fastest, step_,
                    stable > 0 ? fmt::format("they must be shorter than {:.4g} s", stable)
                               : std::string("this method does so with every step")),
        stable > 0 ? fmt::format("use `step: {:.2g} s`, fewer modes in `reduce`, or an implicit method "
                                 "(`generalized-alpha`, `radau5`)",
                                 0.9 * stable)
                   : std::string("use another method: `radau5`, `generalized-alpha`"));
  }
  throw SolveError("deformation-too-large", t, {body.name},
                   fmt::format("the flexible body `{}` is displaced against its frame by {:.2g} of its own size "
                               "(root mean square, against the radius of gyration): beyond linear elasticity",
                               body.name, r),
                   advice(*body.reduced));
}

void DeformationWatch::after_step(Engine& engine, const State& s) const {
  bool observed = false;
  for (const FlexibleIndex& f : system_->flexible) {
    const Body& body = system_->model.bodies[static_cast<std::size_t>(f.body)];
    if (is_beam(body.kind)) continue;
    const double* eta = s.q.data() + f.q;
    if (f.first > 0) {
      if (!observed) engine.observe(s, nullptr);
      observed = true;
      eta = engine.links().blocks[static_cast<std::size_t>(f.block)]->elastic_coordinates();
    }
    const double r = displacement(*body.reduced, eta);
    if (!(r < kMeaningless)) refuse(body, r, s.t);
  }
}

std::vector<std::string> DeformationWatch::look(const Engine& engine, double t) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < system_->flexible.size(); ++i) {
    const FlexibleIndex& f = system_->flexible[i];
    const Body& body = system_->model.bodies[static_cast<std::size_t>(f.body)];
    if (is_beam(body.kind)) continue;
    const ReducedBody& b = *body.reduced;
    const double spin = engine.links().motion[system_->bodies[static_cast<std::size_t>(f.body)].link].w.norm();
    if (lowest_[i] > 0 && spin >= kFast * lowest_[i] && !told_fast_[i] && !slender_[i].told) {
      told_fast_[i] = 1;
      warnings.push_back(fmt::format(
          "fast-rotation: the flexible body {} turns at {:.3g} rad/s at t = {:.6g} s, its lowest frequency is "
          "{:.3g} rad/s: without `stiffening: true` its deformation is wrong by some {:.0f} % or more",
          body.name, spin, t, lowest_[i], 100 * spin * spin / (lowest_[i] * lowest_[i])));
    }
    const double r = displacement(b, engine.links().blocks[static_cast<std::size_t>(f.block)]->elastic_coordinates());
    if (r < kDoubtful || (told_[i] && r < kMeaningless)) continue;
    if (!(r < kMeaningless)) refuse(body, r, t);
    told_[i] = 1;
    warnings.push_back(
        fmt::format("large-deformation: the flexible body {} is displaced by {:.2g} of its own size at t = {:.6g} s; "
                    "linear elasticity in a moving frame leaves out what is of the order of its square; {}",
                    body.name, r, t, advice(b)));
  }
  return warnings;
}

// After Engine::residual, which leaves minus all loads and constraint forces on the links of flexible bodies in F.
double DeformationWatch::mean_axial_force(const Engine& engine, const FlexibleIndex& f, const Slender& slender) const {
  const Tree& tree = system_->tree;
  const TreeRange& range = tree.trees[static_cast<std::size_t>(tree.rigid_trees + f.block)];
  const LinkMotion& frame = engine.links().motion[static_cast<std::size_t>(range.link0)];
  const double mass = system_->model.bodies[static_cast<std::size_t>(f.body)].reduced->mass, L = slender.length;
  const Vec3 e = frame.R * slender.axis;
  const double spin = frame.w.squaredNorm() - std::pow(frame.w.dot(e), 2);
  constexpr int kStations = 8;
  double all = 0, beyond[kStations] = {};
  const auto station = [&](int k) { return ((k + 0.5) / kStations - 0.5) * L; };
  for (int i = range.link0; i < range.link1; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double force = -engine.links().F[at].dot(e), x = (engine.links().motion[at].p - frame.p).dot(e);
    all += force;
    for (int k = 0; k < kStations; ++k)
      if (x > station(k)) beyond[k] += force;
  }
  double sum = 0;
  for (int k = 0; k < kStations; ++k) {
    const double x = station(k);
    sum += std::abs(beyond[k] - (0.5 - x / L) * all + mass * spin * (0.25 * L * L - x * x) / (2 * L));
  }
  return sum / kStations;
}

std::vector<std::string> DeformationWatch::look_at_loads(Engine& engine, const State& s, const Vec& a,
                                                         const Vec& lambda) {
  std::vector<std::string> warnings;
  // Fast rotation has the same advice: whichever of the two shows first is told.
  const auto unsettled = [&](std::size_t i) { return slender_[i].length > 0 && !slender_[i].told && !told_fast_[i]; };
  bool any = false;
  for (std::size_t i = 0; i < slender_.size(); ++i) any = any || unsettled(i);
  if (!any) return warnings;
  engine.residual(s, a, lambda, residual_, zdot_);
  for (std::size_t i = 0; i < slender_.size(); ++i) {
    if (!unsettled(i)) continue;
    Slender& b = slender_[i];
    const FlexibleIndex& f = system_->flexible[i];
    const Body& body = system_->model.bodies[static_cast<std::size_t>(f.body)];
    const BlockWork& block = *engine.links().blocks[static_cast<std::size_t>(f.block)];
    const double energy = block.elastic_energy(), square = bending(*body.reduced, block.elastic_coordinates());
    if (!(energy > 0)) continue;
    constexpr double kHalfWave = 52;
    const double share = mean_axial_force(engine, f, b) * kHalfWave * square / b.length / (2 * energy);
    if (share < kStiffens || share * std::sqrt(square) < kVisible * b.length) continue;
    b.told = true;
    warnings.push_back(fmt::format(
        "stiffening: the flexible body {} is bent and loaded along its axis at t = {:.6g} s, which changes its bending "
        "stiffness by some {:.0f} %; that is left out: say `stiffening: true`{}",
        body.name, s.t, 100 * share,
        body.reduced->boundary.empty() ? "" : " with `formulation: floating-frame`, or cut the body into several"));
  }
  return warnings;
}

}  // namespace clatter
