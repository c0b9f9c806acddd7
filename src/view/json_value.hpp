// JSON that somebody else may have written, read strictly (RFC 8259) into a tree.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace clatter::view {

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;  // in the order of the text, each key once
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value = nullptr;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws JsonError where the text is not one value of JSON, nests deeper than 64, or holds a number beyond a double.
JsonValue parse_json(std::string_view text);

}  // namespace clatter::view
