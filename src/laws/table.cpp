#include "laws/table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "laws/laws.hpp"

namespace clatter::laws {

namespace {

template <std::size_t... I>
constexpr std::array<LawRow, law_count> make_rows(std::index_sequence<I...>) {
  const auto make = []<class Law>(std::size_t kind, const Law*) {
    static_assert(std::size(Law::sample) == parameter_count<Law>);
    return LawRow{static_cast<std::uint8_t>(kind),
                  Law::type,
                  Law::model,
                  Law::text,
                  Law::parameters,
                  Law::sample,
                  Law::usual_model,
                  Law::pulls,
                  Law::jumps,
                  Law::before_touch,
                  Law::has_surface};
  };
  return {make(I, static_cast<const std::tuple_element_t<I, Laws>*>(nullptr))...};
}

constexpr std::array<LawRow, law_count> kRows = make_rows(std::make_index_sequence<law_count>());

std::size_t place(const LawRow& row, std::string_view key) {
  const Parameter* p = row.find(key);
  if (p == nullptr) throw std::logic_error("the law " + std::string(row.name()) + " has no " + std::string(key));
  return static_cast<std::size_t>(p - row.parameters.data());
}

}  // namespace

const Parameter* LawRow::find(std::string_view key) const {
  for (const Parameter& p : parameters)
    if (p.key == key) return &p;
  return nullptr;
}

std::span<const LawRow> table() { return kRows; }

const LawRow* find(std::string_view type, std::string_view model) {
  for (const LawRow& r : kRows)
    if (r.type == type && (model.empty() ? r.usual_model || r.model[0] == 0 : r.model == model)) return &r;
  return nullptr;
}

std::vector<std::string> types() {
  std::vector<std::string> out;
  for (const LawRow& r : kRows)
    if (std::find(out.begin(), out.end(), r.type) == out.end()) out.emplace_back(r.type);
  return out;
}

std::vector<std::string> models(std::string_view type) {
  std::vector<std::string> out;
  for (const LawRow& r : kRows)
    if (r.type == type && r.model[0] != 0) out.emplace_back(r.model);
  return out;
}

LawValue with_defaults(const LawRow& row) {
  LawValue v{row.kind, {}};
  for (std::size_t i = 0; i < row.parameters.size(); ++i) v.parameter[i] = row.parameters[i].otherwise;
  return v;
}

LawValue with_sample(const LawRow& row) {
  LawValue v{row.kind, {}};
  std::copy(row.sample.begin(), row.sample.end(), v.parameter.begin());
  return v;
}

double& parameter(LawValue& law, std::string_view key) { return law.parameter[place(row(law), key)]; }
double parameter(const LawValue& law, std::string_view key) { return law.parameter[place(row(law), key)]; }

double exponent(const LawValue& law) { return row(law).find("exponent") == nullptr ? 1 : parameter(law, "exponent"); }

void spread(LawValue& law, double share) {
  const std::span<const Parameter> parameters = row(law).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].spread) law.parameter[i] *= share;
}

bool within(double value, Parameter::Bound bound) {
  using enum Parameter::Bound;
  switch (bound) {
    case positive:
      return value > 0;
    case not_negative:
      return value >= 0;
    case fraction:
      return value >= 0 && value <= 1;
    case positive_fraction:
      return value > 0 && value <= 1;
  }
  return false;
}

const char* bound_text(Parameter::Bound bound) {
  using enum Parameter::Bound;
  switch (bound) {
    case positive:
      return "must be positive";
    case not_negative:
      return "cannot be negative";
    case fraction:
      return "lies between 0 and 1";
    case positive_fraction:
      return "must be above 0, up to 1";
  }
  return "";
}

const Parameter* first_wrong(const LawValue& law) {
  const std::span<const Parameter> parameters = row(law).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!within(law.parameter[i], parameters[i].bound)) return &parameters[i];
  return nullptr;
}

}  // namespace clatter::laws
