// Tables for the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace clatter::app {

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
