#include "model/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

namespace clatter {

namespace {

constexpr int whole = 12;
constexpr int largest = 24 * whole;  // exponents beyond 24 are a mistake

Dimension dim(int kg, int m, int s, int A = 0, int K = 0, bool angle = false) {
  const auto t = [](int e) { return static_cast<std::int16_t>(e * whole); };
  return {{t(kg), t(m), t(s), t(A), t(K)}, angle};
}

std::int16_t clamped(int e) { return static_cast<std::int16_t>(std::clamp(e, -largest, largest)); }

struct NamedUnit {
  const char* name;
  Unit unit;
};

const std::vector<NamedUnit>& table() {
  constexpr double pi = std::numbers::pi;
  constexpr double inch = 0.0254, lb = 0.45359237, g0 = 9.80665;
  static const std::vector<NamedUnit> units{
      {"m", {1, dim(0, 1, 0)}},
      {"km", {1e3, dim(0, 1, 0)}},
      {"dm", {1e-1, dim(0, 1, 0)}},
      {"cm", {1e-2, dim(0, 1, 0)}},
      {"mm", {1e-3, dim(0, 1, 0)}},
      {"um", {1e-6, dim(0, 1, 0)}},
      {"\xc2\xb5m", {1e-6, dim(0, 1, 0)}},
      {"nm", {1e-9, dim(0, 1, 0)}},
      {"inch", {inch, dim(0, 1, 0)}},
      {"ft", {12 * inch, dim(0, 1, 0)}},
      {"kg", {1, dim(1, 0, 0)}},
      {"g", {1e-3, dim(1, 0, 0)}},
      {"mg", {1e-6, dim(1, 0, 0)}},
      {"tonne", {1e3, dim(1, 0, 0)}},
      {"lb", {lb, dim(1, 0, 0)}},
      {"s", {1, dim(0, 0, 1)}},
      {"ms", {1e-3, dim(0, 0, 1)}},
      {"us", {1e-6, dim(0, 0, 1)}},
      {"min", {60, dim(0, 0, 1)}},
      {"h", {3600, dim(0, 0, 1)}},
      {"Hz", {1, dim(0, 0, -1)}},
      {"kHz", {1e3, dim(0, 0, -1)}},
      {"rad", {1, dim(0, 0, 0, 0, 0, true)}},
      {"mrad", {1e-3, dim(0, 0, 0, 0, 0, true)}},
      {"deg", {pi / 180, dim(0, 0, 0, 0, 0, true)}},
      {"\xc2\xb0", {pi / 180, dim(0, 0, 0, 0, 0, true)}},
      {"rev", {2 * pi, dim(0, 0, 0, 0, 0, true)}},
      {"rpm", {2 * pi / 60, dim(0, 0, -1, 0, 0, true)}},
      {"N", {1, dim(1, 1, -2)}},
      {"mN", {1e-3, dim(1, 1, -2)}},
      {"kN", {1e3, dim(1, 1, -2)}},
      {"MN", {1e6, dim(1, 1, -2)}},
      {"lbf", {lb * g0, dim(1, 1, -2)}},
      {"Nm", {1, dim(1, 2, -2)}},
      {"kNm", {1e3, dim(1, 2, -2)}},
      {"Pa", {1, dim(1, -1, -2)}},
      {"kPa", {1e3, dim(1, -1, -2)}},
      {"MPa", {1e6, dim(1, -1, -2)}},
      {"GPa", {1e9, dim(1, -1, -2)}},
      {"bar", {1e5, dim(1, -1, -2)}},
      {"psi", {lb * g0 / (inch * inch), dim(1, -1, -2)}},
      {"J", {1, dim(1, 2, -2)}},
      {"mJ", {1e-3, dim(1, 2, -2)}},
      {"kJ", {1e3, dim(1, 2, -2)}},
      {"W", {1, dim(1, 2, -3)}},
      {"kW", {1e3, dim(1, 2, -3)}},
      {"A", {1, dim(0, 0, 0, 1)}},
      {"mA", {1e-3, dim(0, 0, 0, 1)}},
      {"V", {1, dim(1, 2, -3, -1)}},
      {"ohm", {1, dim(1, 2, -3, -2)}},
      {"C", {1, dim(0, 0, 1, 1)}},
      {"F", {1, dim(-1, -2, 4, 2)}},
      {"H", {1, dim(1, 2, -2, -2)}},
      {"Wb", {1, dim(1, 2, -2, -1)}},
      {"T", {1, dim(1, 0, -2, -1)}},
      {"K", {1, dim(0, 0, 0, 0, 1)}},
      {"%", {1e-2, dim(0, 0, 0)}},
  };
  return units;
}

bool name_byte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '_' || u == '.' ||
         u >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

// The bytes of one unit name at the start of text.
std::size_t unit_word(std::string_view text) {
  if (!text.empty() && text[0] == '%') return 1;
  std::size_t n = 0;
  if (!text.empty() && digit(text[0])) return 0;
  while (n < text.size() && name_byte(text[n])) ++n;
  return n;
}

}  // namespace

Dimension operator*(const Dimension& a, const Dimension& b) {
  Dimension r;
  for (std::size_t i = 0; i < 5; ++i) r.twelfths[i] = clamped(a.twelfths[i] + b.twelfths[i]);
  r.angle = a.angle != b.angle;
  return r;
}
Dimension operator/(const Dimension& a, const Dimension& b) {
  Dimension r;
  for (std::size_t i = 0; i < 5; ++i) r.twelfths[i] = clamped(a.twelfths[i] - b.twelfths[i]);
  r.angle = a.angle != b.angle;
  return r;
}

std::optional<Dimension> power(const Dimension& d, double exponent) {
  Dimension r;
  r.angle = d.angle && exponent == 1;
  for (std::size_t i = 0; i < 5; ++i) {
    const double e = d.twelfths[i] * exponent;
    if (!(std::abs(e) <= largest) || std::abs(e - std::round(e)) > 1e-9) return {};
    r.twelfths[i] = static_cast<std::int16_t>(std::lround(e));
  }
  return r;
}

std::string base_units(const Dimension& d) {
  static constexpr const char* names[] = {"kg", "m", "s", "A", "K"};
  std::string above, below;
  const auto append = [](std::string& s, const char* name, int twelfths) {
    if (!s.empty()) s += '*';
    s += name;
    if (twelfths == whole) return;
    s += twelfths % whole == 0 ? fmt::format("^{}", twelfths / whole)
                               : fmt::format("^({:.6g})", static_cast<double>(twelfths) / whole);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    if (d.twelfths[i] > 0) append(above, names[i], d.twelfths[i]);
    if (d.twelfths[i] < 0) append(below, names[i], -d.twelfths[i]);
  }
  if (above.empty()) above = "1";
  if (below.empty()) return above;
  return above + "/" + (below.find('*') == std::string::npos ? below : "(" + below + ")");
}

std::string describe(const Dimension& d) {
  struct Known {
    Dimension dimension;
    const char* name;
  };
  static const std::vector<Known> known{
      {dim(0, 1, 0), "a length"},
      {dim(1, 0, 0), "a mass"},
      {dim(0, 0, 1), "a time"},
      {dim(0, 0, 0, 1), "a current"},
      {dim(0, 0, 0, 0, 1), "a temperature"},
      {dim(0, 1, -1), "a velocity"},
      {dim(0, 1, -2), "an acceleration"},
      {dim(0, 0, -1), "an angular velocity or frequency"},
      {dim(0, 0, -2), "an angular acceleration"},
      {dim(1, 1, -2), "a force"},
      {dim(1, 2, -2), "a torque or energy"},
      {dim(1, 2, -3), "a power"},
      {dim(1, -1, -2), "a pressure"},
      {dim(1, 2, 0), "a moment of inertia"},
      {dim(1, -3, 0), "a density"},
      {dim(1, 0, -2), "a stiffness (N/m)"},
      {dim(1, 0, -1), "a damping (N*s/m)"},
      {dim(1, 2, -1), "a rotational damping (N*m*s)"},
      {dim(1, 1, -1), "an impulse"},
      {dim(0, 2, 0), "an area"},
      {dim(0, 3, 0), "a volume"},
      {dim(1, 2, -3, -1), "a voltage"},
      {dim(1, 2, -3, -2), "a resistance"},
  };
  if (d.dimensionless()) return d.angle ? "an angle" : "a number without unit";
  for (const auto& k : known)
    if (k.dimension == d) return k.name;
  return "a quantity in " + base_units(d);
}

std::optional<Unit> find_unit(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, Unit> m;
    for (const auto& u : table()) m.emplace(u.name, u.unit);
    return m;
  }();
  const auto it = index.find(name);
  if (it == index.end()) return {};
  return it->second;
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const auto& u : table()) names.emplace_back(u.name);
  return names;
}

