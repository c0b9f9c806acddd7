// Newmark's family (E-21) and the spectral radius of generalized-alpha (VV-13), seen in what the steps do.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "base/error.hpp"
#include "integrate/alpha_weights.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

// The recursion that the steps of an undamped oscillator follow, x_{n+k} = c_0 x_n + ... + c_{k-1} x_{n+k-1}, from 2k
// of them, and its largest root. k = 3 in general; without memory of accelerations (am = af = 0) it is 2.
double radius_of_steps(const IntegratorSettings& settings, double frequency, int k) {
  Oscillator problem(frequency);
  auto integrator = make_integrator(quiet(settings), problem);
  // Accelerations of the order of one, also where the vibration is fast.
  const double size = std::min(1.0, 1 / (frequency * frequency));
  integrator->start(make_state(vec({size}), vec({0.3 * frequency * size})));
  std::vector<double> x;
  for (int i = 0; i < 2 * k; ++i) {
    x.push_back(integrator->state().q[0]);
    integrator->step(1e9);
  }
  Mat H(k, k), companion = Mat::Zero(k, k);
  Vec b(k);
  for (int i = 0; i < k; ++i) {
    b[i] = x[static_cast<std::size_t>(i + k)];
    for (int j = 0; j < k; ++j) H(i, j) = x[static_cast<std::size_t>(i + j)];
  }
  companion.row(k - 1) = H.fullPivLu().solve(b).transpose();
  for (int i = 0; i + 1 < k; ++i) companion(i, i + 1) = 1;
  return companion.eigenvalues().cwiseAbs().maxCoeff();
}

// The same from the scheme's equations at h omega = z, with unknowns q, h v, h^2 A.
double radius_of_scheme(const AlphaWeights& w, double z) {
  Mat3 next = Mat3::Zero(), now = Mat3::Zero();
  next << 1, 0, -w.beta, 0, 1, -w.gamma, (1 - w.af) * z * z, 0, 1 - w.am;
  now << 1, 1, 0.5 - w.beta, 0, 1, 1 - w.gamma, -w.af * z * z, 0, -w.am;
  return Mat3(next.inverse() * now).eigenvalues().cwiseAbs().maxCoeff();
}

IntegratorSettings with(const AlphaWeights& weights, double step) {
  IntegratorSettings settings = fixed(Scheme::generalized_alpha, step);
  settings.alpha_weights = weights;
  return settings;
}

