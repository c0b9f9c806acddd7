#include "engine/derivatives.hpp"

#include <algorithm>

#include "model/expression.hpp"

namespace clatter {

namespace {

void append(std::vector<int>& to, const std::vector<int>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

int Derivatives::pair_of(int a, int b) const {
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    if (pairs_[i].a == a && pairs_[i].b == b) return static_cast<int>(i);
  return -1;
}

std::vector<int> Derivatives::measure_columns(const System& sys, int measure) const {
  const Measure& m = sys.measures[measure];
  if (m.velocity >= 0) return {m.velocity};
  std::vector<int> columns;
  if (m.block >= 0) {
    const TreeRange& range = sys.tree.trees[sys.tree.rigid_trees + m.block];
    for (int v = range.v0; v < range.v1; ++v) columns.push_back(v);
    return columns;
  }
  for (const int frame : {m.a, m.b})
    if (sys.frames[frame].link >= 0) append(columns, sys.tree.path[sys.frames[frame].link]);
  return columns;
}

std::vector<int> Derivatives::deformation_columns(const System& sys, const Deformation& d) const {
  std::vector<int> columns;
  for (int k = 0; k < d.count; ++k) append(columns, measure_columns(sys, d.terms[k].measure));
  return columns;
}

std::vector<int> Derivatives::input_columns(const System& sys, const CompiledFunction& f) const {
  std::vector<int> columns;
  for (const FunctionInput& in : f.inputs)
    if (in.kind == FunctionInput::Kind::value || in.kind == FunctionInput::Kind::rate)
      append(columns, measure_columns(sys, in.index));
  return columns;
}

Derivatives::Derivatives(const Engine& engine) : tree_(engine.system().tree) {
  const System& sys = engine.system();
  const int nv = sys.sizes.nv, nz = sys.sizes.nz, nc = sys.sizes.nc();
  find_rows_on_trees(engine);

  rows_.resize(sys.measures.size());
  for (std::size_t i = 0; i < sys.measures.size(); ++i) {
    if (!sys.measure_active[i]) continue;
    const Measure& m = sys.measures[i];
    MeasureRows& r = rows_[i];
    r.columns = measure_columns(sys, static_cast<int>(i));
    r.g.resize(r.columns.size());
    r.zq.resize(r.columns.size());
    r.aq.resize(r.columns.size());
    r.av.resize(r.columns.size());
    if (m.velocity >= 0 || m.block >= 0) continue;
    r.pair = pair_of(m.a, m.b);
    if (r.pair >= 0) continue;
    r.pair = static_cast<int>(pairs_.size());
    FramePair pair;
    pair.a = m.a;
    pair.b = m.b;
    pair.columns = r.columns;
    const int la = sys.frames[m.a].link, lb = sys.frames[m.b].link;
    pair.na = la < 0 ? 0 : static_cast<int>(sys.tree.path[la].size());
    pair.A.reserve(pair.na);
    pair.B.reserve(lb < 0 ? 0 : static_cast<int>(sys.tree.path[lb].size()));
    pairs_.push_back(std::move(pair));
  }
  point_.reserve(tree_.longest_path());
  turning_.reserve(tree_.longest_path());

  PatternBuilder P(nv, nv), G(nc, nv), Rz(nv, nz), F(nz, nv), Fz(nz, nz);
  P.add_diagonal();
  std::vector<std::vector<VelocityRun>> runs;
  for (std::size_t k = 0; k < sys.tree.blocks.size(); ++k) {
    const TreeRange& range = sys.tree.trees[sys.tree.rigid_trees + k];
    const int n = range.v1 - range.v0;
    runs.push_back(sys.tree.blocks[k]->runs());
    if (runs.back().empty()) runs.back().assign(n, {0, n});
    for (int j = 0; j < n; ++j) {
      const VelocityRun& run = runs.back()[j];
      for (int i = run.first; i < run.first + run.count; ++i) P.add(range.v0 + i, range.v0 + j);
    }
  }
  for (int l = 0; l < sys.tree.rigid_links; ++l) {
    const std::vector<int>& path = sys.tree.path[l];
    const std::vector<int> own(path.end() - sys.tree.links[l].nv, path.end());
    P.add_block(own, path);
    P.add_block(path, own);
  }
  for (const FramePair& pair : pairs_) P.add_block(pair.columns, pair.columns);
  const auto coupling = [&](const std::vector<int>& columns, const CompiledFunction& f) {
    P.add_block(columns, input_columns(sys, f));
    for (const FunctionInput& in : f.inputs)
      if (in.kind == FunctionInput::Kind::state)
        for (const int c : columns) Rz.add(c, in.index);
  };
  const auto inner = [&](int z, const std::vector<int>& columns) {
    for (const int c : columns) F.add(z, c);
  };
  if (nz > 0) Fz.add_diagonal();
  for (const int i : sys.elastic) {
    const Deformation& d = sys.deformations[i];
    const std::vector<int> columns = deformation_columns(sys, d);
    P.add_block(columns, columns);
    if (d.stress == Deformation::Stress::formula) coupling(columns, d.formula);
    if (d.stress == Deformation::Stress::actuator) {
      for (const int c : columns) Rz.add(c, d.z);
      inner(d.z, columns);
      inner(d.z, input_columns(sys, d.formula));
      for (const FunctionInput& in : d.formula.inputs)
        if (in.kind == FunctionInput::Kind::state) Fz.add(d.z, in.index);
    }
  }
  for (const CompiledLoad& load : sys.loads)
    for (const int frame : {load.frame, load.reaction}) {
      if (frame < 0 || sys.frames[frame].link < 0) continue;
      const std::vector<int>& path = sys.tree.path[sys.frames[frame].link];
      P.add_block(path, path);
      if (load.follower && sys.frames[load.frame].link >= 0)
        P.add_block(path, sys.tree.path[sys.frames[load.frame].link]);
      for (const CompiledFunction& f : load.component) coupling(path, f);
    }
  for (const int m : sys.turning) inner(sys.measures[m].turns, measure_columns(sys, m));
  for (int r = 0; r < nc; ++r) {
    const Deformation& d = sys.deformations[r < sys.sizes.nh ? sys.holonomic[r] : sys.nonholonomic[r - sys.sizes.nh]];
    const std::vector<int> columns = deformation_columns(sys, d);
    for (const int c : columns) G.add(r, c);
    P.add_block(columns, columns);
  }
  pattern_ = P.build();
  pattern_G_ = G.build();
  pattern_Rz_ = Rz.build();
  pattern_F_ = F.build();
  pattern_Fz_ = Fz.build();
  for (FramePair& pair : pairs_) {
    pair.slots.reserve(pair.columns.size() * pair.columns.size());
    for (const int i : pair.columns)
      for (const int j : pair.columns) pair.slots.push_back(pattern_->slot(i, j));
  }
  // The rows of a run stand one after the other in the pattern's column.
  std::size_t largest_block = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const int v0 = sys.tree.trees[sys.tree.rigid_trees + k].v0;
    std::vector<BlockColumn>& columns = block_columns_.emplace_back();
    std::size_t values = 0;
    for (std::size_t j = 0; j < runs[k].size(); ++j) {
      const VelocityRun& run = runs[k][j];
      columns.push_back({pattern_->slot(v0 + run.first, v0 + static_cast<int>(j)), run.count});
      values += static_cast<std::size_t>(run.count);
    }
    largest_block = std::max(largest_block, values);
  }
  for (std::vector<double>* m : {&block_M_, &block_C_, &block_K_}) m->resize(largest_block);
  const std::size_t longest = 8 * static_cast<std::size_t>(tree_.longest_path()) + 8;
  for (Composite* c : {&composite_, &other_}) {
    c->columns.reserve(longest);
    c->g.reserve(longest);
    c->zq.reserve(longest);
  }
}

Tangents Derivatives::layout() const {
  using Matrix = SparseMatrix<double>;
  return {Matrix(pattern_),   Matrix(pattern_),   Matrix(pattern_),    Matrix(pattern_Rz_),
          Matrix(pattern_F_), Matrix(pattern_F_), Matrix(pattern_Fz_), Matrix(pattern_G_),
          Matrix(pattern_G_), Matrix(pattern_G_), Matrix(pattern_G_)};
}

// Frame columns of every pair, then the velocity-space rows of every active measure.
void Derivatives::measures(Engine& engine, bool accelerations) {
  const System& sys = engine.system();
  const auto point = [&](int frame, TreeTangent::PointColumns& out) {
    const int link = sys.frames[frame].link;
    out.n = 0;
    if (link >= 0) tree_.point(link, engine.frames_[frame].p, engine.frames_[frame].v, out);
  };
  for (FramePair& pair : pairs_) {
    point(pair.a, pair.A);
    point(pair.b, pair.B);
    pair.used = false;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    MeasureRows& r = rows_[i];
    if (r.columns.empty()) continue;
    const Measure& m = sys.measures[i];
    if (m.velocity >= 0) {
      r.g[0] = m.rate_scale;
      r.zq[0] = r.aq[0] = r.av[0] = 0;
      continue;
    }
    if (m.block >= 0) {
      tree_.block_row(m.block, m.row, r.g.data(), r.zq.data(), r.aq.data(), r.av.data());
      continue;
    }
    measure_tangent(m.kind, m.params, engine.frames_[m.a], engine.frames_[m.b], r.t);
    const FramePair& pair = pairs_[r.pair];
    const auto fill = [&](const TreeTangent::PointColumns& P, int first, int offset) {
      const Vec6 g = r.t.g.segment<6>(offset), de_x = r.t.de_x.segment<6>(offset);
      const Vec6 bias_x = r.t.bias_x.segment<6>(offset), bias_xi = r.t.bias_xi.segment<6>(offset);
      for (int k = 0; k < P.n; ++k) {
        r.g[first + k] = P.J.col(k).dot(g);
        r.zq[first + k] = P.J.col(k).dot(de_x) + P.Zq.col(k).dot(g);
        if (!accelerations) continue;
        r.aq[first + k] = P.J.col(k).dot(bias_x) + P.Zq.col(k).dot(bias_xi) + P.Aq.col(k).dot(g);
        r.av[first + k] = P.J.col(k).dot(bias_xi) + P.Av.col(k).dot(g);
      }
    };
    fill(pair.A, 0, 0);
    fill(pair.B, pair.na, 6);
  }
}

void Derivatives::compose(const Engine& engine, const Deformation& d, Composite& c) const {
  c.clear();
  double factors[4];
  engine.gradient_factors(d, factors);
  for (int k = 0; k < d.count; ++k) {
    const MeasureRows& r = rows_[d.terms[k].measure];
    for (std::size_t i = 0; i < r.columns.size(); ++i) {
      c.columns.push_back(r.columns[i]);
      c.g.push_back(factors[k] * r.g[i]);
      c.zq.push_back(factors[k] * r.zq[i]);
    }
  }
  if (!d.nonlinear) return;
  double fxx, fxy, fyy;
  engine.curvature_factors(d, fxx, fxy, fyy);
  const MeasureRows &x = rows_[d.terms[0].measure], &y = rows_[d.terms[1].measure];
  const double dx = engine.measures_[d.terms[0].measure].de, dy = engine.measures_[d.terms[1].measure].de;
  for (std::size_t i = 0; i < x.columns.size(); ++i) c.zq[i] += (fxx * dx + fxy * dy) * x.g[i];
  for (std::size_t i = 0; i < y.columns.size(); ++i) c.zq[x.columns.size() + i] += (fxy * dx + fyy * dy) * y.g[i];
}

void Derivatives::add_hessian(const Engine& engine, const Deformation& d, double kappa, Tangents& out) {
  double factors[4];
  engine.gradient_factors(d, factors);
  for (int k = 0; k < d.count; ++k) {
    const MeasureRows& r = rows_[d.terms[k].measure];
    if (r.pair < 0) continue;
    FramePair& pair = pairs_[r.pair];
    if (!pair.used) {
      pair.H.setZero();
      pair.used = true;
    }
    const double c = kappa * factors[k];
    pair.H += c * r.t.H;
    pair.H.block<3, 3>(3, 0) -= c * skew<double>(r.t.g.segment<3>(0));
    pair.H.block<3, 3>(9, 6) -= c * skew<double>(r.t.g.segment<3>(6));
  }
  if (!d.nonlinear) return;
  double f[2][2];
  engine.curvature_factors(d, f[0][0], f[0][1], f[1][1]);
  f[1][0] = f[0][1];
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      if (f[a][b] == 0) continue;
      const MeasureRows &x = rows_[d.terms[a].measure], &y = rows_[d.terms[b].measure];
      for (std::size_t i = 0; i < x.columns.size(); ++i)
        for (std::size_t j = 0; j < y.columns.size(); ++j)
          out.K.add(x.columns[i], y.columns[j], kappa * f[a][b] * x.g[i] * y.g[j]);
    }
}

void Derivatives::outer_inputs(const CompiledFunction& f, const double* gradient, const std::vector<int>& columns,
                               const std::vector<double>& values, const Composite* own, Tangents& out) const {
  for (std::size_t k = 0; k < f.inputs.size(); ++k) {
    const FunctionInput& in = f.inputs[k];
    const double df = gradient[k];
    if (df == 0 || in.kind == FunctionInput::Kind::time) continue;
    const bool own_input = in.kind == FunctionInput::Kind::own_value || in.kind == FunctionInput::Kind::own_rate;
    const bool rate = in.kind == FunctionInput::Kind::rate || in.kind == FunctionInput::Kind::own_rate;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double x = values[i] * df;
      if (x == 0) continue;
      if (in.kind == FunctionInput::Kind::state) {
        out.Rz.add(columns[i], in.index, x);
        continue;
      }
      const std::vector<int>& cols = own_input ? own->columns : rows_[in.index].columns;
      const std::vector<double>& g = own_input ? own->g : rows_[in.index].g;
      const std::vector<double>& zq = own_input ? own->zq : rows_[in.index].zq;
      for (std::size_t j = 0; j < cols.size(); ++j) {
        out.K.add(columns[i], cols[j], x * (rate ? zq[j] : g[j]));
        if (rate) out.C.add(columns[i], cols[j], x * g[j]);
      }
    }
  }
}

