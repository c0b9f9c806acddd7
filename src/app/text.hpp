// Words, numbers and tables for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clatter::app {

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

// Columns a UTF-8 text takes on a terminal (one per character).
std::size_t columns(std::string_view text);

// A table with a heading, columns as wide as their widest cell. Numbers are usually set flush right.
class Table {
 public:
  enum class Align { left, right };
  explicit Table(std::vector<std::string> heading, std::vector<Align> align = {});
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Every line ends in a newline and starts with `indent` blanks.
  std::string text(int indent = 2) const;

 private:
  std::vector<std::string> heading_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace clatter::app
