// Constraints at the level of accelerations:
//
//   M a = h + G^T lambda,   G a + bias = 0   =>   S lambda = -(bias + G a_free),   S = G M^-1 G^T
//
// G is kept row by row in segments, one for each tree a row acts on; S is sparse where trees are many. Corrections of
// positions and velocities take the same S, in the metric of the masses or one chosen for the assembly.
#include <algorithm>
#include <cmath>

#include "engine/assembly_metric.hpp"
#include "engine/derivatives.hpp"
#include "engine/engine.hpp"
#include "engine/floating_frame.hpp"
#include "engine/padded.hpp"

namespace clatter {

void Engine::project_path(int link, Vec3 F, Vec3 N, double* tau) const {
  const Tree& tree = system_->tree;
  const int t0 = tree.links[link].tree, v0 = tree.trees[t0].v0;
  if (link >= tree.rigid_links) {
    work_.blocks[t0 - tree.rigid_trees]->project(link - tree.trees[t0].link0, F, N, tau);
    return;
  }
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work_.motion[i];
    double* t = tau + (l.v - v0);
    switch (l.mobility) {
      case Mobility::free6: {
        const Vec3 n = m.R.transpose() * N;
        for (int k = 0; k < 3; ++k) {
          t[k] += F[k];
          t[3 + k] += n[k];
        }
        return;
      }
      case Mobility::planar3:
        t[0] += F.x();
        t[1] += F.y();
        t[2] += N.z();
        return;
      case Mobility::particle3:
        t[2] += F.z();
        [[fallthrough]];
      case Mobility::particle2:
        t[0] += F.x();
        t[1] += F.y();
        return;
      case Mobility::revolute:
        t[0] += m.z.dot(N + m.d.cross(F));
        break;
      case Mobility::screw:
        t[0] += m.z.dot(N + m.d.cross(F)) + l.pitch * m.z.dot(F);
        break;
      case Mobility::prismatic:
        t[0] += m.z.dot(F);
        break;
      case Mobility::spherical: {
        const Vec3 n = m.R.transpose() * (N + m.d.cross(F));
        for (int k = 0; k < 3; ++k) t[k] += n[k];
        break;
      }
      case Mobility::weld:
      case Mobility::marker:
        break;
    }
    N += m.r.cross(F);
  }
}

void Engine::build_G(int rows) {
  const System& sys = *system_;
  std::fill(G_.begin(), G_.end(), 0.0);
  for (int r = 0; r < rows; ++r) {
    const Deformation& d = row_deformation(r);
    double factors[4];
    gradient_factors(d, factors);
    for (int k = 0; k < d.count; ++k) {
      const Measure& m = sys.measures[d.terms[k].measure];
      const double c = factors[k];
      const auto segment_of = [&](int tree) -> const Segment& {
        int i = row_begin_[r];
        while (segments_[i].tree != tree) ++i;
        return segments_[i];
      };
      if (m.velocity >= 0) {
        for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
          const Segment& seg = segments_[i];
          if (m.velocity >= seg.v0 && m.velocity < seg.v0 + seg.n)
            G_[seg.offset + m.velocity - seg.v0] += c * m.rate_scale;
        }
        continue;
      }
      if (m.block >= 0) {
        work_.blocks[m.block]->row_gradient(m.row, c, G_.data() + segment_of(sys.tree.rigid_trees + m.block).offset);
        continue;
      }
      const MeasureValue<double>& value = measures_[d.terms[k].measure];
      const auto add = [&](int frame, const Vec3& f, const Vec3& n) {
        const int link = sys.frames[frame].link;
        if (link < 0) return;
        const Vec3 arm = frames_[frame].p - work_.motion[link].p;
        project_path(link, c * f, c * (n + arm.cross(f)), G_.data() + segment_of(sys.tree.links[link].tree).offset);
      };
      add(m.a, value.fA, value.nA);
      add(m.b, value.fB, value.nB);
    }
    derivatives_->empty_if_held(*this, r);
  }
}

