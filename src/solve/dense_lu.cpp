#include "solve/dense_lu.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "solve/pack.hpp"
#include "solve/scaling.hpp"

namespace clatter {

namespace {

double largest_of(const Pack& m) { return std::max(std::max(m[0], m[1]), std::max(m[2], m[3])); }

void abs_into(Pack& a, const Pack& v) { a = v < 0 ? -v : v; }

}  // namespace

template <class Scalar>
DenseLu<Scalar>::DenseLu(int n) : n_(n), ld_(padded(n)) {
  const Eigen::Index entries = static_cast<Eigen::Index>(ld_) * ld_;
  re_.setZero(entries);
  if constexpr (kComplex) im_.setZero(entries);
  row_scale_.setOnes(ld_);
  col_scale_.setOnes(ld_);
  row_work_.setZero(ld_);
  col_work_.setZero(ld_);
  x_re_.setZero(ld_);
  if constexpr (kComplex) x_im_.setZero(ld_);
  inverse_pivot_.assign(ld_, Scalar(1));
  exchange_.assign(ld_, 0);
}

template <class Scalar>
void DenseLu<Scalar>::clear() {
  re_.setZero();
  if constexpr (kComplex) im_.setZero();
  for (int i = n_; i < ld_; ++i) re_[static_cast<Eigen::Index>(i) * ld_ + i] = 1.0;
}

template <class Scalar>
void DenseLu<Scalar>::set(int row, int col, Scalar value) {
  const Eigen::Index place = static_cast<Eigen::Index>(col) * ld_ + row;
  if constexpr (kComplex) {
    re_[place] = value.real();
    im_[place] = value.imag();
  } else {
    re_[place] = value;
  }
}

template <class Scalar>
Scalar DenseLu<Scalar>::get(int row, int col) const {
  const Eigen::Index place = static_cast<Eigen::Index>(col) * ld_ + row;
  if constexpr (kComplex) {
    return {re_[place], im_[place]};
  } else {
    return re_[place];
  }
}

template <class Scalar>
void DenseLu<Scalar>::load(const Pattern& pattern, const Scalar* value) {
  clear();
  const int* start = pattern.col_start().data();
  const int* row = pattern.row_index().data();
  for (int j = 0; j < n_; ++j) {
    double* a = re_.data() + static_cast<Eigen::Index>(j) * ld_;
    if constexpr (kComplex) {
      double* b = im_.data() + static_cast<Eigen::Index>(j) * ld_;
      for (int k = start[j]; k < start[j + 1]; ++k) a[row[k]] = value[k].real(), b[row[k]] = value[k].imag();
    } else if (start[j + 1] - start[j] == n_) {
      std::copy(value + start[j], value + start[j + 1], a);
    } else {
      for (int k = start[j]; k < start[j + 1]; ++k) a[row[k]] = value[k];
    }
  }
}

template <class Scalar>
void DenseLu<Scalar>::load(const Scalar* A, int leading_dimension) {
  clear();
  for (int j = 0; j < n_; ++j) {
    const Scalar* column = A + static_cast<size_t>(j) * leading_dimension;
    if constexpr (kComplex) {
      for (int i = 0; i < n_; ++i) set(i, j, column[i]);
    } else {
      std::copy(column, column + n_, re_.data() + static_cast<Eigen::Index>(j) * ld_);
    }
  }
}

// Largest magnitude in each row and column; false when an entry is not a finite number.
template <class Scalar>
bool DenseLu<Scalar>::maxima(double* row_max, double* col_max) const {
  std::fill(row_max, row_max + ld_, 0.0);
  Pack check = {0, 0, 0, 0};
  for (int j = 0; j < n_; ++j) {
    const double* a = re_.data() + static_cast<Eigen::Index>(j) * ld_;
    Pack top = {0, 0, 0, 0};
    for (int i = 0; i < ld_; i += kPack) {
      Pack size;
      abs_into(size, pack(a + i));
      if constexpr (kComplex) {
        Pack imaginary;
        abs_into(imaginary, pack(im_.data() + static_cast<Eigen::Index>(j) * ld_ + i));
        size += imaginary;
      }
      check += size * 0.0;  // NaN as soon as one entry is NaN or infinite
      top = size > top ? size : top;
      Pack& row = pack(row_max + i);
      row = size > row ? size : row;
    }
    col_max[j] = largest_of(top);
  }
  return check[0] + check[1] + check[2] + check[3] == 0.0;
}

template <class Scalar>
void DenseLu<Scalar>::scale(const double* row_factor, const double* col_factor) {
  for (int j = 0; j < n_; ++j) {
    double* a = re_.data() + static_cast<Eigen::Index>(j) * ld_;
    for (int i = 0; i < ld_; i += kPack) pack(a + i) *= pack(row_factor + i) * col_factor[j];
    if constexpr (kComplex) {
      double* b = im_.data() + static_cast<Eigen::Index>(j) * ld_;
      for (int i = 0; i < ld_; i += kPack) pack(b + i) *= pack(row_factor + i) * col_factor[j];
    }
  }
  for (int i = 0; i < n_; ++i) {
    row_scale_[i] *= row_factor[i];
    col_scale_[i] *= col_factor[i];
  }
}

template <class Scalar>
void DenseLu<Scalar>::equilibrate() {
  row_scale_.setOnes();
  col_scale_.setOnes();
  double* row = row_work_.data();
  double* col = col_work_.data();
  finite_ = maxima(row, col);
  if (!finite_) return;
  double low = std::numeric_limits<double>::max(), high = 0;
  for (int i = 0; i < n_; ++i) {
    low = std::min(low, std::min(row[i], col[i]));
    high = std::max(high, std::max(row[i], col[i]));
  }
  if (high <= kScaledWellEnough * low && low > 1e-100 && high < 1e100) return;
  for (int i = 0; i < ld_; ++i) {
    row[i] = reciprocal_root_power(row[i]);
    col[i] = reciprocal_root_power(col[i]);
  }
  scale(row, col);
  maxima(row, col);
  for (int i = 0; i < ld_; ++i) {
    row[i] = reciprocal_power(row[i]);
    col[i] = 1.0;
  }
  scale(row, col);
  maxima(row, col);
  for (int i = 0; i < ld_; ++i) {
    row[i] = 1.0;
    col[i] = reciprocal_power(col[i]);
  }
  scale(row, col);
}

template <class Scalar>
int DenseLu<Scalar>::pivot_row(int p) const {
  if (p >= n_) return p;
  const double* a = re_.data() + static_cast<Eigen::Index>(p) * ld_;
  const double* b = kComplex ? im_.data() + static_cast<Eigen::Index>(p) * ld_ : nullptr;
  auto size = [&](int i) {
    if constexpr (kComplex) {
      return std::abs(a[i]) + std::abs(b[i]);
    } else {
      return std::abs(a[i]);
    }
  };
  int best = p;
  double top = size(p);
  int i = p + 1;
  for (; i < n_ && i % kPack != 0; ++i) {
    if (size(i) > top) top = size(i), best = i;
  }
  if (i >= n_) return best;
  // Surplus rows hold zeros and never win.
  Pack tops = {top, top, top, top};
  for (int k = i; k < ld_; k += kPack) {
    Pack here;
    abs_into(here, pack(a + k));
    if constexpr (kComplex) {
      Pack imaginary;
      abs_into(imaginary, pack(b + k));
      here += imaginary;
    }
    tops = here > tops ? here : tops;
  }
  const double highest = largest_of(tops);
  if (!(highest > top)) return best;
  for (; i < n_; ++i) {
    if (size(i) == highest) return i;
  }
  return best;
}

// Columns k .. k+3: exchange, divide by the pivot, and eliminate inside the panel.
template <class Scalar>
void DenseLu<Scalar>::factor_panel(int k) {
  double* re = re_.data();
  [[maybe_unused]] double* im = im_.data();
  for (int p = k; p < k + kPack; ++p) {
    const int q = pivot_row(p);
    exchange_[p] = q;
    if (q != p) {
      for (int j = k; j < k + kPack; ++j) {
        const Eigen::Index c = static_cast<Eigen::Index>(j) * ld_;
        std::swap(re[c + p], re[c + q]);
        if constexpr (kComplex) std::swap(im[c + p], im[c + q]);
      }
    }
    const Scalar pivot = get(p, p);
    const double size = magnitude(pivot);
    if (p < n_) {
      largest_pivot_ = std::max(largest_pivot_, size);
      if (size < smallest_pivot_) smallest_pivot_ = size, weakest_column_ = p;
    }
    const Scalar inverse = size > 0 ? Scalar(1) / pivot : Scalar(0);
    inverse_pivot_[p] = inverse;

    const Eigen::Index column = static_cast<Eigen::Index>(p) * ld_;
    for (int i = p + 1; i < k + kPack; ++i) set(i, p, get(i, p) * inverse);
    double* l = re + column;
    if constexpr (kComplex) {
      double* m = im + column;
      for (int i = k + kPack; i < ld_; i += kPack) {
        const Pack a = pack(l + i), b = pack(m + i);
        pack(l + i) = a * inverse.real() - b * inverse.imag();
        pack(m + i) = a * inverse.imag() + b * inverse.real();
      }
    } else {
      for (int i = k + kPack; i < ld_; i += kPack) pack(l + i) *= inverse;
    }

    for (int j = p + 1; j < k + kPack; ++j) {
      const Scalar u = get(p, j);
      for (int i = p + 1; i < k + kPack; ++i) set(i, j, get(i, j) - get(i, p) * u);
      double* a = re + static_cast<Eigen::Index>(j) * ld_;
      if constexpr (kComplex) {
        double* b = im + static_cast<Eigen::Index>(j) * ld_;
        const double* m = im + column;
        for (int i = k + kPack; i < ld_; i += kPack) {
          pack(a + i) -= pack(l + i) * u.real() - pack(m + i) * u.imag();
          pack(b + i) -= pack(l + i) * u.imag() + pack(m + i) * u.real();
        }
      } else {
        for (int i = k + kPack; i < ld_; i += kPack) pack(a + i) -= pack(l + i) * u;
      }
    }
  }
}

// Exchanges the rows as the panel did; U_kj = L_kk^-1 A_kj; then A_ij -= L_ik U_kj for the rows and columns after the
// panel.
template <>
void DenseLu<double>::update_trailing(int k) {
  const double* l0 = re_.data() + static_cast<Eigen::Index>(k) * ld_;
  const double *l1 = l0 + ld_, *l2 = l1 + ld_, *l3 = l2 + ld_;
  const double l10 = l0[k + 1], l20 = l0[k + 2], l30 = l0[k + 3];
  const double l21 = l1[k + 2], l31 = l1[k + 3], l32 = l2[k + 3];
  const int* exchange = exchange_.data();
  // Columns come in pairs: the number after a panel is a multiple of four.
  for (int j = k + kPack; j < ld_; j += 2) {
    double* a = re_.data() + static_cast<Eigen::Index>(j) * ld_;
    double* b = a + ld_;
    for (int p = k; p < k + kPack; ++p) {
      std::swap(a[p], a[exchange[p]]);
      std::swap(b[p], b[exchange[p]]);
    }
    const double a0 = a[k], a1 = a[k + 1] - l10 * a0, a2 = a[k + 2] - l20 * a0 - l21 * a1;
    const double a3 = a[k + 3] - l30 * a0 - l31 * a1 - l32 * a2;
    const double b0 = b[k], b1 = b[k + 1] - l10 * b0, b2 = b[k + 2] - l20 * b0 - l21 * b1;
    const double b3 = b[k + 3] - l30 * b0 - l31 * b1 - l32 * b2;
    a[k + 1] = a1, a[k + 2] = a2, a[k + 3] = a3;
    b[k + 1] = b1, b[k + 2] = b2, b[k + 3] = b3;
    for (int i = k + kPack; i < ld_; i += kPack) {
      const Pack c0 = pack(l0 + i), c1 = pack(l1 + i), c2 = pack(l2 + i), c3 = pack(l3 + i);
      pack(a + i) -= (c0 * a0 + c1 * a1) + (c2 * a2 + c3 * a3);
      pack(b + i) -= (c0 * b0 + c1 * b1) + (c2 * b2 + c3 * b3);
    }
  }
}

template <>
void DenseLu<std::complex<double>>::update_trailing(int k) {
  for (int j = k + kPack; j < ld_; ++j) {
    const Eigen::Index column = static_cast<Eigen::Index>(j) * ld_;
    double* a = re_.data() + column;
    double* b = im_.data() + column;
    for (int p = k; p < k + kPack; ++p) {
      std::swap(a[p], a[exchange_[p]]);
      std::swap(b[p], b[exchange_[p]]);
    }
    for (int p = k; p < k + kPack; ++p) {
      for (int i = p + 1; i < k + kPack; ++i) {
        const Eigen::Index l = static_cast<Eigen::Index>(p) * ld_ + i;
        const double re = a[i] - (re_[l] * a[p] - im_[l] * b[p]);
        b[i] -= re_[l] * b[p] + im_[l] * a[p];
        a[i] = re;
      }
    }
    // Two columns of the panel at a time keep the eight factors and the sums in registers.
    for (int p = k; p < k + kPack; p += 2) {
      const double* l = re_.data() + static_cast<Eigen::Index>(p) * ld_;
      const double* m = im_.data() + static_cast<Eigen::Index>(p) * ld_;
      const double u0 = a[p], v0 = b[p], u1 = a[p + 1], v1 = b[p + 1];
      for (int i = k + kPack; i < ld_; i += kPack) {
        const Pack l0 = pack(l + i), l1 = pack(l + ld_ + i), m0 = pack(m + i), m1 = pack(m + ld_ + i);
        pack(a + i) -= (l0 * u0 - m0 * v0) + (l1 * u1 - m1 * v1);
        pack(b + i) -= (l0 * v0 + m0 * u0) + (l1 * v1 + m1 * u1);
      }
    }
  }
}

template <class Scalar>
void DenseLu<Scalar>::factorize() {
  largest_pivot_ = 0;
  smallest_pivot_ = n_ > 0 ? std::numeric_limits<double>::max() : 1.0;
  weakest_column_ = -1;
  equilibrate();
  if (!finite_) {
    smallest_pivot_ = 0;
    return;
  }
  for (int k = 0; k < ld_; k += kPack) {
    factor_panel(k);
    update_trailing(k);
  }
}

namespace {

// x[i] -= sum of four columns, for rows first .. last.
void subtract_columns(double* x, const double* a, int ld, const double* y, int first, int last) {
  const double y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
  const double *b = a + ld, *c = b + ld, *d = c + ld;
  for (int i = first; i < last; i += kPack) {
    pack(x + i) -= (pack(a + i) * y0 + pack(b + i) * y1) + (pack(c + i) * y2 + pack(d + i) * y3);
  }
}

}  // namespace

template <class Scalar>
void DenseLu<Scalar>::solve(Scalar* b) {
  double* x = x_re_.data();
  [[maybe_unused]] double* z = x_im_.data();
  auto value = [&](int i) -> Scalar {
    if constexpr (kComplex) {
      return {x[i], z[i]};
    } else {
      return x[i];
    }
  };
  auto store = [&](int i, Scalar v) {
    if constexpr (kComplex) {
      x[i] = v.real();
      z[i] = v.imag();
    } else {
      x[i] = v;
    }
  };
  for (int i = 0; i < n_; ++i) store(i, b[i] * row_scale_[i]);
  for (int i = n_; i < ld_; ++i) store(i, Scalar(0));
  auto subtract_panel = [&](int k, int first, int last) {
    const double* a = re_.data() + static_cast<Eigen::Index>(k) * ld_;
    if constexpr (kComplex) {
      const double* m = im_.data() + static_cast<Eigen::Index>(k) * ld_;
      double minus_z[kPack];
      for (int p = 0; p < kPack; ++p) minus_z[p] = -z[k + p];
      subtract_columns(x, a, ld_, x + k, first, last);
      subtract_columns(x, m, ld_, minus_z, first, last);
      subtract_columns(z, a, ld_, z + k, first, last);
      subtract_columns(z, m, ld_, x + k, first, last);
    } else {
      subtract_columns(x, a, ld_, x + k, first, last);
    }
  };
  for (int k = 0; k < ld_; k += kPack) {
    for (int p = k; p < k + kPack; ++p) {
      std::swap(x[p], x[exchange_[p]]);
      if constexpr (kComplex) std::swap(z[p], z[exchange_[p]]);
    }
    for (int p = k; p < k + kPack; ++p) {
      for (int i = p + 1; i < k + kPack; ++i) store(i, value(i) - get(i, p) * value(p));
    }
    subtract_panel(k, k + kPack, ld_);
  }
  for (int k = ld_ - kPack; k >= 0; k -= kPack) {
    for (int p = k + kPack - 1; p >= k; --p) {
      store(p, value(p) * inverse_pivot_[p]);
      for (int i = k; i < p; ++i) store(i, value(i) - get(i, p) * value(p));
    }
    subtract_panel(k, 0, k);
  }
  for (int i = 0; i < n_; ++i) b[i] = value(i) * col_scale_[i];
}

template class DenseLu<double>;
template class DenseLu<std::complex<double>>;

}  // namespace clatter
