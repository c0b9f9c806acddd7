// Third derivatives of formulas, against closed forms; also makes the formulas of the other contact tests.
#include "model/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/expression.hpp"

namespace clatter::contact {

std::shared_ptr<const Expression> formula_of_s(const std::string& text) {
  return parse_expression(text).bind([](const std::string&) { return Symbol{}; }, {"s"}).expression;
}

namespace {

// f(s) = g(s) with derivatives of every function by central differences of the next lower one: relative 1e-7 is what
// the step 1e-5 leaves.
TEST(Formula, DerivativesOfEveryFunctionAgreeWithDifferencesOfTheOneBelow) {
  for (const char* text :
       {"sin(s)*cos(2*s)", "tan(s)",      "asin(s/2)",          "acos(s/2)",   "atan(3*s)",    "sinh(s)",   "cosh(s)",
        "tanh(s)",         "exp(s^2)",    "log(1+s)",           "log10(2+s)",  "sqrt(1+s)",    "s^3",       "(1+s)^2.5",
        "(1+s)^s",         "hypot(s, 1)", "atan2(s, 2)",        "atan2(2, s)", "atan2(-2, s)", "1/(1+s^2)", "abs(-s)",
        "min(s, 2)",       "-s + 4",      "smoothstep(s, 0, 1)"}) {
    const auto f = formula_of_s(text);
    const double s = 0.37, h = 1e-5;
    const auto here = formula_at(*f, s), up = formula_at(*f, s + h), down = formula_at(*f, s - h);
    EXPECT_NEAR(here[0], f->value(std::array{s}), 1e-15) << text;
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(here[k + 1], (up[k] - down[k]) / (2 * h), 1e-7 * (1 + std::abs(here[k + 1]))) << text << " " << k;
  }
}

}  // namespace
}  // namespace clatter::contact
