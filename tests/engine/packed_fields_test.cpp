// Packed shape integrals against the matrices they are made of.
#include <gtest/gtest.h>

#include "engine/conformance.hpp"
#include "engine/packed_fields.hpp"

namespace clatter::test {
namespace {

// Every number of rows from less than half a register to more than three, with components that are full, that are zero
// but for a row and a column, and that are missing. Sums of n products of numbers below one: rounding n times 1e-16.
TEST(PackedFields, GiveTheProductsOfTheirMatrices) {
  Dice dice(3);
  const auto random = [&](int rows, int cols) {
    Mat m(rows, cols);
    for (double& x : m.reshaped()) x = dice();
    return m;
  };
  for (int n = 1; n <= 26; ++n) {
    SCOPED_TRACE(n);
    const int stride = (n + 7) / 8 * 8;
    FieldMatrices once, twice;
    std::vector<Mat> F(6, Mat::Zero(n, n)), G(3, Mat::Zero(n, n));
    for (const int c : {0, 2, 3, 5}) F[c] = random(n, n);
    for (const int c : {0, 1}) G[c] = random(n, n);
    for (Mat* m : {&F[3], &F[5], &G[1]}) m->bottomRightCorner(n - 1, n - 1).setZero();
    for (int c = 0; c < 6; ++c) once.add(c, F[c], 1);
    for (int c = 0; c < 3; ++c) twice.add(c, G[c], 1);
    ASSERT_EQ(once.component.size(), 4u);
    ASSERT_EQ(twice.component.size(), 2u);
    const PackedFields packed(once, twice, n, stride);
    Mat y0 = Mat::Zero(stride, 6), z0 = Mat::Zero(stride, 3);
    y0.topRows(n) = random(n, 6);
    z0.topRows(n) = random(n, 3);
    const Vec x = random(n, 1), xd = random(n, 1);
    Mat y = y0, z = z0, zd = Mat::Zero(stride, 3);
    packed.multiply({x.data(), xd.data(), y0.data(), z0.data(), y.data(), z.data(), zd.data()});
    for (int c = 0; c < 6; ++c)
      EXPECT_LT((y.col(c).head(n) - y0.col(c).head(n) - F[c] * x).cwiseAbs().maxCoeff(), 1e-14);
    for (int c = 0; c < 3; ++c) {
      EXPECT_LT((z.col(c).head(n) - z0.col(c).head(n) - G[c] * x).cwiseAbs().maxCoeff(), 1e-14);
      EXPECT_LT((zd.col(c).head(n) - G[c] * xd).cwiseAbs().maxCoeff(), 1e-14);
    }
    // What is added up over whole registers later must find nothing behind the last row.
    EXPECT_TRUE(y.bottomRows(stride - n).isZero(0.0) && z.bottomRows(stride - n).isZero(0.0) &&
                zd.bottomRows(stride - n).isZero(0.0));
  }
}

}  // namespace
}  // namespace clatter::test
