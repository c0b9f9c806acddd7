#include "solve/rank.hpp"

#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace clatter {

namespace {

using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// A coefficient c_ik this small beside the largest of its row is rounding.
constexpr double kNoDependence = 1e-6;

RowMatrix scaled_rows(const RowMatrix& G, std::span<const double> mass) {
  RowMatrix A = G;
  A.makeCompressed();
  for (int i = 0; i < A.outerSize(); ++i) {
    // The largest entry first: squares of tiny or huge entries would leave the range of doubles.
    double top = 0;
    for (RowMatrix::InnerIterator entry(A, i); entry; ++entry) {
      if (!mass.empty() && mass[entry.col()] > 0) entry.valueRef() /= std::sqrt(mass[entry.col()]);
      top = std::max(top, std::abs(entry.value()));
      if (!std::isfinite(entry.value())) {
        throw std::domain_error(fmt::format("row {} of the constraint matrix holds an entry that is not finite", i));
      }
    }
    if (top == 0) continue;
    double square = 0;
    for (RowMatrix::InnerIterator entry(A, i); entry; ++entry) {
      entry.valueRef() /= top;
      square += entry.value() * entry.value();
    }
    for (RowMatrix::InnerIterator entry(A, i); entry; ++entry) entry.valueRef() /= std::sqrt(square);
  }
  return A;
}

// `kept[k]` is the row whose coefficient is c[k].
RedundantRow describe(int row, double rest, const Eigen::VectorXd& c, const std::vector<int>& kept) {
  RedundantRow redundant{row, rest, {}};
  const double largest = c.size() > 0 ? c.cwiseAbs().maxCoeff() : 0.0;
  for (Eigen::Index k = 0; k < c.size(); ++k) {
    if (std::abs(c[k]) > kNoDependence * largest) redundant.depends_on.push_back(kept[static_cast<size_t>(k)]);
  }
  std::sort(redundant.depends_on.begin(), redundant.depends_on.end());
  return redundant;
}

RankReport dense_report(const RowMatrix& A, double tolerance) {
  RankReport report;
  const Eigen::Index most = std::min(A.rows(), A.cols());
  Eigen::MatrixXd Q(A.cols(), most);                      // orthonormal, one column a kept row
  Eigen::MatrixXd R = Eigen::MatrixXd::Zero(most, most);  // kept rows in terms of Q
  std::vector<int> kept;
  Eigen::VectorXd g(A.cols()), q(most), more(most);
  for (int i = 0; i < A.rows(); ++i) {
    g = A.row(i).transpose();
    const bool zero = g.squaredNorm() == 0;
    const Eigen::Index r = static_cast<Eigen::Index>(kept.size());
    q.head(r).noalias() = Q.leftCols(r).transpose() * g;
    g.noalias() -= Q.leftCols(r) * q.head(r);
    more.head(r).noalias() = Q.leftCols(r).transpose() * g;
    g.noalias() -= Q.leftCols(r) * more.head(r);
    q.head(r) += more.head(r);
    const double rest = g.norm();
    if (zero || r == most || rest <= tolerance) {
      const Eigen::VectorXd c =
          zero ? Eigen::VectorXd()
               : Eigen::VectorXd(R.topLeftCorner(r, r).triangularView<Eigen::Upper>().solve(q.head(r)));
      report.redundant.push_back(describe(i, rest, c, kept));
      continue;
    }
    Q.col(r) = g / rest;
    R.col(r).head(r) = q.head(r);
    R(r, r) = rest;
    kept.push_back(i);
  }
  report.rank = static_cast<int>(kept.size());
  return report;
}

// Householder QR of A^T with the columns in order: a column whose remainder is within the tolerance is set aside.
RankReport sparse_report(const RowMatrix& A, double tolerance) {
  RankReport report;
  // Empty rows are kept out: they depend on nothing.
  std::vector<int> nonempty;
  for (int i = 0; i < A.rows(); ++i) {
    double square = 0;
    for (RowMatrix::InnerIterator entry(A, i); entry; ++entry) square += entry.value() * entry.value();
    if (square > 0) {
      nonempty.push_back(i);
    } else {
      report.redundant.push_back({i, 0.0, {}});
    }
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t k = 0; k < nonempty.size(); ++k) {
    for (RowMatrix::InnerIterator entry(A, nonempty[k]); entry; ++entry) {
      if (entry.value() != 0) entries.emplace_back(static_cast<int>(entry.col()), static_cast<int>(k), entry.value());
    }
  }
  Eigen::SparseMatrix<double> transposed(A.cols(), static_cast<Eigen::Index>(nonempty.size()));
  transposed.setFromTriplets(entries.begin(), entries.end());

  Eigen::SparseQR<Eigen::SparseMatrix<double>, Eigen::NaturalOrdering<int>> qr;
  qr.setPivotThreshold(tolerance);
  qr.compute(transposed);
  if (qr.info() != Eigen::Success) throw std::runtime_error("the rank of the constraint matrix could not be found");
  const int rank = static_cast<int>(qr.rank());
  report.rank = rank;

  const auto& order = qr.colsPermutation().indices();
  std::vector<int> kept(rank);
  for (int k = 0; k < rank; ++k) kept[k] = nonempty[order[k]];
  const Eigen::SparseMatrix<double> R = qr.matrixR();
  const Eigen::SparseMatrix<double> R11 = R.topLeftCorner(rank, rank);
  for (int k = rank; k < static_cast<int>(nonempty.size()); ++k) {
    Eigen::VectorXd c = Eigen::VectorXd::Zero(rank);
    for (Eigen::SparseMatrix<double>::InnerIterator entry(R, k); entry; ++entry) {
      if (entry.row() < rank) c[entry.row()] = entry.value();
    }
    c = R11.triangularView<Eigen::Upper>().solve(c);
    // The remainder from the rows themselves: it also proves the coefficients.
    Eigen::VectorXd rest = A.row(nonempty[order[k]]).transpose();
    for (int m = 0; m < rank; ++m) {
      if (c[m] == 0) continue;
      for (RowMatrix::InnerIterator entry(A, kept[m]); entry; ++entry) rest[entry.col()] -= c[m] * entry.value();
    }
    report.redundant.push_back(describe(nonempty[order[k]], rest.norm(), c, kept));
  }
  std::sort(report.redundant.begin(), report.redundant.end(),
            [](const RedundantRow& a, const RedundantRow& b) { return a.row < b.row; });
  return report;
}

}  // namespace

