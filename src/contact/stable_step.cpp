#include "contact/stable_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "engine/block.hpp"
#include "engine/tree.hpp"
#include "model/beam.hpp"

namespace clatter::contact {

namespace {

constexpr int kIterations = 300;
constexpr double kConverged = 1e-5;  // relative change of the eigenvalue in a step
constexpr double kAdvised = 0.9;     // of the limit: large deformations stiffen a beam

// Largest w^2 of M x w^2 = K x.
double highest(const System& system, const FlexibleIndex& f, const State& s) {
  const Tree& tree = system.tree;
  const TreeRange& t = tree.trees[static_cast<std::size_t>(tree.rigid_trees + f.block)];
  const Block& block = *tree.blocks[static_cast<std::size_t>(f.block)];
  const int n = t.v1 - t.v0;
  const auto links = static_cast<std::size_t>(t.link1 - t.link0);
  const std::vector<VelocityRun> runs = block.runs();
  std::size_t size = 0;
  for (const VelocityRun& run : runs) size += static_cast<std::size_t>(run.count);
  const std::unique_ptr<BlockWork> work = block.make_work();
  std::vector<LinkMotion> motion(links);
  const std::vector<Vec3> none(links, Vec3::Zero());
  work->kinematics(s.q.data() + f.q, s.v.data() + f.v, motion.data());
  work->accelerations(nullptr);
  work->link_accelerations(motion.data());
  std::vector<double> M(size), C(size), K(size);
  work->tangents(Vec3::Zero(), none.data(), none.data(), nullptr, M.data(), C.data(), K.data());
  work->factorize_mass();
  const auto multiply = [&](const std::vector<double>& A, const Vec& x, Vec& y) {
    y.setZero();
    std::size_t at = 0;
    for (std::size_t j = 0; j < runs.size(); ++j)
      for (int i = 0; i < runs[j].count; ++i) y[runs[j].first + i] += A[at++] * x[static_cast<Eigen::Index>(j)];
  };
  Vec x(n), Kx(n), Mx(n);
  for (int i = 0; i < n; ++i) x[i] = std::sin(1.0 + 7.3 * i);  // any vector that is no mode of a symmetric beam
  double value = 0;
  for (int i = 0; i < kIterations; ++i) {
    multiply(M, x, Mx);
    x /= std::sqrt(x.dot(Mx));
    multiply(K, x, Kx);
    const double last = value;
    value = x.dot(Kx);
    if (i > 20 && std::abs(value - last) <= kConverged * value) break;
    work->solve_mass(Kx.data(), x.data());
  }
  return value;
}

}  // namespace

StableStep stable_step(const System& system, const State& s) {
  StableStep out;
  for (const FlexibleIndex& f : system.flexible) {
    const Body& body = system.model.bodies[static_cast<std::size_t>(f.body)];
    if (!body.beam) continue;
    const double square = highest(system, f, s);
    if (!(square > 0)) continue;
    const double w = std::sqrt(square), zeta = 0.5 * w * std::max(body.beam->damping, body.beam->axial_damping);
    const double step = 2 / w * (std::sqrt(1 + zeta * zeta) - zeta);
    if (out.body >= 0 && step >= out.step) continue;
    out = {step, w, f.body};
  }
  return out;
}

void require_stable_step(const System& system, const State& s, double step) {
  const StableStep limit = stable_step(system, s);
  if (limit.body < 0 || step <= limit.step) return;
  const std::string& name = system.model.bodies[static_cast<std::size_t>(limit.body)].name;
  throw SolveError(
      "step-too-long", s.t, {name},
      fmt::format("beam `{}` has a mode of {:.4g} rad/s, which explicit steps of {:.4g} s would make grow "
                  "without bound: they must be shorter than {:.4g} s",
                  name, limit.frequency, step, limit.step),
      fmt::format("use `step: {:.2g} s`, or `scheme: generalized-alpha`, whose steps are not limited by it",
                  kAdvised * limit.step));
}

}  // namespace clatter::contact
