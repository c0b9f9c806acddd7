#include "study/study.hpp"

#include <fmt/format.h>

#include <array>

namespace clatter::study {

std::span<const Study* const> studies() {
  static const std::array all{
      &simulate_study(),
  };
  return all;
}

const Study& study_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Study* study : studies()) {
    if (study->name() == name) return *study;
    known.emplace_back(study->name());
  }
  throw InputError(fmt::format("there is no study `{}`", name), did_you_mean(std::string(name), known));
}

}  // namespace clatter::study
