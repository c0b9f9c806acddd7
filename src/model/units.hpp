// Units and dimensions: 15 mm, 9.81 m/s^2, 0.5 kg*m^2, 2e-3 1/s.
//
// A dimension is a product of powers of kg, m, s, A, K. An angle has no dimension, but is remembered as one, so that a
// message can say "got an angle". rpm is 2 pi/60 rad/s. Hz is 1/s and nothing else: a circular frequency is written
// 2*pi*50 Hz or in rpm. A unit follows its number and is written without blanks: 3 N/mm, not 3 N / mm.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clatter {

struct Dimension {
  // Exponents of kg, m, s, A, K in twelfths, so that square and cube roots stay exact.
  std::array<std::int16_t, 5> twelfths{};
  bool angle = false;  // for messages only; ignored when dimensions are compared

  bool operator==(const Dimension& o) const { return twelfths == o.twelfths; }
  bool dimensionless() const { return *this == Dimension{}; }
};

Dimension operator*(const Dimension& a, const Dimension& b);
Dimension operator/(const Dimension& a, const Dimension& b);
// Nothing when the exponents are no twelfths or leave all reason.
std::optional<Dimension> power(const Dimension& d, double exponent);

// "a length", "an angular velocity or frequency", or "a quantity in kg^2/s".
std::string describe(const Dimension& d);
// "kg*m/s^2"
std::string base_units(const Dimension& d);

struct Unit {
  double factor = 1;  // to SI
  Dimension dimension;
};

// A single unit's name ("mm", "kPa"); nothing when unknown.
std::optional<Unit> find_unit(std::string_view name);
std::vector<std::string> unit_names();

// A unit expression at the start of `text` ("N/mm", "kg*m^2", "1/s"), as many bytes as belong to it; nothing when the
// text does not begin with a unit. A name followed by "(" is a function, not a unit.
struct UnitMatch {
  Unit unit;
  std::size_t length = 0;
};
std::optional<UnitMatch> match_unit(std::string_view text);

// The dimension of a unit expression the program itself writes down, "N/m"; throws std::logic_error if it is wrong.
Dimension dimension_of(std::string_view unit);

// A number at the start of `text` as far as it reaches, finite or not; no sign, no hexadecimal, any locale.
struct NumberMatch {
  double value = 0;
  std::size_t length = 0;
};
std::optional<NumberMatch> match_number(std::string_view text);

}  // namespace clatter
