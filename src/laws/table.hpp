// The contact laws as rows of data: words, sentences, parameters, traits. For all that does not compute with them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "laws/law_value.hpp"
#include "laws/parameter.hpp"

namespace clatter::laws {

struct LawRow {
  std::uint8_t kind;
  const char *type, *model;  // its words in the model language; `model` is empty for the only law of a type
  const char* text;
  std::span<const Parameter> parameters;
  std::span<const double> sample;
  bool usual_model, pulls, jumps, before_touch, has_surface;

  const char* name() const { return model[0] != 0 ? model : type; }
  const Parameter* find(std::string_view key) const;
};

std::span<const LawRow> table();
inline const LawRow& row(const LawValue& law) { return table()[law.kind]; }
// By the words of the model language; null: there is none. An empty model stands for the usual one.
const LawRow* find(std::string_view type, std::string_view model = {});
std::vector<std::string> types();                        // each once
std::vector<std::string> models(std::string_view type);  // empty where a type is one law

// With every parameter at what it is unless given, or as in the law's sample.
LawValue with_defaults(const LawRow& row);
LawValue with_sample(const LawRow& row);
// The parameter of this name; throws std::logic_error where the law has none.
double& parameter(LawValue& law, std::string_view key);
double parameter(const LawValue& law, std::string_view key);
double exponent(const LawValue& law);  // of the penetration; 1 where it is no parameter
// Parameters that grow with the length or area behind a point of contact, times that.
void spread(LawValue& law, double share);
bool within(double value, Parameter::Bound bound);
const char* bound_text(Parameter::Bound bound);  // "must be positive"
// The first parameter outside its bounds, or null.
const Parameter* first_wrong(const LawValue& law);

}  // namespace clatter::laws