// X = M^-1 G^T and S = G X for the first `rows` rows; while correcting, in the metric chosen for that.
void Engine::build_schur(int rows, bool correcting) {
  const int last = row_begin_[rows];
  const AssemblyMetric* metric = correcting ? assembly_.get() : nullptr;
  const bool some_frozen = correcting && !frozen_.empty();
  for (int i = 0; i < last; ++i) {
    const Segment& seg = segments_[i];
    const double* g = G_.data() + seg.offset;
    double* x = X_.data() + seg.offset;
    const auto first = frozen_.begin() + (some_frozen ? seg.v0 : 0);
    const bool held = some_frozen && std::find(first, first + seg.n, true) != first + seg.n;
    if (metric && !held && metric->solve(seg.tree, g, x)) continue;
    if (!some_frozen) {
      solve_mass(system_->tree, seg.tree, work_, g, x);
      continue;
    }
    // Some coordinates must not move: a plain metric on the others.
    for (int k = 0; k < seg.n; ++k) x[k] = frozen_[seg.v0 + k] ? 0.0 : g[k];
  }
  const bool all = rows > system_->sizes.nh;
  SparseMatrix<double>& S = all ? *S_all_ : *S_holonomic_;
  S.set_zero();
  auto values = S.values();
  for (const Pair& p : all ? pairs_all_ : pairs_holonomic_) {
    const Segment& a = segments_[p.first];
    const Segment& b = segments_[p.second];
    values[p.slot] += padded::dot(G_.data() + a.offset, X_.data() + b.offset, a.n);
  }
  last_schur_ = all ? schur_all_.get() : schur_holonomic_.get();
  last_schur_->factorize(S);
}

namespace {

// A row on a body that deforms is none of a mechanism: where rigid links could go on in two ways, the body's stiffness
// decides, and how near such rows come to each other is a matter of its compliance in different directions.
bool acts_on_flexible(const System& sys, const Deformation& d) {
  const auto flexible = [&](int frame) {
    const int link = sys.frames[frame].link;
    return link >= 0 && sys.tree.links[link].tree >= sys.tree.rigid_trees;
  };
  for (int k = 0; k < d.count; ++k) {
    const Measure& m = sys.measures[d.terms[k].measure];
    if (m.block >= 0) return true;
    if (m.velocity < 0 && (flexible(m.a) || flexible(m.b))) return true;
  }
  return false;
}

// Work on masses, with a body whose mass fails told by its name.
template <class Work>
void named(const System& sys, const TreeWork& work, double t, Work&& what) {
  try {
    what();
  } catch (const MassNotPositive& failure) {
    for (const FlexibleIndex& f : sys.flexible)
      if (work.blocks[static_cast<std::size_t>(f.block)].get() == failure.block)
        throw MassNotPositive(failure.block, sys.model.bodies[static_cast<std::size_t>(f.body)].name, t);
    throw;
  }
}

}  // namespace

// Diagonal entries of the Schur matrix last factorised, each the largest among the rows of the same element and unit:
// in joint coordinates a row of a closed loop does not come to depend on others but vanishes, as the x of a pin whose
// links all lie along x. A row that the coordinates hold by themselves is none.
std::span<const double> Engine::row_scale() const {
  const SparseMatrix<double>& S = last_schur_ == schur_all_.get() ? *S_all_ : *S_holonomic_;
  std::fill(group_scale_.begin(), group_scale_.end(), 0.0);
  for (int r = 0; r < S.cols(); ++r) group_scale_[row_group_[r]] = std::max(group_scale_[row_group_[r]], S.at(r, r));
  for (int r = 0; r < S.cols(); ++r) row_scale_[r] = derivatives_->row_is_empty(r) ? 0.0 : group_scale_[row_group_[r]];
  return {row_scale_.data(), static_cast<std::size_t>(S.cols())};
}

double Engine::constraint_sine() const {
  return last_schur_ ? std::sqrt(last_schur_->smallest_independent_ratio(row_scale())) : 1;
}

