#include "view/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace clatter::view {

// Bytes of the character that the text begins with (RFC 3629, section 4), which is not ASCII; 0: it is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool whole = follows(1) && follows(2) && !(first == 0xE0 && second < 0xA0);
    return whole && !(first == 0xED && second > 0x9F) ? 3 : 0;  // no halves of pairs of UTF-16
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool whole = follows(1) && follows(2) && follows(3) && !(first == 0xF0 && second < 0x90);
    return whole && !(first == 0xF4 && second > 0x8F) ? 4 : 0;
  }
  return 0;
}

void Json::separate() {
  if (!first_ && !after_key_) out_ += ',';
  first_ = after_key_ = false;
}

Json& Json::begin(char bracket) {
  separate();
  out_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}

Json& Json::end() {
  out_ += open_.back();
  open_.pop_back();
  first_ = false;
  return *this;
}

Json& Json::key(std::string_view name) {
  text(name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

// '<' is escaped too, so that the text may stand inside a script element of a page; bytes that are no UTF-8, which JSON
// has no place for, become U+FFFD.
Json& Json::text(std::string_view value) {
  separate();
  out_ += '"';
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) {
      const std::size_t length = utf8_length(value.substr(i));
      out_ += length > 0 ? value.substr(i, length) : std::string_view("\xEF\xBF\xBD");
      i += std::max<std::size_t>(length, 1) - 1;
      continue;
    }
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (code < 0x20 || c == '<' || code == 0x7f) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", code);
    } else {
      out_ += c;
    }
  }
  out_ += '"';
  return *this;
}

Json& Json::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

Json& Json::integer(std::int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

Json& Json::boolean(bool value) { return raw(value ? "true" : "false"); }
Json& Json::null() { return raw("null"); }

Json& Json::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

Json& Json::vector(const Vec3& value) {
  array();
  for (int i = 0; i < 3; ++i) number(value[i]);
  return end();
}

Json& Json::rotation(const Quat& value) {
  return array().number(value.w()).number(value.x()).number(value.y()).number(value.z()).end();
}

}  // namespace clatter::view
