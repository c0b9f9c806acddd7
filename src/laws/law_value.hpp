// LawValue: a law of contact with its parameters, as a plain value that any room can hold without knowing the laws.
//
// Which law: its place in the list of laws/laws.hpp. Its parameters stand in the order in which the law declares them.
#pragma once

#include <array>
#include <cstdint>

namespace clatter::laws {

inline constexpr int most_parameters = 8;

struct LawValue {
  std::uint8_t kind = 0;
  std::array<double, most_parameters> parameter{};
};

}  // namespace clatter::laws
