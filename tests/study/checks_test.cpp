// Reductions of recorded series against closed forms of sine, polynomial and step functions.
#include "study/checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "app/summary_text.hpp"

namespace clatter::study {
namespace {

using R = Check::Reduction;
constexpr double pi = std::numbers::pi;

struct Samples {
  std::vector<double> t, x;
};

Samples sampled(double start, double end, int intervals, const std::function<double(double)>& f) {
  Samples s;
  for (int i = 0; i <= intervals; ++i) {
    const double t = start + (end - start) * i / intervals;
    s.t.push_back(t);
    s.x.push_back(f(t));
  }
  return s;
}

double computed(R reduction, const Samples& s, double time = 0) {
  Check check;
  check.reduction = reduction;
  check.time = time;
  const CheckResult r = evaluate_check(check, s.t, s.x);
  EXPECT_TRUE(r.known) << r.reason;
  return r.computed;
}

// sin(t + 0.1) at 100 samples over 6 s, h = 0.06: the peaks at pi/2 - 0.1 and 3 pi/2 - 0.1 lie between samples, where
// the highest sample is short of the peak by up to h^2/8 = 4.5e-4. Tolerance: the quartic's own error, h^5/20 or so.
TEST(Checks, ExtremesBetweenSamplesAreFoundByThePolynomialThroughFive) {
  const Samples s = sampled(0, 6, 100, [](double t) { return std::sin(t + 0.1); });
  EXPECT_NEAR(computed(R::maximum, s), 1, 2e-7);
  EXPECT_NEAR(computed(R::minimum, s), -1, 2e-7);
  EXPECT_NEAR(computed(R::amplitude, s), 1, 2e-7);
  EXPECT_NEAR(computed(R::peak_to_peak, s), 2, 4e-7);
}

// A corner is not a smooth peak: |t - 0.5| sampled at 0, 0.1, ... has its minimum at the sample 0.5 and no lower.
TEST(Checks, ACornerIsNotOvershot) {
  const Samples s = sampled(0, 1, 10, [](double t) { return std::abs(t - 0.53); });
  const double lowest_sample = 0.03;
  EXPECT_LE(computed(R::minimum, s), lowest_sample + 1e-12);
  EXPECT_GE(computed(R::minimum, s), -0.03);
}

// Integral of a cubic is exact for two Gauss points and a four-point polynomial: rounding only.
TEST(Checks, IntegralAndMeanOfACubicAreExact) {
  const Samples s = sampled(1, 3, 7, [](double t) { return t * t * t - 2 * t; });
  const double exact = (81.0 - 1.0) / 4 - (9.0 - 1.0);
  EXPECT_NEAR(computed(R::integral, s), exact, 1e-12);
  EXPECT_NEAR(computed(R::mean, s), exact / 2, 1e-12);
}

// cos t vanishes at pi/2; four points with h = 0.05 leave about h^4/60 = 1e-7.
TEST(Checks, FirstZeroOfTheCosineIsHalfPi) {
  const Samples s = sampled(0, 6, 120, [](double t) { return std::cos(t); });
  EXPECT_NEAR(computed(R::first_zero, s), pi / 2, 2e-7);
}

// A start at zero is not the first zero: sin t vanishes next at pi.
TEST(Checks, TheStartItselfIsNotAZero) {
  const Samples s = sampled(0, 6, 120, [](double t) { return std::sin(t); });
  EXPECT_NEAR(computed(R::first_zero, s), pi, 2e-7);
}

TEST(Checks, AQuantityThatNeverVanishesIsReportedAsUnknown) {
  const Samples s = sampled(0, 1, 10, [](double) { return 2.0; });
  Check check;
  check.reduction = R::first_zero;
  const CheckResult r = evaluate_check(check, s.t, s.x);
  EXPECT_FALSE(r.known);
  EXPECT_FALSE(r.ok());
  EXPECT_NE(r.reason.find("sign"), std::string::npos);
}

TEST(Checks, ValueAtASampleIsThatSampleAndBetweenSamplesThePolynomial) {
  const Samples s = sampled(0, 1, 10, [](double t) { return std::exp(t); });
  EXPECT_EQ(computed(R::at_time, s, s.t[3]), s.x[3]);
  EXPECT_EQ(computed(R::at_time, s, 1.0), s.x[10]);
  EXPECT_NEAR(computed(R::at_time, s, 0.35), std::exp(0.35), 1e-5);  // e h^4 (9/16)/24
  EXPECT_EQ(computed(R::final, s), s.x[10]);
}

TEST(Checks, ATimeOutsideTheRunIsReportedAsUnknown) {
  const Samples s = sampled(0, 1, 10, [](double t) { return t; });
  Check check;
  check.reduction = R::at_time;
  check.time = 2;
  EXPECT_FALSE(evaluate_check(check, s.t, s.x).known);
}

TEST(Checks, DriftIsTheLargestDistanceFromTheStart) {
  const Samples s{{0, 1, 2, 3}, {5, 5.5, 3, 5.25}};
  EXPECT_EQ(computed(R::drift, s), 2);
}

// x jumps from 1 to -1 at t = 1 (an impact): no polynomial may reach across. The integral of the two halves is 0 and
// the values beside the jump stay 1 and -1.
TEST(Checks, AJumpIsNotSmoothedOver) {
  const Samples s{{0, 0.5, 1, 1, 1.5, 2}, {1, 1, 1, -1, -1, -1}};
  EXPECT_NEAR(computed(R::integral, s), 0, 1e-15);
  EXPECT_EQ(computed(R::at_time, s, 0.75), 1);
  EXPECT_EQ(computed(R::at_time, s, 1.25), -1);
  EXPECT_EQ(computed(R::maximum, s), 1);
}

TEST(Checks, OkMeansWithinTheTolerance) {
  const Samples s{{0, 1}, {0, 2.0}};
  Check check;
  check.quantity = "rod.position.x";
  check.value = 2.1;
  check.tolerance = 0.05;
  EXPECT_FALSE(evaluate_check(check, s.t, s.x).ok());
  check.tolerance = 0.11;
  EXPECT_TRUE(evaluate_check(check, s.t, s.x).ok());
  const std::string table = app::checks_table({evaluate_check(check, s.t, s.x)});
  EXPECT_NE(table.find("rod.position.x at the end"), std::string::npos);
  EXPECT_NE(table.find("2.1"), std::string::npos);
  EXPECT_NE(table.find("ok"), std::string::npos);
}

TEST(Checks, ANotANumberIsNeverOk) {
  const Samples s{{0, 1}, {0, std::nan("")}};
  Check check;
  check.tolerance = 1e300;
  EXPECT_FALSE(evaluate_check(check, s.t, s.x).ok());
}

}  // namespace
}  // namespace clatter::study
