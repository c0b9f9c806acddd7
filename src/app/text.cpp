#include "app/text.hpp"

#include <algorithm>

namespace clatter::app {

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