// The residual holds +sigma grad(e).
void Derivatives::stress(Engine& engine, const Deformation& d, const State& s, Tangents& out) {
  const Engine::DeformationValue value = engine.deformation_value(d, s);
  compose(engine, d, composite_);
  double sigma = 0;
  if (d.stress == Deformation::Stress::actuator) {
    sigma = -d.gain * s.z[d.z];
    for (std::size_t i = 0; i < composite_.columns.size(); ++i)
      out.Rz.add(composite_.columns[i], d.z, -d.gain * composite_.g[i]);
  } else if (d.stress == Deformation::Stress::formula) {
    sigma = d.formula.constant;
    if (!d.formula.is_constant()) {
      double x[Expression::max_variables], gradient[Expression::max_variables];
      const std::size_t n = d.formula.inputs.size();
      for (std::size_t k = 0; k < n; ++k) x[k] = engine.input_value(d.formula.inputs[k], s, value.e, value.rate);
      sigma = d.formula.expression->gradient({x, n}, {gradient, n});
      outer_inputs(d.formula, gradient, composite_.columns, composite_.g, &composite_, out);
    }
  } else {
    const LawValue law = evaluate_law(d.law, engine.system().law_tables, value.e, value.rate);
    sigma = law.sigma;
    const Composite& c = composite_;
    for (std::size_t i = 0; i < c.columns.size(); ++i)
      for (std::size_t j = 0; j < c.columns.size(); ++j) {
        out.K.add(c.columns[i], c.columns[j], c.g[i] * (law.d_sigma_de * c.g[j] + law.d_sigma_dde * c.zq[j]));
        if (law.d_sigma_dde != 0) out.C.add(c.columns[i], c.columns[j], c.g[i] * law.d_sigma_dde * c.g[j]);
      }
  }
  if (sigma != 0) add_hessian(engine, d, sigma, out);
}

