#include "engine/deformation_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace clatter {

DeformationWatch::DeformationWatch(const System& system)
    : system_(&system), told_(system.flexible.size(), 0), told_fast_(system.flexible.size(), 0) {
  for (const FlexibleIndex& f : system.flexible) {
    const Body& body = system.model.bodies[static_cast<std::size_t>(f.body)];
    if (is_beam(body.kind)) {  // exact for any displacement
      lowest_.push_back(0);
      continue;
    }
    const fem::ReducedBody& b = *body.reduced;
    // Superelements: their internal modes say nothing of the free body's.
    const bool watched = b.stiffening.empty() && b.boundary.empty() && !b.frequencies.empty();
    lowest_.push_back(watched ? 2 * std::numbers::pi * *std::min_element(b.frequencies.begin(), b.frequencies.end())
                              : 0.0);
  }
}

double DeformationWatch::displacement(const fem::ReducedBody& b, const double* eta) {
  double sum = 0;
  for (int k = 0; k < b.n; ++k) sum += eta[k] * b.M.col(k).dot(Eigen::Map<const Vec>(eta, b.n));
  return std::sqrt(std::max(0.0, sum) / b.E00.trace());
}

std::string DeformationWatch::advice(const fem::ReducedBody& b) {
  return b.stiffening.empty() ? "say `stiffening: true`: without it fast rotation makes a slender body softer "
                                "instead of stiffer; or cut the body into several"
                              : "cut the body into several, each of which deforms little against its own frame";
}

void DeformationWatch::refuse(const Body& body, double r, double t) const {
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
    const fem::ReducedBody& b = *body.reduced;
    const double spin = engine.links().motion[system_->bodies[static_cast<std::size_t>(f.body)].link].w.norm();
    if (lowest_[i] > 0 && spin >= kFast * lowest_[i] && !told_fast_[i]) {
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

}  // namespace clatter
