// Creep forces (Y-45, YV-26): published figures, limits, an integral and a discretised patch as oracles, derivatives.
#include "contact/creep_force.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "contact/hertz_ellipse.hpp"

namespace clatter::contact {
namespace {

constexpr double pi = std::numbers::pi;

// YV-26.
const CreepPatch kPatch{
    .a = 4.2071e-3, .b = 2.01e-3, .N = 15e3, .shear_modulus = 8.203e10, .C11 = 4.12, .C22 = 3.67, .C23 = 1.47};
const CreepFriction kDry{.mu = 0.3};
const double kLimit = 0.3 * 15e3;

Eigen::Vector2d force(double x, double y, double spin, const CreepPatch& patch = kPatch,
                      const CreepFriction& friction = kDry) {
  return creep_force({.x = x, .y = y, .spin = spin}, patch, friction).force;
}

TEST(CreepForce, HasThePublishedValues) {
  // YV-26. The figures belong to semi-axes that are printed with rounding (0.05 um each, 3.7e-5 of a b), and the force
  // grows at most in proportion to a b.
  const double table[][2] = {{1e-4, 285.32},  {5e-4, 1372.85}, {1e-3, 2469.79},
                             {2e-3, 3678.97}, {5e-3, 4397.14}, {1e-2, 4485.32}};
  for (const auto& [x, value] : table) {
    EXPECT_NEAR(-force(x, 0, 0).x(), value, 4e-5 * value) << x;
    EXPECT_EQ(force(x, 0, 0).y(), 0);
  }
}

TEST(CreepForce, OfTheEllipseOfAWheelHasThePublishedValues) {
  // The semi-axes of YV-26 are those of a wheel of 0.457 m on a radius of 0.15 m across it, steel: E = 2.1e11, nu =
  // 0.28, G = E/(2 (1 + nu)). Found here from the figures, not given by the source.
  const HertzEllipse h = hertz_ellipse(0.5 / 0.457, 0.5 / 0.15, contact_modulus(2.1e11, 0.28, 2.1e11, 0.28));
  CreepPatch patch = kPatch;
  patch.a = h.a.value * HertzEllipse::growth(patch.N);
  patch.b = h.b.value * HertzEllipse::growth(patch.N);
  EXPECT_NEAR(patch.a, 4.2071e-3, 0.05e-6);
  EXPECT_NEAR(patch.b, 2.0100e-3, 0.05e-6);
  EXPECT_NEAR(-force(1e-3, 0, 0, patch).x(), 2469.79, 0.02);
}

TEST(CreepForce, OfSmallCreepagesIsKalkersLinearForce) {
  // The next term is of order eps^2, here below 1e-7; alone along one axis, or pure spin.
  const Creepage cases[] = {{.x = 1e-8}, {.y = -1e-8}, {.spin = 1e-5}, {.x = 1e-14}, {.spin = -1e-12}};
  for (const Creepage& c : cases) {
    const Eigen::Vector2d linear = linear_creep_force(c, kPatch);
    EXPECT_LT((creep_force(c, kPatch, kDry).force - linear).norm(), 1e-7 * linear.norm()) << c.x << c.y << c.spin;
  }
  // Oblique: the size of the linear force, along the creepage.
  const Eigen::Vector2d linear = linear_creep_force({.x = 3e-8, .y = 4e-8}, kPatch), oblique = force(3e-8, 4e-8, 0);
  EXPECT_NEAR(oblique.norm(), linear.norm(), 1e-7 * linear.norm());
  EXPECT_NEAR(oblique.x() * 4, oblique.y() * 3, 1e-14);
}

TEST(CreepForce, GrowsToTheLimitAndNeverBeyond) {
  // Monotonic in creepage; mu N is approached as 4/(3 pi eps^3): 1e-3 of it left at eps = 7.5.
  double before = 0;
  for (double x = 1e-6; x < 10; x *= 1.1) {
    const double now = -force(x, 0, 0).x();
    EXPECT_GT(now, before) << x;
    EXPECT_LT(now, kLimit) << x;
    before = now;
  }
  // The next term of the series in 1/eps is of order eps^-5, and rounding.
  const double eps_x = pi * kPatch.shear_modulus * kPatch.a * kPatch.b * kPatch.C11 / (4 * kLimit);
  const double eps_y = eps_x * kPatch.C22 / kPatch.C11;
  EXPECT_NEAR(force(1, 0, 0).x(), -kLimit * (1 - 4 / (3 * pi * std::pow(eps_x, 3))), 1e-13 * kLimit);
  EXPECT_NEAR(force(0, -1, 0).y(), kLimit * (1 - 4 / (3 * pi * std::pow(eps_y, 3))), 1e-13 * kLimit);
  // With spin of either sign, for slender and broad patches.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> power(-6, 0), angle(0, 2 * pi), spin(-3, 2), shape(-1.5, 1.5);
  for (int i = 0; i < 20000; ++i) {
    CreepPatch patch = kPatch;
    const double root = std::exp(0.5 * shape(random)), mean = std::sqrt(kPatch.a * kPatch.b);
    patch.a = mean * root;
    patch.b = mean / root;
    const double size = std::pow(10, power(random)), direction = angle(random), phi = std::pow(10, spin(random));
    const Eigen::Vector2d F = force(size * std::cos(direction), size * std::sin(direction), phi, patch);
    EXPECT_LE(F.norm(), kLimit) << size << " " << direction << " " << phi;
    // Friction takes energy: its power with the creepages alone may be positive only where spin pushes along.
    EXPECT_LE(force(size * std::cos(direction), size * std::sin(direction), 0, patch).x() * std::cos(direction), 0);
  }
}

TEST(CreepForce, IsTheIntegralOfTractionsThatGrowUntilAnEllipticBound) {
  // Where a particle of the wheel enters the patch its traction grows in proportion to the way, 3 G C_11 xi/(8 a) a
  // unit of it (so that unbounded tractions add up to the linear force), and slides where it would pass mu times
  // Hertz's pressure. All strips are alike, so that one integral over a strip remains; the midpoint rule with 20000
  // points and a square root at the edge: 1e-6.
  for (const double xi : {2e-5, 3e-4, 1e-3, 4e-3, 0.03}) {
    const double growth = 3 * kPatch.shear_modulus * kPatch.C11 * xi / (8 * kPatch.a);
    const double bound = 0.3 * 1.5 * kPatch.N / (pi * kPatch.a * kPatch.b);
    const int n = 20000;
    double strip = 0;  // of the half length a, at y = 0
    for (int i = 0; i < n; ++i) {
      const double x = kPatch.a * (1 - (2.0 * i + 1) / n);
      strip += std::min(growth * (kPatch.a - x), bound * std::sqrt(1 - x * x / (kPatch.a * kPatch.a)));
    }
    strip *= 2 * kPatch.a / n;
    // A strip of the half length l carries (l/a)^2 of it, and l^2 integrates to 4 b a^2/3.
    EXPECT_NEAR(-force(xi, 0, 0).x(), strip * 4 * kPatch.b / 3, 1e-6 * kLimit) << xi;
  }
}

TEST(CreepForce, OfPureSpinIsKalkersAndFadesAway) {
  // (3/8) kappa mu N eps/(1 + eps^2)^2: its largest value is at eps^2 = 1/3. Compared with M as Polach writes it.
  const double kappa = 1 + 6.3 * (1 - std::exp(-kPatch.a / kPatch.b));
  for (const double spin : {1e-3, 0.1, 0.7, 3.0, 20.0}) {
    const double eps = 8.0 / 3 * kPatch.b * std::sqrt(kPatch.a * kPatch.b) * kPatch.shear_modulus * kPatch.C23 * spin *
                       kPatch.a / (kappa * kLimit);
    const double d = (eps * eps - 1) / (eps * eps + 1);
    const double M = eps * (-d * d * d / 3 + d * d / 2 - 1.0 / 6) + std::pow(1 - d * d, 1.5) / 3;
    EXPECT_NEAR(-force(0, 0, spin).y(), 9.0 / 16 * kLimit * kappa * M, 1e-11 * kLimit) << spin;
    EXPECT_EQ(force(0, 0, spin).x(), 0);
    EXPECT_DOUBLE_EQ(force(0, 0, -spin).y(), -force(0, 0, spin).y());
  }
}

// Kalker's FASTSIM: strips along rolling, tractions from the leading edge on, bounded by mu times a parabolic pressure.
Eigen::Vector2d fastsim(const Creepage& c, const CreepPatch& p, double mu, int n) {
  const double L1 = 8 * p.a / (3 * p.shear_modulus * p.C11), L2 = 8 * p.a / (3 * p.shear_modulus * p.C22);
  const double L3 = pi * p.a * std::sqrt(p.a / p.b) / (4 * p.shear_modulus * p.C23);
  Eigen::Vector2d sum(0, 0);
  for (int j = 0; j < n; ++j) {
    const double y = p.b * ((2.0 * j + 1) / n - 1), end = p.a * std::sqrt(1 - y * y / (p.b * p.b)), dx = 2 * end / n;
    Eigen::Vector2d traction(0, 0);
    for (int i = 0; i < n; ++i) {
      const double x = end - (i + 0.5) * dx;
      traction -= dx * Eigen::Vector2d(c.x / L1 - c.spin * y / L3, c.y / L2 + c.spin * x / L3);
      const double bound = mu * 2 * p.N / (pi * p.a * p.b) * (1 - x * x / (p.a * p.a) - y * y / (p.b * p.b));
      if (traction.norm() > bound) traction *= bound / traction.norm();
      sum += traction * (dx * 2 * p.b / n);
    }
  }
  return sum;
}

TEST(CreepForce, ComesNearFastsim) {
  // Another pressure and another approximation: alike for creep along one axis (4 % of mu N) and for spin until it
  // saturates (5 %). Where creep and spin act together on this long patch Polach gives 14 % of mu N less.
  const Creepage single[] = {{.x = 1e-4}, {.x = 5e-4}, {.x = 1e-3},   {.x = 2e-3},   {.x = 5e-3},
                             {.y = 1e-3}, {.y = 3e-3}, {.spin = 0.1}, {.spin = 0.5}, {.spin = 1}};
  for (const Creepage& c : single)
    EXPECT_LT((creep_force(c, kPatch, kDry).force - fastsim(c, kPatch, 0.3, 100)).norm(), 0.05 * kLimit)
        << c.x << " " << c.y << " " << c.spin;
  const Creepage both[] = {{.x = 1e-3, .y = 1e-3, .spin = 0.3}, {.y = 1e-3, .spin = 0.5}, {.y = -1e-3, .spin = 0.5}};
  for (const Creepage& c : both)
    EXPECT_LT((creep_force(c, kPatch, kDry).force - fastsim(c, kPatch, 0.3, 100)).norm(), 0.15 * kLimit)
        << c.x << " " << c.y << " " << c.spin;
}

TEST(CreepForce, OfWetRailsStartsFlatterAndFallsAfterItsMaximum) {
  // Polach 2005: slope (k_A + k_S)/2 of Kalker's, mu from 0.4 to 0.4 * 0.4 with the slip s V.
  const CreepFriction wet{.mu = 0.4, .limit = 0.4, .decay = 0.6, .adhesion = 0.3, .slip = 0.1};
  const auto at = [&](double x) { return -creep_force({.x = x, .speed = 20}, kPatch, wet).force.x(); };
  const double linear = linear_creep_force({.x = -1e-9}, kPatch).x();
  EXPECT_NEAR(at(1e-9), 0.2 * linear, 1e-6 * linear);
  EXPECT_GT(at(0.02), at(0.2));
  EXPECT_GT(at(0.02), at(0.002));
  // Far out mu N (1 - (2/pi) (1/k_S - 1/k_A) / eps).
  const double limit = 0.4 * 0.4 * kPatch.N, eps = 100 * linear / 1e-9 * pi / (4 * limit);
  EXPECT_NEAR(at(100), limit * (1 - 2 / pi * (10 - 10.0 / 3) / eps), 1e-9 * limit);
}

TEST(CreepForce, HasExactDerivatives) {
  // Central differences, relative step 1e-5: their error is about 1e-9 of the scale; N moves the semi-axes with it.
  std::mt19937 random(11);
  std::uniform_real_distribution<double> power(-5, -1.5), spin(-2, 1), sign(-1, 1);
  const CreepFriction laws[] = {kDry, {.mu = 0.4, .limit = 0.4, .decay = 0.6, .adhesion = 0.3, .slip = 0.1}};
  for (int i = 0; i < 600; ++i) {
    const double v[kCreepVariables] = {std::copysign(std::pow(10, power(random)), sign(random)),
                                       std::copysign(std::pow(10, power(random)), sign(random)),
                                       std::copysign(std::pow(10, spin(random)), sign(random)), 15e3, 20};
    const CreepFriction& law = laws[i % 2];
    const auto at = [&](const double* z) {
      CreepPatch patch = kPatch;
      patch.N = z[3];
      patch.a *= std::cbrt(z[3] / kPatch.N);
      patch.b *= std::cbrt(z[3] / kPatch.N);
      return creep_force({z[0], z[1], z[2], z[4]}, patch, law);
    };
    const CreepForce here = at(v);
    for (int k = 0; k < kCreepVariables; ++k) {
      double up[kCreepVariables], down[kCreepVariables];
      std::copy_n(v, +kCreepVariables, up);
      std::copy_n(v, +kCreepVariables, down);
      up[k] += 1e-5 * std::abs(v[k]);
      down[k] -= 1e-5 * std::abs(v[k]);
      const auto high = at(up), low = at(down);
      // Across the switch of s_y the law has a kink: there the sides differ and nothing is compared.
      const double jump = ((high.by - low.by).col(k) * v[k]).norm();
      if (jump > 1e-3 * kLimit) continue;
      const Eigen::Vector2d difference = (high.force - low.force) / (2e-5 * std::abs(v[k]));
      EXPECT_LT((here.by.col(k) - difference).norm() * std::abs(v[k]), 1e-7 * kLimit)
          << "variable " << k << " case " << i;
    }
  }
}

TEST(CreepForce, HasTheDerivativesAlongTheAxesWhereNothingCreeps) {
  const CreepForce rest = creep_force({}, kPatch, kDry);
  const double stiffness = kPatch.shear_modulus * kPatch.a * kPatch.b;
  EXPECT_EQ(rest.force.norm(), 0);
  EXPECT_NEAR(rest.by(0, kCreepX), -stiffness * 4.12, 1e-9 * stiffness);
  EXPECT_NEAR(rest.by(1, kCreepY), -stiffness * 3.67, 1e-9 * stiffness);
  EXPECT_NEAR(rest.by(1, kCreepSpin), -stiffness * std::sqrt(kPatch.a * kPatch.b) * 1.47, 1e-9 * stiffness);
  EXPECT_EQ(rest.by(0, kCreepY), 0);
  EXPECT_EQ(rest.by(0, kCreepSpin), 0);
  EXPECT_TRUE(rest.by.allFinite());
  // With spin alone: differences along the axes.
  const CreepForce spinning = creep_force({.spin = 0.4}, kPatch, kDry);
  EXPECT_TRUE(spinning.by.allFinite());
  EXPECT_NEAR(spinning.by(0, kCreepX), (force(1e-7, 0, 0.4) - force(-1e-7, 0, 0.4)).x() / 2e-7, 1e-6 * stiffness);
  EXPECT_NEAR(spinning.by(1, kCreepY), (force(0, 1e-7, 0.4) - force(0, -1e-7, 0.4)).y() / 2e-7, 1e-6 * stiffness);
}

TEST(CreepForce, OfAWheelThatDoesNotPressIsNone) {
  // T-21: N <= 0, and no division by a vanishing load.
  CreepPatch lifted = kPatch;
  for (const double N : {0.0, -10.0}) {
    lifted.N = N;
    const CreepForce none = creep_force({.x = 0.01, .y = 0.02, .spin = 1}, lifted, kDry);
    EXPECT_EQ(none.force.norm(), 0);
    EXPECT_EQ(none.by.norm(), 0);
    EXPECT_EQ(linear_creep_force({.x = 0.01}, lifted).norm(), 0);
  }
}

TEST(Creepage, IsSlipBySpeedAndStaysFiniteAtRest) {
  // T-21: V -> 0. Above the least speed exactly v/V, below smooth down to half of it; derivatives by differences.
  const auto fast = creepage_of({0.02, -0.03}, 0.5, -10, 0.1).creepage;
  EXPECT_DOUBLE_EQ(fast.x, 0.002);
  EXPECT_DOUBLE_EQ(fast.y, -0.003);
  EXPECT_DOUBLE_EQ(fast.spin, 0.05);
  EXPECT_DOUBLE_EQ(creepage_of({0.02, 0}, 0, 0, 0.1).creepage.x, 0.4);
  for (const double V : {-10.0, -0.1 - 1e-9, -0.03, 0.0, 0.05, 0.1 + 1e-9, 3.0}) {
    const auto here = creepage_of({0.02, -0.03}, 0.5, V, 0.1);
    const double h = 1e-7;
    const auto up = creepage_of({0.02, -0.03}, 0.5, V + h, 0.1).creepage,
               down = creepage_of({0.02, -0.03}, 0.5, V - h, 0.1).creepage;
    // Beside the seam the second derivative jumps: h times it.
    EXPECT_NEAR(here.by(0, 3), (up.x - down.x) / (2 * h), 1e-6) << V;
    EXPECT_NEAR(here.by(2, 3), (up.spin - down.spin) / (2 * h), 3e-5) << V;
    EXPECT_NEAR(here.by(3, 3), (up.speed - down.speed) / (2 * h), 2e-6) << V;
    EXPECT_DOUBLE_EQ(here.by(0, 0), here.creepage.x / 0.02);
  }
}

TEST(KalkerCoefficients, AreThoseOfTheTable) {
  const auto round = kalker_coefficients(1, 0.25);
  EXPECT_NEAR(round.C11.value, 4.12, 1e-12);
  EXPECT_NEAR(round.C22.value, 3.67, 1e-12);
  EXPECT_NEAR(round.C23.value, 1.47, 1e-12);
  const auto across = kalker_coefficients(0.3, 0.5), along = kalker_coefficients(1 / 0.3, 0);
  EXPECT_NEAR(across.C11.value, 4.80, 1e-12);
  EXPECT_NEAR(across.C23.value, 0.889, 1e-12);
  EXPECT_NEAR(along.C22.value, 5.57, 1e-12);
  EXPECT_NEAR(along.C23.value, 3.79, 1e-12);
  // Linear in Poisson's ratio.
  EXPECT_NEAR(kalker_coefficients(1, 0.28).C11.value, 4.12 + 0.12 * (5.20 - 4.12), 1e-12);
  EXPECT_NEAR(kalker_coefficients(1, 0.1).C23.value, 1.33 + 0.4 * (1.47 - 1.33), 1e-12);
}

TEST(KalkerCoefficients, GoOnAsTheLimitsOfSlenderEllipses) {
  // Far out they have the limits' growth: C_11 of a broad patch stays pi^2/(4 (1 - nu)) within the 1 % the table is
  // off.
  EXPECT_NEAR(kalker_coefficients(1e-3, 0.25).C11.value, pi * pi / 3, 0.01 * pi * pi / 3);
  EXPECT_NEAR(kalker_coefficients(1e-3, 0.25).C22.value, pi * pi / 4, 0.03 * pi * pi / 4);
  EXPECT_NEAR(kalker_coefficients(1e-3, 0).C23.value, pi * std::sqrt(1e-3) / 3, 0.01 * pi * std::sqrt(1e-3) / 3);
  const double L = std::log(16 * 1e4), p = L - 0.5;
  const double far = 200 * pi * (1 + (3 - std::log(4.0)) / p) / p;
  EXPECT_NEAR(kalker_coefficients(100, 0.25).C11.value, far, 0.05 * far);
}

TEST(KalkerCoefficients, AreSmoothWithExactDerivatives) {
  // Once continuously differentiable, also through the table's nodes and ends: differences on both sides agree.
  for (const double nu : {0.0, 0.1, 0.28, 0.5})
    for (double ratio = 0.05; ratio < 20; ratio *= 1.0371) {
      const auto here = kalker_coefficients(ratio, nu);
      const double h = 1e-6 * ratio;
      const auto up = kalker_coefficients(ratio + h, nu), down = kalker_coefficients(ratio - h, nu);
      EXPECT_NEAR(here.C11.by_ratio, (up.C11.value - down.C11.value) / (2 * h), 1e-5 * here.C11.value / ratio) << ratio;
      EXPECT_NEAR(here.C22.by_ratio, (up.C22.value - down.C22.value) / (2 * h), 1e-5 * here.C22.value / ratio) << ratio;
      EXPECT_NEAR(here.C23.by_ratio, (up.C23.value - down.C23.value) / (2 * h), 1e-5 * here.C23.value / ratio) << ratio;
    }
  for (const double end : {0.1, 10.0}) {
    const auto below = kalker_coefficients(end * (1 - 1e-9), 0.28), above = kalker_coefficients(end * (1 + 1e-9), 0.28);
    EXPECT_NEAR(below.C23.by_ratio, above.C23.by_ratio, 1e-6 * std::abs(below.C23.by_ratio));
    // The limit of C_11 for broad patches is constant, and near the end the slope grows from there.
    EXPECT_NEAR(below.C11.by_ratio, above.C11.by_ratio, 1e-8 * above.C11.value / end);
  }
}

}  // namespace
}  // namespace clatter::contact
