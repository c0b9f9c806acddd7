#include "app/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clatter::app {

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

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Table::Table(std::vector<std::string> heading, std::vector<Align> align)
    : heading_(std::move(heading)), align_(std::move(align)) {
  align_.resize(heading_.size(), Align::left);
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(heading_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> width(heading_.size());
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], columns(cells[i]));
  };
  widen(heading_);
  for (const auto& r : rows_) widen(r);

  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string s(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) s += "  ";
      const std::string pad(width[i] - columns(cells[i]), ' ');
      s += align_[i] == Align::left ? cells[i] + pad : pad + cells[i];
    }
    s.erase(s.find_last_not_of(' ') + 1);
    out += s + "\n";
  };
  line(heading_);
  for (const auto& r : rows_) line(r);
  return out;
}

}  // namespace clatter::app