int pivoted_order(Eigen::Ref<Eigen::MatrixXd> gram, double tolerance, Eigen::Ref<Eigen::VectorXd> column,
                  std::span<int> order) {
  const int n = static_cast<int>(order.size());
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int j = k + 1; j < n; ++j) {
      if (gram(order[j], order[j]) > gram(order[best], order[best])) best = j;
    }
    std::swap(order[k], order[best]);
    const double pivot = gram(order[k], order[k]);
    if (!(pivot > tolerance)) return k;
    column = gram.col(order[k]);
    for (int j = k + 1; j < n; ++j) gram.col(order[j]) -= (column[order[j]] / pivot) * column;
  }
  return n;
}

RankReport dependent_rows(const RowMatrix& G, std::span<const double> velocity_mass, double tolerance,
                          RankMethod method) {
  if (!velocity_mass.empty() && static_cast<Eigen::Index>(velocity_mass.size()) != G.cols()) {
    throw std::invalid_argument(
        fmt::format("{} masses for a constraint matrix of {} columns", velocity_mass.size(), G.cols()));
  }
  if (G.rows() == 0) return {};
  const RowMatrix A = scaled_rows(G, velocity_mass);
  constexpr double kSmall = 2e5;  // entries of G as a dense matrix
  const bool dense =
      method == RankMethod::dense ||
      (method == RankMethod::automatic && static_cast<double>(G.rows()) * static_cast<double>(G.cols()) < kSmall);
  return dense ? dense_report(A, tolerance) : sparse_report(A, tolerance);
}

}  // namespace clatter