std::vector<std::string> Engine::nearly_dependent() const {
  std::vector<std::string> names;
  if (!last_schur_) return names;
  for (const int row : last_schur_->weakest_rows(row_scale())) {
    const Deformation& d = row_deformation(row);
    if (acts_on_flexible(*system_, d)) continue;
    const std::string& name = d.element;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void Engine::solve_schur(int rows, double* b) { (rows > system_->sizes.nh ? *schur_all_ : *schur_holonomic_).solve(b); }

void Engine::accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) {
  const System& sys = *system_;
  const int nc = sys.sizes.nc();
  // Where nobody asks for constraints, powers or events, nobody asks twice for the same state.
  evaluate(s, nc > 0 || sys.sizes.np > 0 || sys.sizes.ne > 0);
  if (nc > 0 || links_watched_)
    evaluate_accelerations(s, nullptr);
  else
    clatter::accelerations(sys.tree, s.v, nullptr, work_);
  apply_forces(s);
  rotate_inertias(sys.tree, work_);
  inertia_wrenches(sys.tree, work_, F_, N_);
  named(sys, work_, s.t, [&] { forward_dynamics(sys.tree, work_, tau_.data(), a.data()); });
  inner_rates(s, zdot);
  if (nc == 0) return;
  build_G(nc);
  build_schur(nc);
  double value, rate, bias;
  for (int r = 0; r < nc; ++r) {
    row_value(r, s, value, rate, bias);
    double sum = bias;
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      sum += padded::dot(G_.data() + seg.offset, a.data() + seg.v0, seg.n);
    }
    lambda[r] = derivatives_->row_is_empty(r) ? 0.0 : -sum;
  }
  solve_schur(nc, lambda.data());
  for (int r = 0; r < nc; ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      padded::axpy(lambda[r], X_.data() + seg.offset, a.data() + seg.v0, seg.n);
    }
}

void Engine::weigh(Deforming how) {
  if (how == Deforming::by_mass || system_->flexible.empty())
    assembly_.reset();
  else
    assembly_ = std::make_unique<AssemblyMetric>(*system_, how);
}

void Engine::least_correction(const State& s, const Vec& b, bool positions, Vec& delta) {
  const System& sys = *system_;
  const int rows = positions ? sys.sizes.nh : sys.sizes.nc();
  delta.setZero();
  if (rows == 0) return;
  evaluate(s);
  if (frozen_.empty()) named(sys, work_, s.t, [&] { factorize_mass(sys.tree, work_); });
  if (assembly_) assembly_->prepare(s, work_);
  build_G(rows);
  build_schur(rows, true);
  for (int r = 0; r < rows; ++r) rhs_[r] = derivatives_->row_is_empty(r) ? 0.0 : b[r];
  if (assembly_ && positions && assembly_->relax(delta)) {
    for (std::size_t k = 0; k < frozen_.size(); ++k)
      if (frozen_[k]) delta[static_cast<Eigen::Index>(k)] = 0;
    for (int r = 0; r < rows; ++r)
      for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
        const Segment& seg = segments_[i];
        rhs_[r] -= padded::dot(G_.data() + seg.offset, delta.data() + seg.v0, seg.n);
      }
  }
  solve_schur(rows, rhs_.data());
  for (int r = 0; r < rows; ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      for (int k = 0; k < seg.n; ++k) delta[seg.v0 + k] += X_[seg.offset + k] * rhs_[r];
    }
  if (assembly_ && positions) assembly_->finish(work_, delta);
}

Eigen::SparseMatrix<double, Eigen::RowMajor> Engine::constraint_matrix(const State& s) {
  evaluate(s);
  const int nc = system_->sizes.nc();
  Eigen::SparseMatrix<double, Eigen::RowMajor> G(nc, system_->sizes.nv);
  if (nc == 0) return G;
  build_G(nc);
  std::vector<Eigen::Triplet<double>> entries;
  for (const Segment& seg : segments_)
    for (int k = 0; k < seg.n; ++k)
      if (G_[seg.offset + k] != 0) entries.emplace_back(seg.row, seg.v0 + k, G_[seg.offset + k]);
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

}  // namespace clatter
