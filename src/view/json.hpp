// Writing JSON, in the order of the text: no tree is built. Numbers have the digits that read back to the same bits;
// what JSON cannot say (NaN, infinity) becomes null.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/math.hpp"

namespace clatter::view {

// Bytes of the UTF-8 character a text begins with, which is not ASCII; 0 when it is none.
std::size_t utf8_length(std::string_view text);

class Json {
 public:
  Json& object() { return begin('{'); }
  Json& array() { return begin('['); }
  Json& end();  // of the innermost object or array
  Json& key(std::string_view name);

  Json& text(std::string_view value);
  Json& number(double value);
  Json& integer(std::int64_t value);
  Json& boolean(bool value);
  Json& null();
  Json& raw(std::string_view json);  // a value that is JSON already, and of this program's making
  Json& vector(const Vec3& value);
  Json& rotation(const Quat& value);  // w x y z

  // key and value in one.
  Json& put(std::string_view name, std::string_view value) { return key(name).text(value); }
  Json& put(std::string_view name, const char* value) { return key(name).text(value); }
  Json& put(std::string_view name, double value) { return key(name).number(value); }
  Json& put(std::string_view name, bool value) { return key(name).boolean(value); }
  template <std::integral T>
  Json& put(std::string_view name, T value) {
    return key(name).integer(static_cast<std::int64_t>(value));
  }
  Json& put(std::string_view name, const Vec3& value) { return key(name).vector(value); }
  Json& put(std::string_view name, const Quat& value) { return key(name).rotation(value); }

  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  Json& begin(char bracket);
  void separate();

  std::string out_, open_;  // open_: the brackets not yet closed
  bool first_ = true, after_key_ = false;
};

}  // namespace clatter::view
