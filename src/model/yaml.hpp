// A YAML file as a tree of nodes with positions: what yaml-cpp's events tell, and nothing it hides.
//
// Duplicate keys are reported, keys are plain words, nesting and size are bounded, and an alias counts for all it
// stands for, so that a file cannot grow without bound. Only UTF-8 text without control characters is read.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace clatter {

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  struct Entry {
    std::string key;
    int line = 0, column = 0;
    const YamlNode* node = nullptr;
    int file = 0;
  };
  Kind kind = Kind::null;
  bool quoted = false;  // written in quotes or as a block
  int file = 0;         // index of the file in the loader's list
  int line = 0, column = 0;
  std::string text;                    // scalar
  std::vector<const YamlNode*> items;  // list
  std::vector<Entry> entries;          // map, in the order written
  std::size_t weight = 1;              // nodes when all aliases are written out

  const Entry* find(std::string_view key) const;
};

struct YamlLimits {
  std::size_t bytes = 64u << 20;
  std::size_t nodes = 4'000'000;
  int depth = 40;
};

class YamlDocument {
 public:
  // Throws InputError. Duplicate keys do not throw: they are collected.
  static YamlDocument parse(const std::string& text, const std::string& name, int file, const YamlLimits& limits);

  const YamlNode& root() const { return *root_; }
  const std::vector<Diagnostic>& duplicates() const { return duplicates_; }

 private:
  friend class YamlBuilder;
  std::deque<YamlNode> nodes_;
  const YamlNode* root_ = nullptr;
  std::vector<Diagnostic> duplicates_;
};

}  // namespace clatter
