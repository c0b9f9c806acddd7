// The same bits wherever arrays lie in memory: factors copied to other places of the heap, right-hand sides at every
// multiple of eight bytes. (Eigen may divide loops by the addresses of what they write; see solve/block_cholesky.hpp.)
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "base/math.hpp"
#include "solve/block_cholesky.hpp"
#include "solve/block_lu.hpp"
#include "solve/supernodal_ldl.hpp"

namespace clatter {
namespace {

constexpr int kOffsets = 8;  // doubles in 64 bytes

// Copies of a solver between pieces of 16 to 64 bytes, so that their arrays begin at all places that the heap has.
template <class Solver>
class Copies {
 public:
  explicit Copies(const Solver& solver) {
    for (std::size_t k = 0; k < 16; ++k) {
      pads_.push_back(std::make_unique<char[]>(16 * (k % 4) + 8));
      solvers_.push_back(std::make_unique<Solver>(solver));
    }
  }
  template <class Use>
  void each(const Use& use) {
    for (auto& solver : solvers_) use(*solver);
  }

 private:
  std::vector<std::unique_ptr<char[]>> pads_;
  std::vector<std::unique_ptr<Solver>> solvers_;
};

// x = solve(b) with x at every offset: all the same.
template <class Solve>
void expect_same_at_all_offsets(const Vec& b, Vec& first, const Solve& solve) {
  Vec room(b.size() + kOffsets);
  for (int k = 0; k < kOffsets; ++k) {
    Eigen::Map<Vec> x(room.data() + k, b.size());
    x = b;
    solve(x.data());
    if (first.size() == 0) first = x;
    ASSERT_TRUE((x.array() == first.array()).all()) << "offset " << k;
  }
}

TEST(Addresses, OfASupernodalFactorizationDoNotShowInItsBits) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const int n : {7, 40, 150})
    for (const int band : {2, 5, 13}) {
      std::vector<Eigen::Triplet<double>> t;
      for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
          if (i == j) {
            t.emplace_back(i, j, 2.0 * band + u(random));
          } else if (i - j <= band || random() % 29 == 0) {
            t.emplace_back(i, j, u(random));
          }
      Eigen::SparseMatrix<double> A(n, n);
      A.setFromTriplets(t.begin(), t.end());
      SupernodalLdl f(A);
      ASSERT_TRUE(f.factorize(A));
      for (const int columns : {1, 3, 4, 20}) {
        const Mat B = Mat::NullaryExpr(n, columns, [&] { return u(random); });
        Mat first;
        Copies<SupernodalLdl>(f).each([&](SupernodalLdl& g) {
          for (const bool again : {false, true}) {
            if (again) {
              ASSERT_TRUE(g.factorize(A));
            }
            for (int k = 0; k < kOffsets; ++k) {
              Vec room(n * columns + k);
              Eigen::Map<Mat> X(room.data() + k, n, columns);
              X = B;
              g.solve(X);
              if (first.size() == 0) first = X;
              ASSERT_TRUE((X.array() == first.array()).all()) << n << ' ' << band << ' ' << columns << " offset " << k;
            }
          }
        });
      }
    }
}

// Block rows of sizes 1 to 6, and of 3 and 6 alone, which have products of their own.
TEST(Addresses, OfBlocksDoNotShowInTheirBits) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const int uniform : {0, 3, 6}) {
    std::vector<int> sizes;
    for (int i = 0; i < 30; ++i) sizes.push_back(uniform > 0 ? uniform : 1 + static_cast<int>(random() % 6));
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 30; ++i)
      for (int j = i + 1; j < 30; ++j)
        if (j == i + 1 || random() % 12 == 0) pairs.emplace_back(i, j);
    BlockLu lu;
    lu.begin(sizes);
    for (const auto& [i, j] : pairs) lu.couple(i, j);
    lu.analyse();
    lu.set_zero();
    BlockCholesky cholesky;
    cholesky.analyse(sizes, pairs);
    for (int k = 0; k < cholesky.islands(); ++k) cholesky.set_zero(k);
    const auto fill = [&](int i, int j) {
      const int m = sizes[static_cast<std::size_t>(i)], n = sizes[static_cast<std::size_t>(j)];
      for (int c = 0; c < n; ++c)
        for (int r = 0; r < m; ++r) {
          const double value = i == j ? (r == c ? 40 + u(random) : 0.0) : u(random);
          lu.block(i, j)[c * m + r] = value;
          if (i != j) lu.block(j, i)[r * n + c] = value + 0.1 * u(random);
          int stride;
          const bool turned = i != j && cholesky.after(j, i);
          double* at = turned ? cholesky.block(j, i, stride) : cholesky.block(i, j, stride);
          (turned ? at[r * stride + c] : at[c * stride + r]) = value;
        }
    };
    for (int i = 0; i < 30; ++i) fill(i, i);
    for (const auto& [i, j] : pairs) fill(i, j);
    const Vec b = Vec::NullaryExpr(lu.unknowns(), [&] { return u(random); });
    Vec of_lu, of_cholesky;
    Copies<BlockLu>(lu).each([&](BlockLu& x) {
      ASSERT_TRUE(x.factorize());
      expect_same_at_all_offsets(b, of_lu, [&](double* to) { x.solve(to); });
    });
    Copies<BlockCholesky>(cholesky).each([&](BlockCholesky& x) {
      for (int k = 0; k < x.islands(); ++k) ASSERT_TRUE(x.factorize(k));
      expect_same_at_all_offsets(b, of_cholesky, [&](double* to) {
        for (int k = 0; k < x.islands(); ++k) x.solve(k, to);
      });
    });
  }
}

}  // namespace
}  // namespace clatter
