#include "view/json.hpp"

#include <fmt/format.h>

#include <iterator>

namespace clatter::view {

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

// '<' is escaped too, so that the text may stand inside a script element of a page.
Json& Json::text(std::string_view value) {
  separate();
  out_ += '"';
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
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
