// What contact needs of an engine: wrenches from outside, and the response of the jointed bodies to generalized forces.
//
//   M x - G^T mu = b,  G x = 0:   x0 = M^-1 b,  (G X) mu = -G x0,  x = x0 + X mu,  X = M^-1 G^T
#include <algorithm>
#include <cstdlib>

#include "engine/derivatives.hpp"
#include "engine/engine.hpp"

namespace clatter {

void Engine::set_external(std::span<const LinkWrench> wrenches, const Vec* generalized) {
  external_.assign(wrenches.begin(), wrenches.end());
  if (generalized != nullptr)
    external_generalized_ = *generalized;
  else
    external_generalized_.resize(0);
}

void Engine::prepare_response(const State& s) {
  const int nc = system_->sizes.nc();
  evaluate(s);
  evaluate_accelerations(s, nullptr);
  factorize_mass(system_->tree, work_);
  if (nc == 0) return;
  build_G(nc);
  build_schur(nc);
}

void Engine::response(const double* b, double* x, double* mu) {
  const int nc = system_->sizes.nc();
  solve_mass(system_->tree, work_, b, x);
  if (nc == 0) return;
  double* m = mu != nullptr ? mu : rhs_.data();
  for (int r = 0; r < nc; ++r) {
    double sum = 0;
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      for (int k = 0; k < seg.n; ++k) sum += G_[seg.offset + k] * x[seg.v0 + k];
    }
    m[r] = -sum;
  }
  solve_schur(nc, m);
  for (int r = 0; r < nc; ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      for (int k = 0; k < seg.n; ++k) x[seg.v0 + k] += X_[seg.offset + k] * m[r];
    }
}

void Engine::response_tree(int tree, const double* b, double* x) { solve_mass(system_->tree, tree, work_, b, x); }

void Engine::response_groups(std::vector<int>& group_of_tree) const {
  const int trees = static_cast<int>(system_->tree.trees.size());
  std::vector<int> root(trees);
  for (int t = 0; t < trees; ++t) root[t] = t;
  const auto find = [&](int t) {
    while (root[t] != t) t = root[t];
    return t;
  };
  std::vector<bool> held(trees, false);
  for (int r = 0; r < system_->sizes.nc(); ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      held[segments_[i].tree] = true;
      const int a = find(segments_[row_begin_[r]].tree), b = find(segments_[i].tree);
      root[std::max(a, b)] = std::min(a, b);
    }
  group_of_tree.assign(trees, 0);
  int groups = 0;
  for (int t = 0; t < trees; ++t) {
    const int first = find(t);
    const int number = first == t ? ++groups : std::abs(group_of_tree[first]);
    group_of_tree[t] = held[t] ? -number : number;
  }
}

void Engine::add_generalized(int link, const Vec3& F, const Vec3& N, double* tau) const {
  if (link < 0) return;
  project_path(link, F, N, tau + system_->tree.trees[system_->tree.links[link].tree].v0);
}

void Engine::add_generalized_of_tree(int link, const Vec3& F, const Vec3& N, double* tau) const {
  project_path(link, F, N, tau);
}

void Engine::point_columns(int link, const Vec3& at, const Vec3& velocity, TreeTangent::PointColumns& out) const {
  derivatives_->tree().point(link, at, velocity, out);
}

}  // namespace clatter
