// Measures between frames: values of special positions, rates and second rates along genuine motions, and every
// derivative of the tangent against central differences of genuinely moved frames.
#include "engine/measure.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dual.hpp"

namespace clatter {
namespace {

constexpr double pi = std::numbers::pi;
using Frame = FrameState<double>;
using Row = MeasureTangent::Row;

struct Case {
  MeasureKind kind;
  MeasureParams params;
  const char* name;
};

std::vector<Case> cases() {
  const Vec3 a = Vec3(0.3, -0.8, 0.4).normalized(), b = Vec3(0.5, 0.1, -0.9).normalized();
  const Vec3 c = Vec3(-0.2, 0.3, 0.6).normalized(), d = Vec3(0.7, 0.7, 0.2).normalized();
  const MeasureParams axes{.a = a, .b = b, .c = c, .d = d};
  return {{MeasureKind::coordinate, axes, "coordinate"},
          {MeasureKind::dot, axes, "dot"},
          {MeasureKind::dot_difference, axes, "dot_difference"},
          {MeasureKind::dot_difference, constant_velocity_axes(), "constant velocity"},
          {MeasureKind::distance, axes, "distance"},
          {MeasureKind::angle, axes, "angle"},
          {MeasureKind::swing, axes, "swing"},
          {MeasureKind::swing, universal_angle_z(), "universal z"},
          {MeasureKind::swing, universal_angle_y(), "universal y"},
          {MeasureKind::rotation, {.component = 0}, "rotation x"},
          {MeasureKind::rotation, {.component = 1}, "rotation y"},
          {MeasureKind::rotation, {.component = 2}, "rotation z"},
          {MeasureKind::slip, axes, "slip"}};
}

Frame random_frame(std::mt19937& generator) {
  std::normal_distribution<double> n;
  const auto vector = [&] { return Vec3(n(generator), n(generator), n(generator)); };
  const Vec3 turn = vector();
  return {rotation_exp(turn), vector(), vector(), vector(), vector(), vector()};
}

// Frames in general position; `aligned` puts B's axes exactly on A's, where joints live.
std::pair<Frame, Frame> frames(unsigned seed, bool aligned) {
  std::mt19937 generator(seed);
  Frame A = random_frame(generator), B = random_frame(generator);
  if (aligned) B.R = A.R;
  return {A, B};
}

// The pose moved by the world increment x, everything else kept.
std::pair<Frame, Frame> moved(std::pair<Frame, Frame> f, const Row& x) {
  f.first.p += x.segment<3>(0);
  f.first.R = rotation_exp<double>(x.segment<3>(3)) * f.first.R;
  f.second.p += x.segment<3>(6);
  f.second.R = rotation_exp<double>(x.segment<3>(9)) * f.second.R;
  return f;
}

// The motion p(t) = p + v t + a t^2/2, R(t) = exp(psi(t)) R with psi = w t + alpha t^2/2, whose exact angular velocity
// is T^T(psi) dpsi/dt; at t = 0 the angular velocity is w and the angular acceleration alpha.
Frame at(const Frame& f, double t) {
  const Vec3 psi = t * f.w + t * t / 2 * f.alpha, psi_dot = f.w + t * f.alpha;
  return {rotation_exp(psi) * f.R,
          f.p + t * f.v + t * t / 2 * f.a,
          f.v + t * f.a,
          right_jacobian(psi).transpose() * psi_dot,
          f.a,
          f.alpha};
}

Row gradient(const MeasureValue<double>& m) {
  Row g;
  g << m.fA, m.nA, m.fB, m.nB;
  return g;
}

Row twists(const std::pair<Frame, Frame>& f) {
  Row xi;
  xi << f.first.v, f.first.w, f.second.v, f.second.w;
  return xi;
}

// Fourth-order central difference: with h = 1e-3 and functions of size and scale 1 the truncation is near 1e-12 and
// the round-off near 1e-13; 1e-8 leaves room for the strongly curved cases.
template <class F>
auto difference(F f, double h = 1e-3) -> decltype(f(h)) {
  return ((f(-2 * h) - f(2 * h)) + 8.0 * (f(h) - f(-h))) / (12 * h);
}

class EveryMeasure : public testing::TestWithParam<std::tuple<Case, unsigned, bool>> {
 protected:
  Case which = std::get<0>(GetParam());
  std::pair<Frame, Frame> pair = frames(std::get<1>(GetParam()), std::get<2>(GetParam()));
  MeasureValue<double> value_at(const std::pair<Frame, Frame>& f) const {
    return evaluate(which.kind, which.params, f.first, f.second);
  }
  // Room for strong curvature: near a singular position derivatives grow.
  double size() const {
    const MeasureTangent m = measure_tangent(which.kind, which.params, pair.first, pair.second);
    return 1 + m.H.cwiseAbs().maxCoeff() * (1 + m.H.cwiseAbs().maxCoeff()) * (1 + twists(pair).squaredNorm()) +
           m.bias_x.cwiseAbs().maxCoeff();
  }
};

TEST_P(EveryMeasure, ChangesAtItsRateAlongAMotion) {
  const auto m = value_at(pair);
  ASSERT_EQ(m.fault, MeasureFault::none);
  EXPECT_NEAR(m.de, gradient(m).dot(twists(pair)), 1e-13 * size());
  if (which.kind == MeasureKind::slip) {
    EXPECT_EQ(m.e, 0);
    return;
  }
  const double e_dot = difference([&](double t) { return value_at({at(pair.first, t), at(pair.second, t)}).e; });
  EXPECT_NEAR(m.de, e_dot, 1e-8 * size());
}

TEST_P(EveryMeasure, AcceleratesByItsBiasAlongAnAcceleratedMotion) {
  const auto m = value_at(pair);
  const double de_dot = difference([&](double t) { return value_at({at(pair.first, t), at(pair.second, t)}).de; });
  EXPECT_NEAR(m.bias, de_dot, 1e-8 * size());
}

TEST_P(EveryMeasure, TangentAgreesWithCentralDifferencesOfMovedFrames) {
  const auto m = value_at(pair);
  const MeasureTangent t = measure_tangent(which.kind, which.params, pair.first, pair.second);
  const double tolerance = 1e-8 * size();
  EXPECT_NEAR(t.e, m.e, 1e-14 * size());
  EXPECT_NEAR(t.de, m.de, 1e-14 * size());
  EXPECT_NEAR(t.bias, m.bias, 1e-13 * size());
  EXPECT_LT((t.g - gradient(m)).norm(), 1e-14 * size());
  for (int k = 0; k < 12; ++k) {
    const Row x = Row::Unit(k);
    const auto moved_by = [&](double h) { return value_at(moved(pair, h * x)); };
    EXPECT_NEAR(t.e_x[k], difference([&](double h) { return moved_by(h).e; }), tolerance) << k;
    EXPECT_NEAR(t.de_x[k], difference([&](double h) { return moved_by(h).de; }), tolerance) << k;
    EXPECT_NEAR(t.bias_x[k], difference([&](double h) { return moved_by(h).bias; }), tolerance) << k;
    EXPECT_LT((t.H.col(k) - difference([&](double h) { return gradient(moved_by(h)); })).norm(), tolerance) << k;
    // the bias is quadratic in the twists: a wide plain difference is exact
    const auto pushed_by = [&](double h) {
      auto f = pair;
      Vec3* part[] = {&f.first.v, &f.first.w, &f.second.v, &f.second.w};
      (*part[k / 3])[k % 3] += h;
      return value_at(f);
    };
    EXPECT_NEAR(t.bias_xi[k], (pushed_by(1).bias - pushed_by(-1).bias) / 2, 1e-12 * size()) << k;
    EXPECT_NEAR(t.g[k], (pushed_by(1).de - pushed_by(-1).de) / 2, 1e-13 * size()) << k;
    EXPECT_NEAR(t.e_x[k], which.kind == MeasureKind::slip ? 0 : t.g[k], 1e-13 * size()) << k;
  }
}

TEST_P(EveryMeasure, DoesNotFeelACommonRigidMotion) {
  // Objectivity: value, rate and gradient turned with the frames; a common rigid motion gives no rate.
  const Vec3 shift(0.4, -2, 1.3), turn(0.9, 0.4, -1.1), v(0.5, 0.2, -0.3), w(-0.6, 1.4, 0.8);
  const Mat3 Q = rotation_exp(turn);
  auto f = pair;
  for (Frame* x : {&f.first, &f.second}) *x = {Q * x->R, Q * x->p + shift, Q * x->v, Q * x->w, Q * x->a, Q * x->alpha};
  const auto m = value_at(pair), n = value_at(f);
  EXPECT_NEAR(m.e, n.e, 1e-13 * size());
  EXPECT_NEAR(m.de, n.de, 1e-13 * size());
  EXPECT_NEAR(m.bias, n.bias, 1e-12 * size());
  EXPECT_LT((Q * m.nA - n.nA).norm() + (Q * m.fB - n.fB).norm(), 1e-13 * size());
  if (which.kind == MeasureKind::slip) return;  // a velocity of two distinct points along a turning axis
  for (Frame* x : {&f.first, &f.second}) x->v = v + w.cross(x->p), x->w = w;
  EXPECT_NEAR(value_at(f).de, 0, 1e-13 * size());
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryMeasure,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(1u, 2u, 5u), testing::Bool()));

TEST(AngleMeasure, IsTheTurnAboutZOverTheWholeCircle) {
  std::mt19937 generator(3);
  Frame A = random_frame(generator), B = A;
  for (double angle : {-3.1, -pi / 2, -1e-9, 0.0, 0.4, pi / 2, 3.0, pi}) {
    B.R = A.R * rotation_z(angle);
    const auto m = evaluate(MeasureKind::angle, {}, A, B);
    EXPECT_NEAR(std::remainder(m.e - angle, 2 * pi), 0, 1e-15 * 4) << angle;
    EXPECT_LT((m.nB - A.R.col(2)).norm(), 1e-15 * 4);
  }
}

TEST(AngleMeasure, KeepsTheTurnWhenTheAxesAreTilted) {
  // R = Rz(angle - s) Rx(tilt) Rz(s): the turn about z is angle, whatever the tilt and its direction.
  std::mt19937 generator(4);
  Frame A = random_frame(generator), B = A;
  for (double tilt : {0.1, 1.5, pi / 2, 3.0})
    for (double s : {0.0, 0.7, 2.0}) {
      B.R = A.R * rotation_z(0.4 - s) * rotation_x(tilt) * rotation_z(s);
      EXPECT_NEAR(evaluate(MeasureKind::angle, {}, A, B).e, 0.4, 1e-13) << tilt;
    }
}

TEST(SwingMeasure, GivesBothAnglesOfAUniversalJoint) {
  std::mt19937 generator(4);
  Frame A = random_frame(generator), B = A;
  for (double z : {-2.5, 0.3, 3.0})
    for (double y : {-1.2, 0.6, 2.0}) {
      B.R = A.R * rotation_z(z) * rotation_y(y);
      EXPECT_NEAR(evaluate(MeasureKind::swing, universal_angle_z(), A, B).e, z, 1e-14);
      EXPECT_NEAR(evaluate(MeasureKind::swing, universal_angle_y(), A, B).e, y, 1e-14);
    }
}

TEST(DotDifferenceMeasure, VanishesOnlyForConstantVelocity) {
  // A shaft tilted without twist keeps the angles equal; one turned on by 0.1 does not.
  Frame A = frames(1, false).first, B = A;
  B.R = A.R * rotation_z(0.8) * rotation_x(0.5) * rotation_z(-0.8);
  EXPECT_NEAR(evaluate(MeasureKind::dot_difference, constant_velocity_axes(), A, B).e, 0, 1e-15);
  B.R = B.R * rotation_z(0.1);
  EXPECT_GT(std::abs(evaluate(MeasureKind::dot_difference, constant_velocity_axes(), A, B).e), 0.1);
}

TEST(RotationMeasure, IsTheRotationVectorOfBAgainstA) {
  Frame A = frames(1, false).first, B = A;
  const Vec3 psi(0.3, -1.4, 0.8);
  B.R = A.R * rotation_exp(psi);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(evaluate(MeasureKind::rotation, {.component = k}, A, B).e, psi[k], 1e-14);
}

TEST(DistanceMeasure, OfCoincidentPointsIsFlaggedWithoutNan) {
  Frame A = frames(1, false).first, B = A;
  const auto m = evaluate(MeasureKind::distance, {}, A, B);
  EXPECT_EQ(m.fault, MeasureFault::zero_length);
  EXPECT_EQ(m.e, 0);
  EXPECT_TRUE(gradient(m).isZero(0));
  const MeasureTangent t = measure_tangent(MeasureKind::distance, {}, A, B);
  EXPECT_EQ(t.fault, MeasureFault::zero_length);
  EXPECT_TRUE(t.H.allFinite() && t.bias_x.allFinite() && t.bias_xi.allFinite());
}

TEST(AngleMeasure, OfOppositeAxesIsFlaggedWithoutNan) {
  Frame A = frames(1, false).first, B = A;
  B.R = A.R * rotation_x(pi);
  EXPECT_EQ(evaluate(MeasureKind::angle, {}, A, B).fault, MeasureFault::opposite_axes);
  EXPECT_TRUE(measure_tangent(MeasureKind::angle, {}, A, B).H.allFinite());
  EXPECT_EQ(evaluate(MeasureKind::swing,
                     {.a = Vec3::UnitX(), .b = Vec3::UnitY(), .c = Vec3::UnitZ(), .d = Vec3::UnitY()}, A, B)
                .fault,
            MeasureFault::no_angle);
}

TEST_P(EveryMeasure, TangentByHandIsTheAutomaticOne) {
  MeasureTangent t;
  measure_detail::dual_tangent(which.kind, which.params, pair.first, pair.second, t);
  const MeasureTangent m = measure_tangent(which.kind, which.params, pair.first, pair.second);
  const double round_off = 1e-14 * size();
  EXPECT_NEAR(m.bias, t.bias, round_off);
  EXPECT_LT((m.g - t.g).norm() + (m.e_x - t.e_x).norm(), round_off);
  EXPECT_LT((m.H - t.H).norm(), round_off);
  EXPECT_LT((m.de_x - t.de_x).norm(), round_off);
  EXPECT_LT((m.bias_x - t.bias_x).norm(), round_off);
  EXPECT_LT((m.bias_xi - t.bias_xi).norm(), round_off);
}

TEST(MeasureTangent, IsReproducedByTwentyFourSeeds) {
  // Poses and twists as 24 independent directions: the derivative of the bias by the twists without the identity
  // bias = g . a + xi^T H xi on which the tangent builds.
  using D = Dual<24>;
  const auto pair = frames(2, false);
  FrameState<D> S[2];
  const Frame* F[] = {&pair.first, &pair.second};
  for (int f = 0; f < 2; ++f)
    for (int i = 0; i < 3; ++i) {
      S[f].p[i] = D::variable(F[f]->p[i], 6 * f + i);
      S[f].v[i] = D::variable(F[f]->v[i], 12 + 6 * f + i);
      S[f].w[i] = D::variable(F[f]->w[i], 15 + 6 * f + i);
      S[f].a[i] = F[f]->a[i];
      S[f].alpha[i] = F[f]->alpha[i];
      for (int j = 0; j < 3; ++j) {
        S[f].R(i, j) = F[f]->R(i, j);
        for (int k = 0; k < 3; ++k) S[f].R(i, j).d[6 * f + 3 + k] = Vec3::Unit(k).cross(F[f]->R.col(j))[i];
      }
    }
  for (const Case& c : cases()) {
    const MeasureValue<D> m = evaluate(c.kind, c.params, S[0], S[1]);
    const MeasureTangent t = measure_tangent(c.kind, c.params, pair.first, pair.second);
    const double size = 1 + t.bias_xi.norm() + t.bias_x.norm();
    EXPECT_LT((m.bias.d.tail<12>().matrix() - t.bias_xi).norm(), 1e-13 * size) << c.name;
    EXPECT_LT((m.bias.d.head<12>().matrix() - t.bias_x).norm(), 1e-13 * size) << c.name;
    EXPECT_LT((m.de.d.tail<12>().matrix() - t.g).norm(), 1e-13 * size) << c.name;
    EXPECT_LT((m.de.d.head<12>().matrix() - t.de_x).norm(), 1e-13 * size) << c.name;
  }
}

}  // namespace
}  // namespace clatter
