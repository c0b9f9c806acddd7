#include "base/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace clatter {

std::string number(double x, int digits) {
  if (x == 0) return "0";  // also for -0
  return fmt::format("{:.{}g}", x, digits);
}

std::string whole(std::uint64_t n) {
  std::string s = fmt::format("{}", n);
  for (std::size_t i = s.size(); i > 3;) {
    i -= 3;
    s.insert(i, " ");
  }
  return s;
}

std::string counted(std::uint64_t n, std::string_view singular, std::string_view plural) {
  if (n == 1) return fmt::format("1 {}", singular);
  if (plural.empty()) return fmt::format("{} {}s", whole(n), singular);
  return fmt::format("{} {}", whole(n), plural);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds > 3600.0 * 24 * 10000) return "years";
  const auto total = static_cast<std::uint64_t>(std::llround(seconds));
  if (total < 3600) return fmt::format("{} min {} s", total / 60, total % 60);
  if (total < 3600 * 24) return fmt::format("{} h {} min", total / 3600, total % 3600 / 60);
  return fmt::format("{} d {} h", total / 86400, total % 86400 / 3600);
}

std::string listed(const std::vector<std::string>& words, std::size_t most) {
  std::string out;
  const std::size_t shown = words.size() > most ? most : words.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += (i + 1 == shown && shown == words.size()) ? " and " : ", ";
    out += words[i];
  }
  if (shown < words.size()) out += fmt::format(" and {} more", words.size() - shown);
  return out;
}

}  // namespace clatter