std::optional<UnitMatch> match_unit(std::string_view text) {
  UnitMatch result;
  std::size_t at = 0;
  bool divide = false, any = false;
  if (text.starts_with("1/")) at = 2, divide = true;
  while (true) {
    const std::size_t n = unit_word(text.substr(at));
    if (n == 0) break;
    const auto unit = find_unit(text.substr(at, n));
    if (!unit || (at + n < text.size() && text[at + n] == '(')) break;
    std::size_t end = at + n;
    double exponent = 1;
    if (end < text.size() && text[end] == '^') {
      std::size_t p = end + 1;
      const bool negative = p < text.size() && text[p] == '-';
      if (negative) ++p;
      // One digit with or without decimals, not the start of a longer number: the sensible exponents.
      if (p >= text.size() || !digit(text[p])) break;
      std::size_t q = p + 1;
      if (q + 1 < text.size() && text[q] == '.' && digit(text[q + 1]))
        for (++q; q < text.size() && digit(text[q]);) ++q;
      if (q < text.size() && name_byte(text[q])) break;
      exponent = match_number(text.substr(p, q - p))->value * (negative ? -1 : 1);
      end = q;
    }
    if (divide) exponent = -exponent;
    const auto raised = power(unit->dimension, exponent);
    if (!raised) break;
    result.unit.factor *= std::pow(unit->factor, exponent);
    result.unit.dimension = result.unit.dimension * *raised;
    if (unit->dimension.angle && std::abs(exponent) == 1 && !raised->angle)
      result.unit.dimension.angle = !result.unit.dimension.angle;
    result.length = end;
    any = true;
    if (end + 1 >= text.size() || (text[end] != '*' && text[end] != '/')) break;
    divide = text[end] == '/';
    at = end + 1;
  }
  if (!any) return {};
  return result;
}

Dimension dimension_of(std::string_view unit) {
  if (unit.empty() || unit == "1") return {};
  const auto m = match_unit(unit);
  if (!m || m->length != unit.size()) throw std::logic_error("not a unit: " + std::string(unit));
  return m->unit.dimension;
}

std::optional<NumberMatch> match_number(std::string_view text) {
  if (text.empty()) return {};
  const bool begins = digit(text[0]) || (text[0] == '.' && text.size() > 1 && digit(text[1]));
  if (!begins) return {};
  NumberMatch m;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), m.value, std::chars_format::general);
  if (end == text.data()) return {};
  m.length = static_cast<std::size_t>(end - text.data());
  if (error == std::errc::result_out_of_range) {
    // Too large is infinite, too small is zero; from_chars leaves the value alone in both cases.
    const auto e = text.substr(0, m.length).find_first_of("eE");
    const bool tiny = e != std::string_view::npos && e + 1 < m.length && text[e + 1] == '-';
    m.value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc()) {
    return {};
  }
  return m;
}

}  // namespace clatter