void Derivatives::load(Engine& engine, const CompiledLoad& load, int frame, double sign, const State& s,
                       Tangents& out) {
  const System& sys = engine.system();
  const int link = sys.frames[frame].link;
  if (link < 0) return;
  const std::vector<int>& path = sys.tree.path[link];
  tree_.point(link, engine.frames_[frame].p, engine.frames_[frame].v, point_);
  const Vec3 f = sign * engine.load_vector(load, s);
  const Mat3 fs = skew<double>(f);
  // Lever arm (forces only) and turning with the frame (followers).
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec3 angular = point_.J.col(i).tail<3>();
    if (!load.torque)
      for (std::size_t j = 0; j < path.size(); ++j)
        out.K.add(path[i], path[j], angular.dot(fs * point_.J.col(j).head<3>()));
  }
  if (load.follower) {
    // f turns with the frame of the load itself, also where it reacts.
    const int carrier = sys.frames[load.frame].link;
    if (carrier >= 0) {
      const std::vector<int>& turning = sys.tree.path[carrier];
      tree_.point(carrier, engine.frames_[load.frame].p, engine.frames_[load.frame].v, turning_);
      for (std::size_t c = 0; c < turning.size(); ++c) {
        const int j = turning[c];
        const Vec3 df = turning_.J.col(static_cast<Eigen::Index>(c)).tail<3>().cross(f);
        for (std::size_t i = 0; i < path.size(); ++i) {
          const double work = load.torque ? point_.J.col(i).tail<3>().dot(df) : point_.J.col(i).head<3>().dot(df);
          out.K.add(path[i], j, -work);
        }
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    const CompiledFunction& function = load.component[k];
    if (function.is_constant()) continue;
    const Vec3 direction = load.follower ? Vec3(engine.frames_[load.frame].R.col(k)) : Vec3(Vec3::Unit(k));
    other_.clear();
    for (std::size_t i = 0; i < path.size(); ++i)
      other_.g.push_back(-sign * (load.torque ? point_.J.col(i).tail<3>() : point_.J.col(i).head<3>()).dot(direction));
    double x[Expression::max_variables], gradient[Expression::max_variables];
    const std::size_t n = function.inputs.size();
    for (std::size_t m = 0; m < n; ++m) x[m] = engine.input_value(function.inputs[m], s, 0, 0);
    function.expression->gradient({x, n}, {gradient, n});
    outer_inputs(function, gradient, path, other_.g, nullptr, out);
  }
}

void Derivatives::blocks(Engine& engine, const Vec& lambda, Tangents& out) {
  const System& sys = engine.system();
  for (const FlexibleIndex& f : sys.flexible) {
    const auto k = static_cast<std::size_t>(f.block);
    double multipliers[6];
    if (f.row >= 0)
      for (int i = 0; i < 6; ++i) multipliers[i] = lambda[sys.deformations[static_cast<std::size_t>(f.row + i)].row];
    tree_.block(f.block, engine.F_, engine.N_, f.row >= 0 ? multipliers : nullptr, block_M_.data(), block_C_.data(),
                block_K_.data());
    auto M = out.M.values(), C = out.C.values(), K = out.K.values();
    std::size_t from = 0;
    for (const BlockColumn& column : block_columns_[k]) {
      const std::size_t slot = static_cast<std::size_t>(column.slot), count = static_cast<std::size_t>(column.count);
      for (std::size_t i = 0; i < count; ++i) {
        M[slot + i] += block_M_[from + i];
        C[slot + i] += block_C_[from + i];
        K[slot + i] += block_K_[from + i];
      }
      from += count;
    }
  }
}

void Derivatives::inner_states(Engine& engine, const State& s, Tangents& out) {
  const System& sys = engine.system();
  for (const int m : sys.turning) {
    const MeasureRows& r = rows_[m];
    for (std::size_t i = 0; i < r.columns.size(); ++i) {
      out.Fq.add(sys.measures[m].turns, r.columns[i], r.zq[i]);
      out.Fv.add(sys.measures[m].turns, r.columns[i], r.g[i]);
    }
  }
  for (const int index : sys.elastic) {
    const Deformation& d = sys.deformations[index];
    if (d.stress != Deformation::Stress::actuator) continue;
    const double rate = 1 / d.time_constant;
    out.Fz.add(d.z, d.z, -rate);
    if (d.formula.is_constant()) continue;
    const Engine::DeformationValue value = engine.deformation_value(d, s);
    compose(engine, d, composite_);
    double x[Expression::max_variables], gradient[Expression::max_variables];
    const std::size_t n = d.formula.inputs.size();
    for (std::size_t k = 0; k < n; ++k) x[k] = engine.input_value(d.formula.inputs[k], s, value.e, value.rate);
    d.formula.expression->gradient({x, n}, {gradient, n});
    for (std::size_t k = 0; k < n; ++k) {
      const FunctionInput& in = d.formula.inputs[k];
      const double df = gradient[k] * rate;
      if (in.kind == FunctionInput::Kind::time) continue;
      if (in.kind == FunctionInput::Kind::state) {
        out.Fz.add(d.z, in.index, df);
        continue;
      }
      const bool own = in.kind == FunctionInput::Kind::own_value || in.kind == FunctionInput::Kind::own_rate;
      const bool is_rate = in.kind == FunctionInput::Kind::rate || in.kind == FunctionInput::Kind::own_rate;
      const std::vector<int>& cols = own ? composite_.columns : rows_[in.index].columns;
      const std::vector<double>& g = own ? composite_.g : rows_[in.index].g;
      const std::vector<double>& zq = own ? composite_.zq : rows_[in.index].zq;
      for (std::size_t j = 0; j < cols.size(); ++j) {
        out.Fq.add(d.z, cols[j], df * (is_rate ? zq[j] : g[j]));
        if (is_rate) out.Fv.add(d.z, cols[j], df * g[j]);
      }
    }
  }
}

void Derivatives::constraints(Engine& engine, Tangents& out) {
  const System& sys = engine.system();
  for (int row = 0; row < sys.sizes.nc(); ++row) {
    const Deformation& d = engine.row_deformation(row);
    double factors[4];
    engine.gradient_factors(d, factors);
    for (int k = 0; k < d.count; ++k) {
      const MeasureRows& r = rows_[d.terms[k].measure];
      for (std::size_t i = 0; i < r.columns.size(); ++i) {
        const int slot = out.G.slot(row, r.columns[i]);
        out.G.values()[slot] += factors[k] * r.g[i];
        out.Vq.values()[slot] += factors[k] * r.zq[i];
        out.Aq.values()[slot] += factors[k] * r.aq[i];
        out.Av.values()[slot] += factors[k] * r.av[i];
      }
    }
    if (!d.nonlinear) continue;
    // dde = f_i ddm_i + f_ij dm_i dm_j
    double f[2][2];
    engine.curvature_factors(d, f[0][0], f[0][1], f[1][1]);
    f[1][0] = f[0][1];
    double third[2];
    engine.curve_third(d, third);  // f_ijk dm_i dm_j
    for (int a = 0; a < 2; ++a) {
      const MeasureRows& x = rows_[d.terms[a].measure];
      const double dm[2] = {engine.measures_[d.terms[0].measure].de, engine.measures_[d.terms[1].measure].de};
      const double ddm[2] = {engine.measures_[d.terms[0].measure].bias, engine.measures_[d.terms[1].measure].bias};
      const double first = f[a][0] * dm[0] + f[a][1] * dm[1];
      const double second = f[a][0] * ddm[0] + f[a][1] * ddm[1] + third[a];
      for (std::size_t i = 0; i < x.columns.size(); ++i) {
        const int slot = out.G.slot(row, x.columns[i]);
        out.Vq.values()[slot] += first * x.g[i];
        out.Aq.values()[slot] += second * x.g[i] + 2 * first * x.zq[i];
        out.Av.values()[slot] += 2 * first * x.g[i];
      }
    }
  }
  empty_held_rows(engine, out.G);
}

void Derivatives::evaluate(Engine& engine, const State& s, const Vec& lambda, Tangents& out) {
  const System& sys = engine.system();
  for (SparseMatrix<double>* m :
       {&out.M, &out.C, &out.K, &out.Rz, &out.Fq, &out.Fv, &out.Fz, &out.G, &out.Vq, &out.Aq, &out.Av})
    m->set_zero();
  // Everything applied, as wrenches on links: their columns turn. Blocks keep the pressures on them.
  engine.apply_forces(s, false);
  tree_.update(engine.work_, sys.model.gravity);
  for (int r = 0; r < sys.sizes.nc(); ++r) engine.add_gradient(engine.row_deformation(r), lambda[r]);
  auto M = out.M.values(), C = out.C.values(), K = out.K.values();
  tree_.assemble(engine.F_, engine.N_, [&](int i, int j, double m, double c, double k) {
    const int slot = pattern_->slot(i, j);
    M[slot] += m;
    C[slot] += c;
    K[slot] += k;
  });
  blocks(engine, lambda, out);

  measures(engine, sys.sizes.nc() > 0);
  for (const int i : sys.elastic) stress(engine, sys.deformations[i], s, out);
  for (int r = 0; r < sys.sizes.nc(); ++r)
    if (lambda[r] != 0) add_hessian(engine, engine.row_deformation(r), -lambda[r], out);
  for (FramePair& pair : pairs_) {
    if (!pair.used) continue;
    const int n = static_cast<int>(pair.columns.size()), na = pair.na;
    for (int j = 0; j < n; ++j) {
      const bool in_a = j < na;
      const Vec6 x = in_a ? Vec6(pair.A.J.col(j)) : Vec6(pair.B.J.col(j - na));
      const Eigen::Matrix<double, 12, 1> Hx = pair.H.middleCols<6>(in_a ? 0 : 6) * x;
      for (int i = 0; i < n; ++i)
        K[pair.slots[i * n + j]] += i < na ? pair.A.J.col(i).dot(Hx.head<6>()) : pair.B.J.col(i - na).dot(Hx.tail<6>());
    }
  }
  for (const CompiledLoad& l : sys.loads) {
    load(engine, l, l.frame, 1, s, out);
    if (l.reaction >= 0) load(engine, l, l.reaction, -1, s, out);
  }
  inner_states(engine, s, out);
  constraints(engine, out);
}

}  // namespace clatter
