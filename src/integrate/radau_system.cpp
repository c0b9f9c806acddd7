#include "integrate/radau_system.hpp"

#include <Eigen/LU>

namespace clatter {

namespace {

constexpr double kRegularisation = 1e-8;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Calls visit(row, col, slot) for all entries.
template <class Visit>
void for_entries(const Pattern& A, Visit&& visit) {
  for (int j = 0; j < A.cols(); ++j) {
    for (int k = A.col_start()[at(j)]; k < A.col_start()[at(j) + 1]; ++k) visit(A.row_index()[at(k)], j, k);
  }
}

// y += sign A x, rows below `rows` only.
template <class Scalar>
void add_product(const SparseMatrix<double>& A, const VecOf<Scalar>& x, double sign, Scalar* y, int rows) {
  const std::span<const double> values = A.values();
  for_entries(A.pattern(), [&](int i, int j, int k) {
    if (i < rows) y[i] += sign * values[at(k)] * x[j];
  });
}

}  // namespace

template <class Scalar>
void RadauVector<Scalar>::resize(const Sizes& n) {
  u.setZero(n.nv);
  v.setZero(n.nv);
  z.setZero(n.nz);
  w.setZero(n.nc());
  p.setZero(n.nh);
}

template <class Scalar>
void RadauVector<Scalar>::set_zero() {
  u.setZero();
  v.setZero();
  z.setZero();
  w.setZero();
  p.setZero();
}

template <class Scalar>
void RadauSystem<Scalar>::Product::declare(PatternBuilder& builder, const Pattern& A, const Pattern& Nt, int row0,
                                           int col0, int rows, int nh) const {
  for_entries(A, [&](int i, int j, int) {
    if (i >= rows) return;
    for (int k = Nt.col_start()[at(j)]; k < Nt.col_start()[at(j) + 1]; ++k) {
      const int m = Nt.row_index()[at(k)];
      if (m < nh) builder.add(row0 + i, col0 + m);
    }
  });
}

template <class Scalar>
void RadauSystem<Scalar>::Product::find(const Pattern& whole, const Pattern& A, const Pattern& Nt, int row0, int col0,
                                        int rows, int nh) {
  for_entries(A, [&](int i, int j, int slot) {
    if (i >= rows) return;
    for (int k = Nt.col_start()[at(j)]; k < Nt.col_start()[at(j) + 1]; ++k) {
      const int m = Nt.row_index()[at(k)];
      if (m < nh) terms.push_back({slot, k, whole.slot(row0 + i, col0 + m)});
    }
  });
}

template <class Scalar>
void RadauSystem<Scalar>::Product::add(std::span<Scalar> whole, const SparseMatrix<double>& A,
                                       const SparseMatrix<Scalar>& Nt, double sign) const {
  const std::span<const double> a = A.values();
  const std::span<const Scalar> n = Nt.values();
  for (const auto& [sa, sn, sx] : terms) whole[at(sx)] += sign * a[at(sa)] * n[at(sn)];
}

template <class Scalar>
PatternPtr RadauSystem<Scalar>::turned_rows(const Tangents& layout, const Sizes& n, const RotationIndex& rotations) {
  PatternBuilder builder(n.nc(), n.nv);
  BlockMap::declare(builder, layout.G.pattern(), 0, 0, &rotations);
  return builder.build();
}

template <class Scalar>
PatternPtr RadauSystem<Scalar>::make_pattern(const Tangents& layout) const {
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc(), nh = n_.nh;
  const int row_w = nv + nz, row_p = row_w + nc, size = row_p + nh;
  PatternBuilder builder(size, size);
  builder.add_diagonal();
  BlockMap::declare(builder, layout.M.pattern(), 0, 0, nullptr);
  BlockMap::declare(builder, layout.M.pattern(), 0, 0, &rotation_index_);
  BlockMap::declare(builder, layout.Rz.pattern(), 0, nv, nullptr);
  BlockMap::declare(builder, layout.G.pattern(), 0, row_w, nullptr, true);
  BlockMap::declare(builder, layout.Fq.pattern(), nv, 0, &rotation_index_);
  BlockMap::declare(builder, layout.Fv.pattern(), nv, 0, nullptr);
  BlockMap::declare(builder, layout.Fz.pattern(), nv, nv, nullptr);
  BlockMap::declare(builder, layout.G.pattern(), row_w, 0, &rotation_index_);
  for_entries(*turned_, [&](int i, int j, int) {
    if (i < nh) builder.add(row_p + i, j);
  });
  KN_.declare(builder, layout.K.pattern(), *turned_, 0, row_p, nv, nh);
  FqN_.declare(builder, layout.Fq.pattern(), *turned_, nv, row_p, nz, nh);
  VqN_.declare(builder, layout.G.pattern(), *turned_, row_w, row_p, nc, nh);
  GhN_.declare(builder, layout.G.pattern(), *turned_, row_p, row_p, nh, nh);
  return builder.build();
}

template <class Scalar>
RadauSystem<Scalar>::RadauSystem(const Dynamics& dynamics, const Vec& u_scale)
    : RadauSystem(dynamics.sizes(), {dynamics.rotation_blocks().begin(), dynamics.rotation_blocks().end()},
                  dynamics.tangent_layout(), u_scale.cwiseAbs2()) {}

template <class Scalar>
RadauSystem<Scalar>::RadauSystem(const Sizes& n, std::vector<int> rotations, const Tangents& layout, const Vec& D)
    : n_(n),
      of_(layout.M.pattern_ptr()),
      rotations_(std::move(rotations)),
      rotation_index_(n_.nv, rotations_),
      D_(D),
      turned_(turned_rows(layout, n_, rotation_index_)),
      pattern_(make_pattern(layout)),
      GD_(layout.G.pattern_ptr()),
      Nt_(turned_),
      matrix_(pattern_),
      solver_(pattern_),
      map_M_(*pattern_, layout.M.pattern(), 0, 0, &rotation_index_),
      map_Rz_(*pattern_, layout.Rz.pattern(), 0, n_.nv, nullptr),
      map_Gt_(*pattern_, layout.G.pattern(), 0, n_.nv + n_.nz, nullptr, true),
      map_Fq_(*pattern_, layout.Fq.pattern(), n_.nv, 0, &rotation_index_),
      map_Fv_(*pattern_, layout.Fv.pattern(), n_.nv, 0, nullptr),
      map_Fz_(*pattern_, layout.Fz.pattern(), n_.nv, n_.nv, nullptr),
      map_G_(*pattern_, layout.G.pattern(), n_.nv + n_.nz, 0, &rotation_index_),
      map_Nt_(*turned_, layout.G.pattern(), 0, 0, &rotation_index_) {
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc(), nh = n_.nh;
  const int row_w = nv + nz, row_p = row_w + nc;
  KN_.find(*pattern_, layout.K.pattern(), *turned_, 0, row_p, nv, nh);
  FqN_.find(*pattern_, layout.Fq.pattern(), *turned_, nv, row_p, nz, nh);
  VqN_.find(*pattern_, layout.G.pattern(), *turned_, row_w, row_p, nc, nh);
  GhN_.find(*pattern_, layout.G.pattern(), *turned_, row_p, row_p, nh, nh);
  for_entries(*turned_,
              [&](int i, int j, int) { position_slot_.push_back(i < nh ? pattern_->slot(row_p + i, j) : -1); });
  for (int i = 0; i < row_p + nh; ++i) diagonal_.push_back(pattern_->slot(i, i));
  for (const int i : rotations_) {
    // One weight a rotation block, so that D and P commute.
    const double weight = D_.segment<3>(i).maxCoeff();
    D_.segment<3>(i).setConstant(weight);
  }
  P_.blocks.resize(rotations_.size());
  Pt_.blocks.resize(rotations_.size());
  Pu_.setZero(nv);
  work_.setZero(nv);
  rhs_.setZero(row_p + nh);
  schur_.setZero(nc);
}

template <class Scalar>
bool RadauSystem<Scalar>::factorize(Scalar sigma, const Tangents& tangents, const Vec& v) {
  if (tangents.M.pattern_ptr() != of_) {
    const std::vector<char> redundant = std::move(redundant_);
    *this = RadauSystem(n_, rotations_, tangents, D_);
    redundant_ = redundant;
  }
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc(), nh = n_.nh;
  const int row_w = nv + nz, row_p = row_w + nc;
  P_.p = Pt_.p = 1.0 / sigma;
  for (std::size_t b = 0; b < rotations_.size(); ++b) {
    using Block = Eigen::Matrix<Scalar, 3, 3>;
    const Vec3 omega = v.segment<3>(rotations_[b]);
    const Block A = sigma * Block::Identity() + (0.5 * skew(omega)).template cast<Scalar>();
    const Block inverse = A.inverse();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) P_.blocks[b][at(i)][at(j)] = Pt_.blocks[b][at(j)][at(i)] = inverse(i, j);
    }
  }
  matrix_.set_zero();
  const std::span<Scalar> x = matrix_.values();
  map_M_.add(x, tangents.M, sigma);
  map_M_.add(x, tangents.C, Scalar(1));
  map_M_.add_turned(x, tangents.K, P_, Scalar(1));
  map_Rz_.add(x, tangents.Rz, Scalar(1));
  map_Gt_.add(x, tangents.directions(), Scalar(-1));
  map_Fv_.add(x, tangents.Fv, Scalar(-1));
  map_Fq_.add_turned(x, tangents.Fq, P_, Scalar(-1));
  map_Fz_.add(x, tangents.Fz, Scalar(-1));
  for (int i = nv; i < nv + nz; ++i) x[at(diagonal_[at(i)])] += sigma;
  map_G_.add(x, tangents.G, Scalar(1));
  map_G_.add_turned(x, tangents.Vq, P_, Scalar(1));
  if (nh > 0) {
    // Gh P, through the work matrix that then takes N^T = Gh D P^T.
    Nt_.set_zero();
    map_Nt_.add_turned(Nt_.values(), tangents.G, P_, Scalar(1));
    for (std::size_t k = 0; k < position_slot_.size(); ++k) {
      if (position_slot_[k] >= 0) x[at(position_slot_[k])] += Nt_.values()[k];
    }
    for_entries(tangents.G.pattern(),
                [&](int, int j, int k) { GD_.values()[at(k)] = D_[j] * tangents.G.values()[at(k)]; });
    Nt_.set_zero();
    map_Nt_.add_turned(Nt_.values(), GD_, Pt_, Scalar(1));
    KN_.add(x, tangents.K, Nt_, 1);
    FqN_.add(x, tangents.Fq, Nt_, -1);
    VqN_.add(x, tangents.Vq, Nt_, 1);
    GhN_.add(x, tangents.G, Nt_, 1);
  }
  schur_.setZero();
  for_entries(tangents.G.pattern(), [&](int i, int j, int k) {
    const Scalar pivot = x[at(diagonal_[at(j)])];
    const double g = tangents.G.values()[at(k)];
    if (std::abs(pivot) > 0) schur_[i] += g * g / pivot;
  });
  for (int i = 0; i < nc; ++i) {
    x[at(diagonal_[at(row_w + i)])] += std::abs(schur_[i]) > 0 ? kRegularisation * schur_[i] : Scalar(1);
  }
  for (int i = 0; i < nh; ++i) {
    Scalar& entry = x[at(diagonal_[at(row_p + i)])];
    entry = std::abs(entry) > 0 ? (1 + kRegularisation) * entry : Scalar(1);
  }
  if (!redundant_.empty()) {
    const auto out = [&](int i) {
      return i >= row_p ? redundant_[at(i - row_p)] != 0 : i >= row_w && redundant_[at(i - row_w)] != 0;
    };
    for_entries(*pattern_, [&](int i, int j, int k) {
      if (out(i) || out(j)) x[at(k)] = i == j ? Scalar(1) : Scalar(0);
    });
  }
  solver_.factorize(matrix_);
  return !solver_.singular();
}

