#include "model/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "model/load.hpp"

namespace clatter {
namespace {

double si(const char* text) {
  const auto number = match_number(text);
  const std::string_view rest = std::string_view(text).substr(number->length + 1);
  const auto unit = match_unit(rest);
  EXPECT_TRUE(unit && unit->length == rest.size()) << text;
  return unit ? number->value * unit->unit.factor : std::nan("");
}

// Factors are definitions (SI brochure; inch and pound of 1959), so the tolerance is one rounding of a product.
TEST(Units, ConvertToSi) {
  EXPECT_DOUBLE_EQ(si("15 mm"), 0.015);
  EXPECT_DOUBLE_EQ(si("1000 rpm"), 1000 * 2 * std::numbers::pi / 60);
  EXPECT_DOUBLE_EQ(si("210 GPa"), 210e9);
  EXPECT_DOUBLE_EQ(si("20 deg"), std::numbers::pi / 9);
  EXPECT_DOUBLE_EQ(si("9.81 m/s^2"), 9.81);
  EXPECT_DOUBLE_EQ(si("0.5 kg*m^2"), 0.5);
  EXPECT_DOUBLE_EQ(si("3 N/mm"), 3000);
  EXPECT_DOUBLE_EQ(si("2e-3 1/s"), 2e-3);
  EXPECT_DOUBLE_EQ(si("50 Hz"), 50);
  EXPECT_DOUBLE_EQ(si("5 %"), 0.05);
  EXPECT_DOUBLE_EQ(si("1 inch"), 0.0254);
  EXPECT_DOUBLE_EQ(si("1 lbf"), 4.4482216152605);
  EXPECT_DOUBLE_EQ(si("2 cm^3"), 2e-6);
  EXPECT_DOUBLE_EQ(si("7 g*cm^-3"), 7000);
}

TEST(Units, KnowTheirDimension) {
  EXPECT_EQ(dimension_of("N/mm"), dimension_of("kg/s^2"));
  EXPECT_EQ(dimension_of("V*A"), dimension_of("W"));
  EXPECT_EQ(dimension_of("rpm"), dimension_of("1/s"));
  EXPECT_FALSE(dimension_of("N") == dimension_of("N*m"));
  EXPECT_TRUE(dimension_of("deg").dimensionless());
}

TEST(Units, AreNamedForPeople) {
  EXPECT_EQ(describe(dimension_of("mm")), "a length");
  EXPECT_EQ(describe(dimension_of("ms")), "a time");
  EXPECT_EQ(describe(dimension_of("deg")), "an angle");
  EXPECT_EQ(describe(dimension_of("%")), "a number without unit");
  EXPECT_EQ(describe(dimension_of("kg^2/s")), "a quantity in kg^2/s");
}

TEST(Units, RootsKeepWholeTwelfths) {
  const auto root = power(dimension_of("kg*m^2"), 0.5);
  ASSERT_TRUE(root);
  EXPECT_EQ(*root * *root, dimension_of("kg*m^2"));
  EXPECT_FALSE(power(dimension_of("m"), 0.1));
}

TEST(Units, StopWhereTheUnitEnds) {
  EXPECT_EQ(match_unit("mm*L + 3")->length, 2u);     // L is no unit
  EXPECT_EQ(match_unit("N*min(a, b)")->length, 1u);  // min( is the function, not minutes
  EXPECT_EQ(match_unit("m/s^2 - 1")->length, 5u);
  EXPECT_FALSE(match_unit("metre"));
}

TEST(Units, NumbersTooLargeAreInfiniteAndTooSmallZero) {
  EXPECT_TRUE(std::isinf(match_number("1e999")->value));
  EXPECT_EQ(match_number("1e-999")->value, 0);
  EXPECT_FALSE(match_number("inf"));
  EXPECT_EQ(match_number("0x10")->length, 1u);
}

}  // namespace
}  // namespace clatter
