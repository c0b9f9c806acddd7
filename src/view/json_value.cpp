#include "view/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "view/json.hpp"

namespace clatter::view {
namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue whole() {
    JsonValue value = any(0);
    space();
    if (at_ != text_.size()) wrong("something follows the value");
    return value;
  }

 private:
  [[noreturn]] void wrong(const char* what) const { throw JsonError(fmt::format("{} at byte {}", what, at_)); }

  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char next() {
    space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool taken(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void need(char c, const char* what) {
    if (!taken(c)) wrong(what);
  }
  bool word(std::string_view w) {
    if (!text_.substr(at_).starts_with(w)) return false;
    at_ += w.size();
    return true;
  }

  JsonValue any(int depth) {
    if (depth > kDeepest) wrong("it nests too deep");
    switch (next()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return {text()};
      default:
        break;
    }
    if (word("null")) return {nullptr};
    if (word("true")) return {true};
    if (word("false")) return {false};
    return {number()};
  }

  JsonValue object(int depth) {
    need('{', "an object was expected");
    JsonValue::Object members;
    if (taken('}')) return {std::move(members)};
    do {
      if (next() != '"') wrong("a key was expected");
      std::string key = text();
      if (std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.first == key; }))
        wrong("a key is there twice");
      need(':', "a colon was expected");
      members.emplace_back(std::move(key), any(depth + 1));
    } while (taken(','));
    need('}', "a brace was expected");
    return {std::move(members)};
  }

  JsonValue array(int depth) {
    need('[', "a list was expected");
    JsonValue::Array items;
    if (taken(']')) return {std::move(items)};
    do {
      items.push_back(any(depth + 1));
    } while (taken(','));
    need(']', "a bracket was expected");
    return {std::move(items)};
  }

  double number() {
    // from_chars reads numbers of JSON and some more: inf, nan, .5 and 5. are not of JSON.
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    const auto digit = [&](std::size_t i) { return i < digits.size() && digits[i] >= '0' && digits[i] <= '9'; };
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::size_t point = digits.find('.');
    if (!digit(first) || (digits[first] == '0' && digit(first + 1)) || error != std::errc() ||
        end != digits.data() + digits.size() || (point != digits.npos && !digit(point + 1)) || !std::isfinite(value)) {
      at_ = begin;
      wrong("a value was expected");
    }
    return value;
  }

  unsigned hex4() {
    unsigned code = 0;
    if (text_.size() - at_ < 4) wrong("an escape is cut off");
    const char* begin = text_.data() + at_;
    if (const auto [end, error] = std::from_chars(begin, begin + 4, code, 16); error != std::errc() || end != begin + 4)
      wrong("an escape is not of hexadecimal digits");
    at_ += 4;
    return code;
  }

  static void put(std::string& out, unsigned code) {
    const auto byte = [&](unsigned bits) { out += static_cast<char>(bits); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) return byte(0xC0U | code >> 6U), byte(0x80U | (code & 0x3FU));
    if (code < 0x10000)
      return byte(0xE0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
    byte(0xF0U | code >> 18U), byte(0x80U | (code >> 12U & 0x3FU)), byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }

  void escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (const std::size_t i = kLetters.find(c); i != kLetters.npos) {
      out += kMeanings[i];
      return;
    }
    if (c != 'u') wrong("an escape is unknown");
    unsigned code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {  // the first of a pair
      if (!word("\\u")) wrong("half a pair");
      const unsigned low = hex4();
      if (low < 0xDC00 || low > 0xDFFF) wrong("half a pair");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      wrong("half a pair");
    }
    put(out, code);
  }

  std::string text() {
    ++at_;  // the quotation mark
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const auto code = static_cast<unsigned char>(text_[at_]);
      if (code < 0x20) wrong("a control character stands in a text");
      if (code >= 0x80) {
        const std::size_t length = utf8_length(text_.substr(at_));
        if (length == 0) wrong("a text is not UTF-8");
        out += text_.substr(at_, length);
        at_ += length;
        continue;
      }
      ++at_;
      if (code == '\\')
        escape(out);
      else
        out += static_cast<char>(code);
    }
    if (at_ == text_.size()) wrong("a text is cut off");
    ++at_;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

JsonValue parse_json(std::string_view text) { return Parser(text).whole(); }

}  // namespace clatter::view