double observed_order(const AlphaWeights& weights) {
  Oscillator problem;
  const auto error = [&](int n) {
    const State s = run_to(problem, with(weights, 3.0 / n), Oscillator::initial(), 3.0);
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  return order(error(200), error(400));
}

TEST(Newmark, IsOfSecondOrderForGammaOneHalfOnly) {
  EXPECT_NEAR(observed_order(AlphaWeights::newmark(0.25, 0.5)), 2, 0.05);     // trapezoidal rule
  EXPECT_NEAR(observed_order(AlphaWeights::newmark(1.0 / 6, 0.5)), 2, 0.05);  // linear acceleration
  EXPECT_NEAR(observed_order(AlphaWeights::newmark(0.3025, 0.6)), 1, 0.05);
  EXPECT_NEAR(observed_order(AlphaWeights::newmark(0.49, 0.9)), 1, 0.1);
}

TEST(HilberHughesTaylor, IsOfSecondOrderForEveryAlpha) {
  for (const double alpha : {0.0, -0.05, -0.1, -1.0 / 3})
    EXPECT_NEAR(observed_order(AlphaWeights::hilber_hughes_taylor(alpha)), 2, 0.05) << alpha;
}

// VV-13. What the steps do is the scheme's amplification matrix: to 1e-6, but for triple roots, of which rounding of
// 1e-15 moves each by its cube root.
TEST(GeneralizedAlpha, HasTheSpectralRadiusOfItsAmplificationMatrix) {
  for (const double rho : {0.3, 0.5, 0.8})
    for (const double z : {0.1, 1.0, 3.0, 10.0, 100.0}) {
      IntegratorSettings settings = fixed(Scheme::generalized_alpha, 1);
      settings.rho_inf = rho;
      EXPECT_NEAR(radius_of_steps(settings, z, 3), radius_of_scheme(AlphaWeights::chung_hulbert(rho), z), 1e-4)
          << rho << " " << z;
    }
}

// VV-13. At h omega = z the three roots lie within (c/z^2)^(1/3) of -rho_inf: 1e-3 at 1e5. With rho_inf = 0 a step
// leaves nothing.
TEST(GeneralizedAlpha, KeepsRhoInfinityOfTheFastestVibrations) {
  for (const double rho : {0.3, 0.5, 0.8, 0.9}) {
    IntegratorSettings settings = fixed(Scheme::generalized_alpha, 1);
    settings.rho_inf = rho;
    EXPECT_NEAR(radius_of_steps(settings, 1e5, 3), rho, 5e-3) << rho;
    EXPECT_NEAR(AlphaWeights::chung_hulbert(rho).radius_at_infinity(), rho, 1e-6) << rho;
  }
  // With 1 nothing is lost at any frequency; the root of the accelerations' memory is not excited then.
  IntegratorSettings settings = fixed(Scheme::generalized_alpha, 1);
  settings.rho_inf = 1;
  for (const double z : {0.1, 1.0, 10.0, 1e3}) EXPECT_NEAR(radius_of_steps(settings, z, 2), 1, 1e-6) << z;
  Oscillator problem(1e5);
  settings.rho_inf = 0;
  auto integrator = make_integrator(quiet(settings), problem);
  integrator->start(make_state(vec({1e-10}), vec({0})));
  integrator->step(1e9);
  const double after_one = std::abs(integrator->state().q[0]);
  for (int i = 0; i < 5; ++i) integrator->step(1e9);
  EXPECT_LT(std::abs(integrator->state().q[0]), 1e-6 * std::max(after_one, 1e-10));
}

TEST(Newmark, HasTheSpectralRadiusOfItsAmplificationMatrix) {
  const AlphaWeights damped = AlphaWeights::newmark(0.3025, 0.6), trapezoidal = AlphaWeights::newmark(0.25, 0.5);
  for (const double z : {0.3, 3.0, 30.0}) {
    EXPECT_NEAR(radius_of_steps(with(damped, 1), z, 2), radius_of_scheme(damped, z), 1e-9) << z;
    EXPECT_NEAR(radius_of_steps(with(trapezoidal, 1), z, 2), 1, 1e-9) << z;
  }
  // (gamma - 3/2)/(gamma + 1/2) at infinity for beta = (gamma + 1/2)^2 / 4.
  EXPECT_NEAR(damped.radius_at_infinity(), 0.9 / 1.1, 1e-7);
}

TEST(HilberHughesTaylor, HasTheSpectralRadiusOfItsAmplificationMatrix) {
  for (const double alpha : {-0.1, -1.0 / 3}) {
    const AlphaWeights weights = AlphaWeights::hilber_hughes_taylor(alpha);
    for (const double z : {0.3, 3.0, 30.0})
      EXPECT_NEAR(radius_of_steps(with(weights, 1), z, 3), radius_of_scheme(weights, z), 1e-6) << alpha << " " << z;
    EXPECT_NEAR(weights.radius_at_infinity(), radius_of_scheme(weights, 1e7), 1e-3) << alpha;
  }
}

// The trapezoidal rule cannot hold constraints of index 3: their forces oscillate undamped.
TEST(Newmark, RefusesConstraintsWithoutDamping) {
  CartesianPendulum pendulum;
  EXPECT_THROW(make_integrator(with(AlphaWeights::newmark(0.25, 0.5), 0.01), pendulum), InputError);
  EXPECT_NO_THROW(make_integrator(with(AlphaWeights::newmark(0.3025, 0.6), 0.01), pendulum));
  EXPECT_NO_THROW(make_integrator(with(AlphaWeights::hilber_hughes_taylor(-0.1), 0.01), pendulum));
}

}  // namespace
}  // namespace clatter::test