template <class Scalar>
void RadauSystem<Scalar>::apply_P(const VecOf<Scalar>& x, VecOf<Scalar>& y) const {
  y = P_.p * x;
  for (std::size_t b = 0; b < rotations_.size(); ++b) {
    const int first = rotations_[b];
    for (int i = 0; i < 3; ++i) {
      const auto& row = P_.blocks[b][at(i)];
      y[first + i] = row[0] * x[first] + row[1] * x[first + 1] + row[2] * x[first + 2];
    }
  }
}

template <class Scalar>
void RadauSystem<Scalar>::solve(const Tangents& tangents, RadauVector<Scalar>& x) {
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc(), nh = n_.nh;
  const int row_w = nv + nz, row_p = row_w + nc;
  apply_P(x.u, Pu_);
  rhs_.head(nv) = x.v;
  rhs_.segment(nv, nz) = x.z;
  rhs_.segment(row_w, nc) = x.w;
  rhs_.tail(nh) = x.p;
  add_product(tangents.K, Pu_, -1, rhs_.data(), nv);
  add_product(tangents.Fq, Pu_, 1, rhs_.data() + nv, nz);
  add_product(tangents.Vq, Pu_, -1, rhs_.data() + row_w, nc);
  add_product(tangents.G, Pu_, -1, rhs_.data() + row_p, nh);
  if (!redundant_.empty()) {
    for (int i = 0; i < nc; ++i) {
      if (!redundant_[at(i)]) continue;
      rhs_[row_w + i] = 0;
      if (i < nh) rhs_[row_p + i] = 0;
    }
  }
  solver_.solve(rhs_.data());
  x.v = rhs_.head(nv);
  x.z = rhs_.segment(nv, nz);
  x.w = rhs_.segment(row_w, nc);
  x.p = rhs_.tail(nh);
  work_ = x.u + x.v;
  for_entries(tangents.G.pattern(), [&](int i, int j, int k) {
    if (i < nh) work_[j] += GD_.values()[at(k)] * x.p[i];
  });
  apply_P(work_, x.u);
}

template struct RadauVector<double>;
template struct RadauVector<std::complex<double>>;
template class RadauSystem<double>;
template class RadauSystem<std::complex<double>>;

}  // namespace clatter
