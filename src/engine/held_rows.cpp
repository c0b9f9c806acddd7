// Rows that a tree already holds.
//
// A joint that closes a loop may say what the joints of the tree already say (a second hinge on the same axis). Its
// entries are sums that cancel,
//
//   G_k = z . (N + d x F) + ...,
//
// and what rounding and the precision of the start leave of them is not a direction. A row whose every entry is below a
// millionth of the sizes of its terms, |N| + |d| |F| + ..., is empty: a lever of a millionth of the distances that it
// is the difference of is none. In absolute coordinates the same row is called redundant by the same measure
// (solve/schur_solver.hpp). Masses and units have no part in it.
#include <algorithm>
#include <cmath>

#include "engine/derivatives.hpp"

namespace clatter {

namespace {
constexpr double kNothing = 1e-6;
}

void Derivatives::find_rows_on_trees(const Engine& engine) {
  const System& sys = engine.system();
  row_on_tree_.assign(static_cast<std::size_t>(sys.sizes.nc()), 0);
  row_empty_.assign(static_cast<std::size_t>(sys.sizes.nc()), 0);
  entry_size_.assign(static_cast<std::size_t>(sys.sizes.nv), 0);
  for (const Engine::Segment& seg : engine.segments_)
    if (seg.tree < sys.tree.rigid_trees && !sys.tree.trees[seg.tree].simple) row_on_tree_[seg.row] = 1;
  // Bodies that deform always answer.
  for (const Engine::Segment& seg : engine.segments_)
    if (seg.tree >= sys.tree.rigid_trees) row_on_tree_[seg.row] = 0;
}

// What the entries of a wrench on a link are the sums of: Engine::project_path with sizes instead of vectors.
void Derivatives::path_sizes(const Engine& engine, int link, double F, double N) {
  const Tree& tree = engine.system().tree;
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const Link& l = tree.links[i];
    const LinkMotion& m = engine.work_.motion[i];
    double* size = entry_size_.data() + l.v;
    switch (l.mobility) {
      case Mobility::free6:
        for (int k = 0; k < 3; ++k) {
          size[k] += F;
          size[3 + k] += N;
        }
        break;
      case Mobility::planar3:
        size[0] += F;
        size[1] += F;
        size[2] += N;
        break;
      case Mobility::particle3:
      case Mobility::particle2:
      case Mobility::prismatic:
        for (int k = 0; k < l.nv; ++k) size[k] += F;
        break;
      case Mobility::revolute:
      case Mobility::spherical:
        for (int k = 0; k < l.nv; ++k) size[k] += N + m.d.norm() * F;
        break;
      case Mobility::screw:
        size[0] += N + (m.d.norm() + std::abs(l.pitch)) * F;
        break;
      case Mobility::weld:
      case Mobility::marker:
        break;
    }
    N += m.r.norm() * F;
  }
}

template <class Entry>
bool Derivatives::held_by_tree(const Engine& engine, int row, const Entry& entry) {
  const System& sys = engine.system();
  const Deformation& d = engine.row_deformation(row);
  const int first = engine.row_begin_[row], last = engine.row_begin_[row + 1];
  for (int i = first; i < last; ++i)
    std::fill_n(entry_size_.begin() + engine.segments_[i].v0, engine.segments_[i].n, 0.0);
  double factors[4];
  engine.gradient_factors(d, factors);
  for (int k = 0; k < d.count; ++k) {
    const Measure& m = sys.measures[d.terms[k].measure];
    const double c = std::abs(factors[k]);
    if (m.velocity >= 0) {
      entry_size_[m.velocity] += c * std::abs(m.rate_scale);
      continue;
    }
    const MeasureValue<double>& value = engine.measures_[d.terms[k].measure];
    const auto add = [&](int frame, const Vec3& f, const Vec3& n) {
      const int link = sys.frames[frame].link;
      if (link < 0) return;
      const double F = c * f.norm(), arm = (engine.frames_[frame].p - engine.work_.motion[link].p).norm();
      path_sizes(engine, link, F, c * n.norm() + arm * F);
    };
    add(m.a, value.fA, value.nA);
    add(m.b, value.fB, value.nB);
  }
  for (int i = first; i < last; ++i) {
    const Engine::Segment& seg = engine.segments_[i];
    for (int k = 0; k < seg.n; ++k)
      if (std::abs(entry(seg, k)) > kNothing * entry_size_[seg.v0 + k]) return false;
  }
  return true;
}

void Derivatives::empty_if_held(Engine& engine, int row) {
  if (!row_on_tree_[row]) return;
  row_empty_[row] =
      held_by_tree(engine, row, [&](const Engine::Segment& seg, int k) { return engine.G_[seg.offset + k]; });
  if (!row_empty_[row]) return;
  for (int i = engine.row_begin_[row]; i < engine.row_begin_[row + 1]; ++i)
    std::fill_n(engine.G_.begin() + engine.segments_[i].offset, engine.segments_[i].n, 0.0);
}

void Derivatives::empty_held_rows(const Engine& engine, SparseMatrix<double>& G) {
  for (int row = 0; row < static_cast<int>(row_on_tree_.size()); ++row) {
    if (!row_on_tree_[row]) continue;
    const auto entry = [&](const Engine::Segment& seg, int k) {
      const int slot = G.slot(row, seg.v0 + k);
      return slot < 0 ? 0.0 : G.values()[slot];
    };
    if (!held_by_tree(engine, row, entry)) continue;
    for (int i = engine.row_begin_[row]; i < engine.row_begin_[row + 1]; ++i)
      for (int k = 0; k < engine.segments_[i].n; ++k)
        if (const int slot = G.slot(row, engine.segments_[i].v0 + k); slot >= 0) G.values()[slot] = 0;
  }
}

}  // namespace clatter
