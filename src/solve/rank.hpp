// Which rows of a constraint Jacobian G depend on the rows before them.
//
// Rows are first multiplied by the square root of the inverse mass of each velocity, g_i <- g_i M^(-1/2), and brought
// to unit length, so that lengths and angles mix as the dynamics mixes them. Then, in the order of declaration,
//
//   g_i = sum_k c_ik g_k + rest,     k over the independent rows before i
//
// and row i is redundant when |rest| <= tolerance. Each row is kept if it can be: of two constraints that say the same,
// the one declared later is called redundant. Small matrices use Gram-Schmidt with reorthogonalization, large ones the
// sparse QR of G^T with the columns in their order.
//
// Where it only matters that the rows kept are as independent as possible, the choice is made by complete pivoting.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <span>
#include <vector>

namespace clatter {

struct RedundantRow {
  int row;
  double rest;                  // sine of the angle to the span of the rows it depends on
  std::vector<int> depends_on;  // ascending; empty for a row of zeros
};

struct RankReport {
  int rank = 0;
  std::vector<RedundantRow> redundant;  // ascending by row
};

enum class RankMethod { automatic, dense, sparse };

// `velocity_mass`: one mass or inertia for each column of G, or empty for ones. An entry that is not positive counts as
// one.
RankReport dependent_rows(const Eigen::SparseMatrix<double, Eigen::RowMajor>& G,
                          std::span<const double> velocity_mass = {}, double tolerance = 1e-8,
                          RankMethod method = RankMethod::automatic);

// The order of Cholesky's elimination with complete pivoting on a Gram matrix of unit rows (ones, or zeros for empty
// rows, on the diagonal): each row is the one with the largest sine to those before it. Returns how many rows are kept:
// those from that place on have a squared sine of at most `tolerance` and are in no particular order. `gram` is used
// up, `column` is for work; `order` and `column` have as many entries as `gram` has rows. Nothing is allocated.
int pivoted_order(Eigen::Ref<Eigen::MatrixXd> gram, double tolerance, Eigen::Ref<Eigen::VectorXd> column,
                  std::span<int> order);

}  // namespace clatter
