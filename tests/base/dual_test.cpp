// Dual numbers: every function's derivative against complex-step or central differences, and use inside Eigen.
#include "base/dual.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace clatter {
namespace {

using D = Dual<2>;

// Central difference of a function of (x, y); truncation and round-off meet at 1e-10 relative for h = 6e-6.
template <class F>
void expect_derivatives(const char* name, F f, double x, double y) {
  const double h = 6e-6;
  const D r = f(D::variable(x, 0), D::variable(y, 1));
  EXPECT_NEAR(value(r), value(f(D(x), D(y))), 0) << name;
  const double dx = (value(f(D(x + h), D(y))) - value(f(D(x - h), D(y)))) / (2 * h);
  const double dy = (value(f(D(x), D(y + h))) - value(f(D(x), D(y - h)))) / (2 * h);
  EXPECT_NEAR(r.d[0], dx, 1e-9 * (1 + std::abs(dx))) << name << " by x at " << x << ' ' << y;
  EXPECT_NEAR(r.d[1], dy, 1e-9 * (1 + std::abs(dy))) << name << " by y at " << x << ' ' << y;
}

TEST(Dual, OperatorsAndFunctionsHaveTheDerivativesOfCentralDifferences) {
  for (const auto& [x, y] : {std::pair{0.3, 0.7}, {0.8, -0.4}, {0.55, 1.9}}) {
    expect_derivatives(
        "sum", [](D a, D b) { return 2 + a + b * 3 - (1 - a) - b; }, x, y);
    expect_derivatives(
        "product", [](D a, D b) { return -a * b * a; }, x, y);
    expect_derivatives(
        "quotient", [](D a, D b) { return a / b + 2 / a - b / 3; }, x, y);
    expect_derivatives(
        "compound",
        [](D a, D b) {
          D c = a;
          c += b;
          c *= a;
          c -= b;
          c /= a;
          c *= 2;
          c /= 3;
          c += 1;
          c -= 4;
          return c;
        },
        x, y);
    expect_derivatives(
        "sqrt", [](D a, D b) { return sqrt(a + b * b); }, x, y);
    expect_derivatives(
        "sin cos tan", [](D a, D b) { return sin(a * b) + cos(a - b) * tan(a); }, x, y);
    expect_derivatives(
        "asin acos atan", [](D a, D b) { return asin(a * 0.9) * acos(a * b * 0.5) + atan(b); }, x, y);
    expect_derivatives(
        "atan2", [](D a, D b) { return atan2(a, b) + atan2(-b, -a); }, x, y);
    expect_derivatives(
        "exp log", [](D a, D b) { return exp(a * b) * log(a); }, x, y);
    expect_derivatives(
        "hyperbolic", [](D a, D b) { return sinh(a) * cosh(b) - tanh(a * b); }, x, y);
    expect_derivatives(
        "pow", [](D a, D b) { return pow(a, b) + pow(a, 2.5) + pow(1.7, b) + pow(b, 3.0); }, x, y);
    expect_derivatives(
        "abs hypot", [](D a, D b) { return abs(b) * hypot(a, b) + abs(a); }, x, y);
    expect_derivatives(
        "min max", [](D a, D b) { return min(a * a, b) + 3 * max(a, b * a); }, x, y);
  }
}

TEST(Dual, HasNoNanWhereADerivativeDoesNotExist) {
  const D zero = D::variable(0, 0), one = D::variable(1, 0);
  for (const D& x : {sqrt(zero), hypot(zero, zero), abs(zero), asin(one), acos(one), acos(-one), atan2(zero, zero),
                     pow(zero, 0.5), pow(zero, 2.0), pow(zero, D(2.0))})
    EXPECT_TRUE(isfinite(x)) << x.v;
  const Eigen::Matrix<D, 3, 1> origin(zero, zero, zero);
  EXPECT_TRUE(isfinite(D(origin.norm())));
}

TEST(Dual, ComparesByValue) {
  EXPECT_TRUE(D::variable(1, 0) < D(2));
  EXPECT_TRUE(D::variable(1, 0) == 1.0);
  EXPECT_TRUE(2.0 > D(1));
  EXPECT_TRUE(D(1) != D(2));
}

TEST(Dual, WorksAsTheScalarOfEigenVectors) {
  // |a x b|, a . b and the derivative of a normalised vector: du = (I - u u^T) da / |a|.
  using D6 = Dual<6>;
  const Eigen::Vector3d a0(0.3, -1.2, 0.5), b0(1.1, 0.4, -0.7);
  Eigen::Matrix<D6, 3, 1> a, b;
  for (int i = 0; i < 3; ++i) a[i] = D6::variable(a0[i], i), b[i] = D6::variable(b0[i], 3 + i);
  const D6 dot = a.dot(b);
  const Eigen::Matrix<D6, 3, 1> cross = a.cross(b), u = a.normalized(), scaled = 2.0 * a - b0 * b.norm();
  const Eigen::Vector3d u0 = a0.normalized();
  const Eigen::Matrix3d du = (Eigen::Matrix3d::Identity() - u0 * u0.transpose()) / a0.norm();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(dot.d[i], b0[i]);
    EXPECT_EQ(dot.d[3 + i], a0[i]);
    EXPECT_NEAR(cross[i].v, a0.cross(b0)[i], 1e-15);
    EXPECT_NEAR(scaled[i].v, 2 * a0[i] - b0[i] * b0.norm(), 1e-15);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(cross[i].d[k], Eigen::Vector3d::Unit(k).cross(b0)[i], 1e-15);
      EXPECT_NEAR(cross[i].d[3 + k], a0.cross(Eigen::Vector3d::Unit(k))[i], 1e-15);
      EXPECT_NEAR(u[i].d[k], du(i, k), 1e-15);
    }
  }
}

TEST(Dual, MatrixProductsMixWithPlainMatrices) {
  const Eigen::Matrix3d M = Eigen::Matrix3d::Random();
  Eigen::Matrix<D, 3, 1> x;
  x << D::variable(1, 0), D::variable(2, 1), D(3);
  const Eigen::Matrix<D, 3, 1> y = M * x;
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(y[i].v, M.row(i).dot(Eigen::Vector3d(1, 2, 3)), 1e-14);
    EXPECT_NEAR(y[i].d[0], M(i, 0), 1e-15);
    EXPECT_NEAR(y[i].d[1], M(i, 1), 1e-15);
  }
}

}  // namespace
}  // namespace clatter
