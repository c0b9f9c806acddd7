// The rotation toolbox against closed values (PV-1), the identities of E-1 and V-3, and finite differences.
#include "base/rotation.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <vector>

#include "base/dual.hpp"

namespace clatter {
namespace {

constexpr double pi = std::numbers::pi;
using LongVec = Eigen::Matrix<long double, 3, 1>;
using LongMat = Eigen::Matrix<long double, 3, 3>;

std::vector<Vec3> sample_vectors() {
  std::vector<Vec3> samples;
  const Vec3 u = Vec3(0.3, -0.7, 0.5).normalized();
  for (double theta :
       {0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.05, 0.3, 0.99, 1.01, 1.41, 1.42, 2.0, 3.0, 3.14159, 3.16, 3.17, 5.0})
    samples.push_back(theta * u);
  samples.push_back(Vec3(0, 0, 2.5));
  samples.push_back(Vec3(-1.2, 0, 0));
  return samples;
}

TEST(ElementaryRotations, GiveTheClosedMatricesOfTheReference) {
  // PV-1, nine printed digits.
  Mat3 expected;
  expected << 0.936293364, -0.275095847, 0.218350663, 0.289629478, 0.956425086, -0.036957014, -0.198669331, 0.097843395,
      0.975170327;
  EXPECT_LT((kardan(0.1, 0.2, 0.3) - expected).cwiseAbs().maxCoeff(), 6e-10);
  expected << 0.921649086, -0.383557042, 0.058710802, 0.387517202, 0.902113005, -0.189796061, 0.019833838, 0.197676812,
      0.980066578;
  EXPECT_LT((euler(0.3, 0.2, 0.1) - expected).cwiseAbs().maxCoeff(), 6e-10);
  EXPECT_NEAR(kardan(0.1, 0.2, 0.3).determinant(), 1, 1e-15);
}

TEST(ElementaryRotations, AreExponentialsOfTheirAxes) {
  for (double a : {-2.0, 0.1, 3.0}) {
    EXPECT_LT((rotation_x(a) - rotation_exp<double>(Vec3(a, 0, 0))).norm(), 1e-15);
    EXPECT_LT((rotation_y(a) - rotation_exp<double>(Vec3(0, a, 0))).norm(), 1e-15);
    EXPECT_LT((rotation_z(a) - rotation_exp<double>(Vec3(0, 0, a))).norm(), 1e-15);
  }
}

TEST(RotationExponential, AgreesWithTheTaylorSeriesInExtendedPrecision) {
  for (const Vec3& psi : sample_vectors()) {
    const LongMat S = skew<long double>(psi.cast<long double>());
    LongMat sum = LongMat::Identity(), term = sum, jacobian = sum;
    for (int k = 1; k < 60; ++k) {
      term = term * S / static_cast<long double>(k);
      sum += term;
      // T = sum (-tilde)^k / (k+1)!
      jacobian += (k % 2 ? -1 : 1) * term / static_cast<long double>(k + 1);
    }
    // Five units of round-off of the largest entries.
    EXPECT_LT((rotation_exp(psi) - sum.cast<double>()).cwiseAbs().maxCoeff(), 1e-15) << psi.norm();
    EXPECT_LT((quaternion_exp(psi).toRotationMatrix() - sum.cast<double>()).cwiseAbs().maxCoeff(), 1.5e-15)
        << psi.norm();
    EXPECT_LT((right_jacobian(psi) - jacobian.cast<double>()).cwiseAbs().maxCoeff(), 1.5e-15) << psi.norm();
  }
}

// Coefficients in extended precision, closed form with enough guard digits away from zero.
TEST(RotationCoefficients, AreExactToRoundOffOverTheWholeRange) {
  for (double theta = 0.05; theta < 6.2; theta += 0.0371) {
    const long double t = theta, h = t / 2, x = t * t, s = std::sin(h), c = std::cos(h);
    const long double b = (1 - h * c / s) / x;
    const long double b1 = (-(c / s - h / (s * s)) / (2 * x) - 2 * b / t) / t;
    const double xd = theta * theta;
    // x carries half a unit of round-off itself, felt near the pole at 2 pi.
    const double near_pole = 1 + 40 / (4 * pi * pi - xd);
    EXPECT_NEAR(rotation_detail::cotc(xd) / static_cast<double>(b), 1, 1e-15 * near_pole) << theta;
    // Below 0.4 the closed form loses too many digits even here: the Bernoulli series 2 sum n |B_2n+2|/(2n+2)! x^(n-1).
    const long double series =
        2 * (1.L / 720 +
             x * (2.L / 30240 +
                  x * (3.L / 1209600 +
                       x * (4.L / 47900160 + x * (5 * 691.L / 1307674368000 +
                                                  x * (6.L / 74724249600 + x * (7 * 3617.L / 10670622842880000)))))));
    EXPECT_NEAR(rotation_detail::cotc_slope(xd) / static_cast<double>(theta < 0.4 ? series : b1), 1, 3e-15 * near_pole)
        << theta;
    EXPECT_NEAR(rotation_detail::sinc3(xd) / static_cast<double>((t - std::sin(t)) / (t * x)), 1, 1e-15) << theta;
  }
  EXPECT_NEAR(rotation_detail::cotc(0.0), 1. / 12, 3e-17);         // V-3
  EXPECT_NEAR(rotation_detail::cotc_slope(0.0), 1. / 360, 1e-18);  // V-3
}

TEST(RightJacobian, TimesItsInverseIsTheIdentity) {
  for (const Vec3& psi : sample_vectors())
    EXPECT_LT((right_jacobian(psi) * right_jacobian_inverse(psi) - Mat3::Identity()).norm(), 1e-14) << psi.norm();
}

TEST(RightJacobian, InverseTimesTransposedRotationIsItsTranspose) {
  // The identity of V-3.
  for (const Vec3& psi : sample_vectors()) {
    const Mat3 Tinv = right_jacobian_inverse(psi);
    EXPECT_LT((Tinv * rotation_exp(psi).transpose() - Tinv.transpose()).norm(), 1e-14) << psi.norm();
  }
}

TEST(RightJacobian, MapsRatesToBodyFixedAngularVelocity) {
  // dR = R tilde(T dpsi), R's derivative being automatic.
  using D = Dual<3>;
  for (const Vec3& psi : sample_vectors()) {
    Eigen::Matrix<D, 3, 1> x;
    for (int i = 0; i < 3; ++i) x[i] = D::variable(psi[i], i);
    const Eigen::Matrix<D, 3, 3> R = rotation_exp(x);
    const Mat3 T = right_jacobian(psi);
    for (int k = 0; k < 3; ++k) {
      const Mat3 dR = R.unaryExpr([k](const D& r) { return r.d[k]; }).cast<double>();
      EXPECT_LT((dR - rotation_exp(psi) * skew<double>(T.col(k))).norm(), 3e-15) << psi.norm();
    }
  }
}

TEST(JacobianInverseDerivatives, AgreeWithAutomaticDifferentiation) {
  using D = Dual<3>;
  const Vec3 s(0.4, 1.1, -0.6);
  for (const Vec3& psi : sample_vectors()) {
    Eigen::Matrix<D, 3, 1> x;
    for (int i = 0; i < 3; ++i) x[i] = D::variable(psi[i], i);
    const Eigen::Matrix<D, 3, 3> Tinv = right_jacobian_inverse(x);
    const Eigen::Matrix<D, 3, 1> plus = Tinv * s, minus = Tinv.transpose() * s;
    const Mat3 Dp = right_jacobian_inverse_derivative(psi, s), Dm = left_jacobian_inverse_derivative(psi, s);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(Dp(i, k), plus[i].d[k], 2e-14) << psi.norm();
        EXPECT_NEAR(Dm(i, k), minus[i].d[k], 2e-14) << psi.norm();
      }
  }
}

TEST(JacobianInverseDerivatives, AgreeWithCentralDifferences) {
  const Vec3 s(0.4, 1.1, -0.6);
  const double h = 1e-5;  // truncation about h^2/6, round-off about 1e-16/h
  for (const Vec3& psi : sample_vectors()) {
    const Mat3 Dp = right_jacobian_inverse_derivative(psi, s), Dm = left_jacobian_inverse_derivative(psi, s);
    for (int k = 0; k < 3; ++k) {
      const Vec3 up = psi + h * Vec3::Unit(k), down = psi - h * Vec3::Unit(k);
      const Vec3 fd = (right_jacobian_inverse(up) - right_jacobian_inverse(down)) * s / (2 * h);
      const Vec3 fdt = (right_jacobian_inverse(up) - right_jacobian_inverse(down)).transpose() * s / (2 * h);
      EXPECT_LT((Dp.col(k) - fd).norm(), 2e-9) << psi.norm();
      EXPECT_LT((Dm.col(k) - fdt).norm(), 2e-9) << psi.norm();
    }
  }
}

TEST(RotationLogarithm, InvertsTheExponentialUpToHalfATurn) {
  const Vec3 axes[] = {Vec3(1, 0, 0),
                       Vec3(0, 1, 0),
                       Vec3(0, 0, 1),
                       Vec3(0.6, 0, -0.8),
                       Vec3(0.3, -0.7, 0.5).normalized(),
                       Vec3(-0.9, 0.1, 0.2).normalized(),
                       Vec3(-0.5, -0.6, 0.9).normalized()};
  for (const Vec3& u : axes)
    for (double theta :
         {0.0, 1e-300, 1e-15, 1e-9, 1e-4, 0.19, 0.21, 1.0, 2.0, 2.2, 3.0, pi - 1e-3, pi - 1e-7, pi - 1e-12}) {
      const Vec3 psi = theta * u;
      EXPECT_LT((rotation_log(rotation_exp(psi)) - psi).norm(), 1e-15 + 2e-15 * theta) << theta;
      EXPECT_LE((rotation_log(quaternion_exp(psi)) - psi).norm(), 1e-15 * theta) << theta;
      // q and -q are the same rotation
      const Quat q = quaternion_exp(psi), minus(-q.w(), -q.x(), -q.y(), -q.z());
      EXPECT_LE((rotation_log(minus) - psi).norm(), 1e-15 * theta) << theta;
    }
}

TEST(RotationLogarithm, OfExactlyHalfATurnIsHalfATurnAboutTheAxis) {
  for (int k = 0; k < 3; ++k) {
    Mat3 R = -Mat3::Identity();
    R(k, k) = 1;
    EXPECT_LT((rotation_log(R).cwiseAbs() - pi * Vec3::Unit(k)).norm(), 1e-15);
  }
  const Vec3 u = Vec3(1, 2, -2) / 3;
  const Mat3 R = 2 * u * u.transpose() - Mat3::Identity();
  EXPECT_NEAR(std::abs(rotation_log(R).dot(u)), pi, 1e-15);
  EXPECT_LT(rotation_log(R).cross(u).norm(), 1e-15);
}

TEST(RotationLogarithm, DerivativeIsTheInverseOfTheRightJacobian) {
  // log(exp(psi) exp(d)) = psi + T^-1 d, through zero and close to half a turn.
  using D = Dual<3>;
  for (const Vec3& psi : sample_vectors()) {
    if (psi.norm() > pi) continue;
    Eigen::Matrix<D, 3, 1> d;
    for (int i = 0; i < 3; ++i) d[i] = D::variable(0, i);
    const Eigen::Matrix<D, 3, 3> R = rotation_exp(psi).cast<D>() * rotation_exp(d);
    const Eigen::Matrix<D, 3, 1> log = rotation_log(R);
    const Mat3 Tinv = right_jacobian_inverse(psi);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(log[i].d[k], Tinv(i, k), 1e-14) << psi.norm();
  }
}

TEST(EulerParameters, SatisfyTheIdentitiesOfTheirJacobian) {
  using D = Dual<1>;
  const Eigen::Vector4d theta = Eigen::Vector4d(0.4, -0.3, 0.8, 0.2).normalized();
  Eigen::Vector4d rate(0.7, 0.1, -0.5, 0.9);
  rate -= theta * theta.dot(rate);
  Eigen::Matrix<D, 4, 1> moving;
  for (int i = 0; i < 4; ++i) moving[i] = D(theta[i], D::Derivatives(rate[i]));
  const Eigen::Matrix<D, 3, 3> A = rotation_from_euler_parameters(moving);
  const Eigen::Matrix<D, 3, 4> G = euler_parameter_jacobian(moving);
  const auto v = [](const D& x) { return x.v; };
  const auto d = [](const D& x) { return x.d[0]; };
  const Mat3 A0 = A.unaryExpr(v).cast<double>(), Adot = A.unaryExpr(d).cast<double>();
  const Eigen::Matrix<double, 3, 4> G0 = G.unaryExpr(v).cast<double>(), Gdot = G.unaryExpr(d).cast<double>();
  EXPECT_LT((Adot - A0 * skew<double>(G0 * rate)).norm(), 1e-15);
  EXPECT_LT((Gdot * rate).norm(), 1e-15);
  EXPECT_LT((G0 * theta).norm(), 1e-15);
  EXPECT_LT((G0 * G0.transpose() - 4 * Mat3::Identity()).norm(), 2e-15);
  EXPECT_LT((A0 - Quat(theta[0], theta[1], theta[2], theta[3]).toRotationMatrix()).norm(), 1e-15);
  EXPECT_LT((A0.transpose() * A0 - Mat3::Identity()).norm(), 1e-15);
}

}  // namespace
}  // namespace clatter
