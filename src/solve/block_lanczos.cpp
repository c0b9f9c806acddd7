#include "solve/block_lanczos.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace clatter {
namespace {

// Reproducible numbers in [-1, 1] (a linear congruential generator modulo 2^64).
Eigen::MatrixXd start_block(int n, int columns) {
  std::uint64_t state = 88172645463325252ULL;
  Eigen::MatrixXd X(n, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < n; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      X(i, j) = static_cast<double>(state >> 11U) * 0x1p-52 - 1;
    }
  return X;
}

class Krylov {
 public:
  Krylov(int n, const ColumnMap& inverse, const ColumnMap& mass) : n_(n), inverse_(inverse), mass_(mass) {}

  int size() const { return size_; }
  // M-orthonormalises W against the basis and itself and appends it; what W was in terms of the basis goes to `old`
  // (basis rows) and `own` (rows of the new columns). Columns without new content are dropped.
  int append(Eigen::MatrixXd W, Eigen::MatrixXd& old, Eigen::MatrixXd& own) {
    const long columns = W.cols();
    Eigen::VectorXd size(columns);
    Eigen::MatrixXd MW = mass_(W);
    for (long j = 0; j < columns; ++j) size[j] = std::sqrt(std::max(0.0, W.col(j).dot(MW.col(j))));
    old = Eigen::MatrixXd::Zero(size_, columns);
    for (int pass = 0; pass < 2 && size_ > 0; ++pass) {
      const Eigen::MatrixXd h = MV_.leftCols(size_).transpose() * W;
      W.noalias() -= V_.leftCols(size_) * h;
      old += h;
    }
    MW = mass_(W);
    reserve(size_ + static_cast<int>(columns));
    own = Eigen::MatrixXd::Zero(columns, columns);
    int kept = 0;
    for (long j = 0; j < columns; ++j) {
      for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < kept; ++k) {
          const double h = MV_.col(size_ + k).dot(W.col(j));
          W.col(j) -= h * V_.col(size_ + k);
          MW.col(j) -= h * MV_.col(size_ + k);
          own(k, j) += h;
        }
      const double norm2 = W.col(j).dot(MW.col(j));
      if (!(norm2 > std::pow(1e-11 * size[j], 2)) || norm2 <= 0) continue;
      const double norm = std::sqrt(norm2);
      V_.col(size_ + kept) = W.col(j) / norm;
      MV_.col(size_ + kept) = MW.col(j) / norm;
      own(kept, j) = norm;
      ++kept;
    }
    own.conservativeResize(kept, columns);
    size_ += kept;
    return kept;
  }

  Eigen::MatrixXd image(int first, int columns) const { return inverse_(MV_.middleCols(first, columns)); }
  Eigen::MatrixXd combine(const Eigen::MatrixXd& S) const { return V_.leftCols(S.rows()) * S; }

 private:
  void reserve(int columns) {
    if (V_.cols() >= columns) return;
    const long wanted = std::max<long>(columns, V_.cols() * 3 / 2 + 32);
    V_.conservativeResize(n_, wanted);
    MV_.conservativeResize(n_, wanted);
  }
  int n_, size_ = 0;
  const ColumnMap &inverse_, &mass_;
  Eigen::MatrixXd V_, MV_;
};

}  // namespace

Eigenpairs lowest_eigenpairs(int n, const ColumnMap& inverse, const ColumnMap& mass, const EigenpairsRequest& request,
                             const std::function<void(double)>& progress) {
  Eigenpairs out;
  const int most = std::min(request.most, request.dimension > 0 ? request.dimension : n);
  const int block = std::max(1, std::min(request.block, most));
  Krylov basis(n, inverse, mass);
  Eigen::MatrixXd old, own, T;
  // One application of the inverse brings the start into the subspace and smooths it.
  int last = basis.append(inverse(mass(start_block(n, block))), old, own);
  int first = 0;
  int wait = 0;
  while (last > 0) {
    const int size = basis.size();
    Eigen::MatrixXd W = basis.image(first, last);
    out.solves += last;
    T.conservativeResize(size, size);
    const int next = basis.append(std::move(W), old, own);
    T.rightCols(last) = old;
    T.bottomRows(last) = old.transpose();
    first = size;
    const int before = last;
    last = next;
    const bool whole = next == 0 || (request.dimension > 0 && size >= request.dimension);
    const bool full = whole || size + next > most;
    // Ritz pairs are worth computing from time to time only.
    if (!full && request.count > 0 && size < request.count + 2 * block) continue;
    if (!full && wait-- > 0) continue;
    wait = size / (8 * block);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(0.5 * (T + T.transpose()));
    const Eigen::VectorXd& theta = ritz.eigenvalues();  // ascending: the last are the lowest frequencies
    int good = 0;
    bool beyond = false;
    for (int k = size - 1; k >= 0; --k) {
      if (theta[k] <= 0) break;
      const double residual = whole ? 0 : (own * ritz.eigenvectors().col(k).tail(before)).norm();
      if (residual > request.tolerance * theta[k]) break;
      if (request.limit > 0 && 1 / theta[k] > request.limit) {
        beyond = true;
        break;
      }
      ++good;
      if (request.count > 0 && good == request.count) break;
    }
    if (progress) progress(request.count > 0 ? std::min(1.0, static_cast<double>(good) / request.count) : 0.5);
    const bool enough = beyond || (request.count > 0 && good >= request.count);
    if (enough || full) {
      out.complete = whole && !beyond;
      out.converged = enough || whole;
      out.values.resize(good);
      Eigen::MatrixXd S(size, good);
      for (int k = 0; k < good; ++k) {
        out.values[k] = 1 / theta[size - 1 - k];
        S.col(k) = ritz.eigenvectors().col(size - 1 - k);
      }
      out.vectors = basis.combine(S);
      return out;
    }
  }
  out.complete = out.converged = true;
  out.values.resize(0);
  out.vectors.resize(n, 0);
  return out;
}

}  // namespace clatter
