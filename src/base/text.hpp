// Words and numbers for reading.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clatter {

// A number for reading: `digits` significant ones, no trailing zeros, an exponent only where it helps ("0.0125",
// "3.2e-09").
std::string number(double x, int digits = 6);
// With thousands set apart: 1 234 567.
std::string whole(std::uint64_t n);
// "1 body", "2 bodies" (plural given where it is not the word with an s).
std::string counted(std::uint64_t n, std::string_view singular, std::string_view plural = {});
// Wall time: "0.42 s", "12.3 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);
// a, b and c; longer lists end in "and 12 more" after `most`.
std::string listed(const std::vector<std::string>& words, std::size_t most = 8);

}  // namespace clatter
