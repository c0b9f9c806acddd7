#include "model/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <thread>

namespace clatter {
namespace {

BoundExpression compile(const std::string& text) {
  return parse_expression(text).bind([](const std::string& name) -> Symbol {
    if (name == "t") return {{}, dimension_of("s")};
    if (name == "L") return {2.0, dimension_of("m")};
    if (name == "m") return {3.0, dimension_of("kg")};
    return {{}, {}};
  });
}

double constant(const std::string& text) {
  const auto b = compile(text);
  EXPECT_FALSE(b.expression) << text;
  return b.constant;
}

// Values by hand.
TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_DOUBLE_EQ(constant("1 + 2*3^2"), 19);
  EXPECT_DOUBLE_EQ(constant("-2^2"), -4);
  EXPECT_DOUBLE_EQ(constant("2^3^2"), 512);
  EXPECT_DOUBLE_EQ(constant("2^-1"), 0.5);
  EXPECT_DOUBLE_EQ(constant("8/4/2"), 1);
  EXPECT_DOUBLE_EQ(constant("10 - 3 - 2"), 5);
  EXPECT_DOUBLE_EQ(constant("if(1 < 2 and not 3 == 4, 5, 6)"), 5);
  EXPECT_DOUBLE_EQ(constant("1 > 2 or 2 >= 2"), 1);
  EXPECT_DOUBLE_EQ(constant("2*pi"), 2 * std::numbers::pi);
}

TEST(Expression, KnowsWhetherItIsLinear) {
  for (const char* text : {"2*t + x - 3*(y/4 - x)", "-(x + y)*2", "t", "x*(2 + 1) - 5"})
    EXPECT_TRUE(compile(text).expression->linear()) << text;
  for (const char* text : {"x*y", "1/x", "x*x", "abs(x)", "sin(x) + y", "x^2", "if(x > 0, x, y)", "x/y"})
    EXPECT_FALSE(compile(text).expression->linear()) << text;
  // 2 t + x - 3 (y / 4 - x): by hand.
  const auto f = compile("2*t + x - 3*(y/4 - x)").expression;
  const std::vector<double> at{5, 7, 11};
  std::vector<double> g(3), H(9, 1.0);
  EXPECT_DOUBLE_EQ(f->hessian(at, g, H), 10 + 7 - 3 * (11.0 / 4 - 7));
  EXPECT_EQ(g, (std::vector<double>{2, 4, -0.75}));
  EXPECT_EQ(H, std::vector<double>(9, 0.0));
}

TEST(Expression, TakesUnitsAfterNumbers) {
  EXPECT_DOUBLE_EQ(constant("2*L + 15 mm"), 4.015);
  EXPECT_DOUBLE_EQ(constant("9.81 m/s^2 * m"), 29.43);  // with blanks, m is the parameter
  EXPECT_DOUBLE_EQ(constant("3 N/mm*L"), 6000);         // L is no unit: the unit ends before it
  const auto b = compile("1000 rpm * t");
  const double t = 2;
  EXPECT_DOUBLE_EQ(b.expression->value({&t, 1}), 2000 * 2 * std::numbers::pi / 60);
}

TEST(Expression, KnowsItsFunctions) {
  EXPECT_DOUBLE_EQ(constant("min(3, 1, 2) + max(4, 5)"), 6);
  EXPECT_DOUBLE_EQ(constant("mod(-1, 3)"), 2);
  EXPECT_DOUBLE_EQ(constant("hypot(3, 4) + atan2(0, 1) + sign(-2) + step(0)"), 5);
  EXPECT_DOUBLE_EQ(constant("ramp(0.25, 0, 1) + smoothstep(0.5, 0, 1)"), 0.75);
  EXPECT_DOUBLE_EQ(constant("log10(1000)"), 3);
  EXPECT_DOUBLE_EQ(constant("floor(-1.5) + abs(-2)"), 0);
}

struct Derivative : testing::TestWithParam<const char*> {};

// Central differences of step h err by about h^2 f'''/6 + eps f/h, at h = 1e-5 below 1e-8 for these functions; the
// second derivatives by 1e-4 * f''''/12 + 4 eps/h^2 with h = 1e-4, below 1e-6.
TEST_P(Derivative, AgreesWithDifferences) {
  const auto b = compile(GetParam());
  ASSERT_TRUE(b.expression);
  const auto n = static_cast<std::size_t>(b.expression->variables());
  std::vector<double> x{0.37, 0.81, 1.23}, g(n), g2(n), H(n * n);
  x.resize(n);
  const double f = b.expression->value(x);
  EXPECT_DOUBLE_EQ(b.expression->gradient(x, g), f);
  EXPECT_DOUBLE_EQ(b.expression->hessian(x, g2, H), f);
  const auto at = [&](std::size_t i, double di, std::size_t j, double dj) {
    auto y = x;
    y[i] += di;
    y[j] += dj;
    return b.expression->value(y);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double h = 1e-5, k = 1e-4;
    EXPECT_NEAR(g[i], (at(i, h, i, 0) - at(i, -h, i, 0)) / (2 * h), 1e-8 * (1 + std::abs(g[i])));
    EXPECT_DOUBLE_EQ(g[i], g2[i]);
    for (std::size_t j = 0; j < n; ++j) {
      const double d = (at(i, k, j, k) - at(i, k, j, -k) - at(i, -k, j, k) + at(i, -k, j, -k)) / (4 * k * k);
      EXPECT_NEAR(H[i * n + j], d, 2e-6 * (1 + std::abs(d)));
    }
  }
  if (n == 1) {
    const auto m = b.expression->motion(x[0]);
    EXPECT_DOUBLE_EQ(m.value, f);
    EXPECT_DOUBLE_EQ(m.rate, g[0]);
    EXPECT_DOUBLE_EQ(m.acceleration, H[0]);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Derivative,
                         testing::Values("sin(3*x)", "cos(x)*x", "tan(x)", "asin(x)", "acos(x)", "atan(2*x)", "sinh(x)",
                                         "cosh(x)", "tanh(x)", "exp(-x)", "log(x)", "log10(x)", "sqrt(x)", "abs(-x)*x",
                                         "sign(x)*x^2", "floor(x)*x + x^3", "pow(x, 2.5)", "x^-2", "x^y", "2^x",
                                         "hypot(x, y)", "atan2(x, y)", "min(x, y)*x", "max(x^2, y^3)",
                                         "mod(5*x, 0.7) * x", "if(x < y, x^2*y, 1)", "ramp(x, 0.1, 1)^2",
                                         "smoothstep(x, 0, 1)", "smoothstep(x, 0, y)", "x/y/z", "x*y - z^3/x",
                                         "-(x - y)*(x + z)", "step(x - 0.1)*sin(x*y*z)", "exp(x*y)*cos(z)", "x",
                                         "7*x"));

TEST(Expression, SmoothstepIsSmoothTwiceAtItsEnds) {
  const auto b = compile("smoothstep(x, 0, 1)");
  for (const double x : {1e-9, 1 - 1e-9}) {  // inside, next to the ends: f' ~ 30 x^2, f'' ~ 60 x
    const auto m = b.expression->motion(x);
    EXPECT_NEAR(m.rate, 0, 1e-14);  // terms of size 30 cancel: a few roundings of them
    EXPECT_NEAR(m.acceleration, 0, 1e-7);
  }
}

TEST(Expression, DerivativesAtKinksAreFinite) {
  for (const char* text : {"abs(x)", "hypot(x, x)", "atan2(x, x)", "max(x, 0)", "x^2", "x^1", "x^0"}) {
    const auto b = compile(text);
    const auto m = b.expression->motion(0);
    EXPECT_TRUE(std::isfinite(m.value)) << text;
    EXPECT_TRUE(std::isfinite(m.rate) && std::isfinite(m.acceleration)) << text;
  }
}

TEST(Expression, InfiniteSlopeDoesNotSpoilOtherDirections) {
  const auto b = compile("sqrt(x) + y");
  const double x[] = {0, 1};
  double g[2];
  b.expression->gradient(x, g);
  EXPECT_EQ(g[1], 1);
}

TEST(Expression, NamesWithDotsAreVariablesInOrder) {
  const auto b = compile("rod.tip.velocity.x - 2*pin.angle + rod.tip.velocity.x");
  EXPECT_EQ(b.inputs, (std::vector<std::string>{"rod.tip.velocity.x", "pin.angle"}));
}

TEST(Expression, FixedInputsComeFirst) {
  const auto b = parse_expression("k.angle*de").bind([](const std::string&) { return Symbol{}; }, {"e", "de"});
  EXPECT_EQ(b.inputs, (std::vector<std::string>{"e", "de", "k.angle"}));
  const double x[] = {1, 2, 3};
  EXPECT_DOUBLE_EQ(b.expression->value(x), 6);
}

void expect_error(const std::string& text, std::size_t offset, const std::string& message,
                  const std::string& hint = "") {
  try {
    compile(text);
    ADD_FAILURE() << text << " was accepted";
  } catch (const ExpressionError& e) {
    EXPECT_EQ(e.offset, offset) << text;
    EXPECT_EQ(std::string(e.what()), message) << text;
    EXPECT_EQ(e.hint, hint) << text;
  }
}

TEST(Expression, SaysWhereAndWhatIsWrong) {
  expect_error("", 0, "an expression was expected, this is empty");
  expect_error("1 +", 3, "the expression ends too early");
  expect_error("2*(3 + 1", 8, "`)` is missing", "the `(` at position 3 is not closed");
  expect_error("sine(3)", 0, "unknown function `sine`", "did you mean `sin`?");
  expect_error("3 mmm", 2, "unknown unit `mmm`", "did you mean `mm`?");
  expect_error("sin + 1", 0, "`sin` is a function: write sin(...)");
  expect_error("sin(1, 2)", 0, "`sin` takes 1 argument, not 2");
  expect_error("1 = 2", 2, "unexpected `=` in the expression", "a comparison is written `==`");
  expect_error("2 ** 3", 2, "a power is written `^`");
  expect_error("1 < x < 3", 6, "comparisons cannot be chained", "join them with `and`");
  expect_error("1/0", 1, "this has no finite value",
               "a division by zero, or a root or logarithm of a number out of its range?");
  expect_error("a..b", 0, "`a..b` is not a name: a part between the dots is missing");
  expect_error("1e999", 0, "this number is too large");
}

TEST(Expression, ChecksDimensionsWhereTheyAreKnown) {
  expect_error("L + m", 2, "these cannot be added: a length and a mass");
  expect_error("L + 3 s", 2, "these cannot be added: a length and a time");
  expect_error("sin(t)", 0, "the argument must be a number or an angle, not a time",
               "multiply by a frequency: 2*pi*50 Hz*t, 10 rad/s*t or 10*t");
  expect_error("sin(L)", 0, "the argument must be a number or an angle, not a length");
  expect_error("if(t > L, 1, 2)", 5, "these cannot be compared: a time and a length");
  expect_error("L^t", 1, "an exponent must be a number or an angle, not a time",
               "multiply by a frequency: 2*pi*50 Hz*t, 10 rad/s*t or 10*t");
  EXPECT_EQ(*compile("sqrt(L*L)").dimension, dimension_of("m"));
  EXPECT_EQ(*compile("m*L^2/t^2").dimension, dimension_of("J"));
  EXPECT_FALSE(compile("1 - cos(pi/3)").dimension);  // stands for itself, like a bare number
  EXPECT_EQ(*compile("L*cos(pi/3)").dimension, dimension_of("m"));
  EXPECT_EQ(*compile("L/L").dimension, dimension_of("1"));
  EXPECT_FALSE(compile("5*t").dimension);  // a bare factor adopts what is needed
  EXPECT_EQ(*compile("L + 3").dimension, dimension_of("m"));
}

TEST(Expression, BoundsItsSize) {
  std::string many = "x1";
  for (int i = 2; i <= 17; ++i) many += " + x" + std::to_string(i);
  EXPECT_THROW(compile(many), ExpressionError);
  EXPECT_THROW(compile(std::string(100, '(') + "1" + std::string(100, ')')), ExpressionError);
  EXPECT_THROW(compile(std::string(1000, '-') + "1"), ExpressionError);
  EXPECT_THROW(compile(std::string(5000, '1')), ExpressionError);
  std::string nested = "x";
  for (int i = 0; i < 40; ++i) nested = "(x + " + nested + ")";  // needs a stack of 41
  EXPECT_THROW(compile(nested), ExpressionError);
  std::string chain = "x";
  for (int i = 0; i < 900; ++i) chain += "+x";  // long, but flat
  EXPECT_NO_THROW(compile(chain));
}

TEST(Expression, IsSharedBetweenThreads) {
  const auto b = compile("sin(x)*exp(-x) + x^2");
  const auto sum = [&] {
    double s = 0;
    for (int i = 0; i < 10000; ++i) s += b.expression->motion(i * 1e-3).acceleration;
    return s;
  };
  const double expected = sum();
  double other = 0;
  std::thread thread([&] { other = sum(); });
  EXPECT_EQ(sum(), expected);
  thread.join();
  EXPECT_EQ(other, expected);
}

}  // namespace
}  // namespace clatter
