#include "model/yaml.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace clatter {

const YamlNode::Entry* YamlNode::find(std::string_view key) const {
  for (const auto& e : entries)
    if (e.key == key) return &e;
  return nullptr;
}

namespace {

// Position of the first byte that is not UTF-8 or is a control character other than tab and line ends.
std::size_t bad_byte(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x80) {
      if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
      ++i;
      continue;
    }
    const std::size_t n = c >= 0xc2 && c <= 0xdf ? 1 : (c >= 0xe0 && c <= 0xef ? 2 : (c >= 0xf0 && c <= 0xf4 ? 3 : 0));
    if (n == 0 || i + n >= s.size()) return i;
    for (std::size_t k = 1; k <= n; ++k)
      if ((static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return i;
    i += n + 1;
  }
  return std::string_view::npos;
}

}  // namespace

class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(YamlDocument& document, const std::string& text, const std::string& name, int file,
              const YamlLimits& limits)
      : document_(document), text_(text), name_(name), file_(file), limits_(limits) {}

  [[noreturn]] void fail(int line, int column, const std::string& message, const std::string& hint = {}) const {
    throw InputError({Diagnostic{{name_, line, column}, message, hint, std::string(line_of(text_, line))}});
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message, const std::string& hint = {}) const {
    if (mark.is_null()) fail(1, 1, message, hint);
    fail(mark.line + 1, mark.column + 1, message, hint);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& n = make(mark, anchor, YamlNode::Kind::null);
    place(n, n.line, n.column);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    YamlNode& n = make(mark, anchor, YamlNode::Kind::scalar);
    n.quoted = tag == "!";
    n.text = value;
    if (!n.quoted && (value == "~" || value == "null")) n.kind = YamlNode::Kind::null;
    place(n, n.line, n.column);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) fail(mark, "this alias refers to itself");
    grow(mark, it->second->weight);
    place(*it->second, mark.line + 1, mark.column + 1);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, anchor, YamlNode::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, anchor, YamlNode::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode* node;
    YAML::anchor_t anchor;
    bool key_waiting = true;
    std::unordered_map<std::string, int> lines;  // keys seen; the line for the message
  };

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(mark, "tags are not used in model files", "remove `" + tag + "`");
  }
  void grow(const YAML::Mark& mark, std::size_t by) {
    total_ += by;
    if (total_ > limits_.nodes) fail(mark, "this file is too large", "aliases count for all they stand for");
  }
  YamlNode& make(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    grow(mark, 1);
    YamlNode& n = document_.nodes_.emplace_back();
    n.kind = kind;
    n.file = file_;
    n.line = mark.line + 1;
    n.column = mark.column + 1;
    // A collection is known to aliases only when it is complete: no cycles.
    if (anchor && kind != YamlNode::Kind::list && kind != YamlNode::Kind::map) anchors_[anchor] = &n;
    return n;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (static_cast<int>(open_.size()) >= limits_.depth) fail(mark, "this is nested too deeply");
    open_.push_back({&make(mark, anchor, kind), anchor, true, {}});
  }
  void close() {
    Open top = std::move(open_.back());
    open_.pop_back();
    if (top.anchor) anchors_[top.anchor] = top.node;
    place(*top.node, top.node->line, top.node->column);
  }
  void place(const YamlNode& n, int line, int column) {
    if (open_.empty()) {
      document_.root_ = &n;
      return;
    }
    Open& top = open_.back();
    YamlNode& parent = *top.node;
    if (parent.kind == YamlNode::Kind::list) {
      parent.items.push_back(&n);
    } else if (top.key_waiting) {
      if (n.kind != YamlNode::Kind::scalar) fail(line, column, "a key must be a word");
      parent.entries.push_back({n.text, line, column, nullptr, file_});
      top.key_waiting = false;
      const auto [it, fresh] = top.lines.emplace(n.text, line);
      if (!fresh && document_.duplicates_.size() < 20)
        document_.duplicates_.push_back({{name_, line, column},
                                         fmt::format("`{}` is given twice, first in line {}", n.text, it->second),
                                         {},
                                         std::string(line_of(text_, line))});
    } else {
      parent.entries.back().node = &n;
      top.key_waiting = true;
    }
    parent.weight += n.weight;
  }

  YamlDocument& document_;
  const std::string& text_;
  const std::string& name_;
  int file_;
  const YamlLimits& limits_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, YamlNode*> anchors_;
  std::size_t total_ = 0;
};

YamlDocument YamlDocument::parse(const std::string& text, const std::string& name, int file, const YamlLimits& limits) {
  YamlDocument document;
  YamlBuilder builder(document, text, name, file, limits);
  if (text.size() > limits.bytes)
    throw InputError(Source{name, 0, 0},
                     fmt::format("this file is too large ({} bytes; at most {})", text.size(), limits.bytes));
  if (const auto bad = bad_byte(text); bad != std::string::npos) {
    const auto before = std::string_view(text).substr(0, bad);
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    const auto start = before.rfind('\n');
    const auto column = static_cast<int>(start == std::string_view::npos ? bad : bad - start - 1) + 1;
    throw InputError(Source{name, line, column},
                     fmt::format("byte 0x{:02x} does not belong here: a model file is UTF-8 text",
                                 static_cast<unsigned>(static_cast<unsigned char>(text[bad]))));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) || !document.root_ || document.root_->kind == YamlNode::Kind::null)
      throw InputError(Source{name, 1, 1}, "this file is empty", "a model file begins with `clatter: 1`");
    YamlDocument second;
    YamlBuilder rest(second, text, name, file, limits);
    if (parser.HandleNextDocument(rest) && second.root_)
      throw InputError(Source{name, second.root_->line, second.root_->column},
                       "a model file holds one document; a second begins here");
  } catch (const YAML::Exception& e) {
    std::string message = e.msg;
    std::string hint;
    if (message.find("end of map") != std::string::npos) hint = "is the indentation right?";
    if (message.find("tab") != std::string::npos || message.find("Tab") != std::string::npos)
      hint = "indent with blanks, not with tabs";
    builder.fail(e.mark, "this is not YAML: " + message, hint);
  }
  return document;
}

}  // namespace clatter
