// The language's table as a JSON schema for editors and as Markdown for people.
#include <fmt/format.h>

#include "model/schema.hpp"

namespace clatter {

namespace {

using V = ValueType;

std::string quoted(std::string_view s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r + "\"";
}

const char* const number_or_text = R"({"type": ["number", "string"]})";
const char* const any_vector =
    R"({"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 3})";
const char* const names = R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})";

std::string reference(const std::string& object) { return R"({"$ref": "#/definitions/)" + object + "\"}"; }

// What may stand for an object besides its map.
std::string object_schema(const ObjectSpec& o) {
  if (o.name == "frame")
    return fmt::format(R"({{"anyOf": [{}, {}, {{"type": "null"}}]}})", reference("frame"), any_vector);
  if (o.name == "orientation") return fmt::format(R"({{"anyOf": [{}, {}]}})", reference("orientation"), number_or_text);
  if (o.name == "rod") return fmt::format(R"({{"anyOf": [{}, {}]}})", reference("rod"), number_or_text);
  if (o.name == "place" || o.name == "interface")
    return fmt::format(R"({{"anyOf": [{}, {{"type": "string"}}]}})", reference(o.name));
  if (o.name == "component")
    return fmt::format(R"({{"anyOf": [{}, {{"enum": ["free", "rigid"]}}]}})", reference("component"));
  return reference(o.name);
}

std::string words_schema(const std::vector<std::string>& words) {
  std::string s = R"({"enum": [)";
  for (std::size_t i = 0; i < words.size(); ++i) s += (i ? ", " : "") + quoted(words[i]);
  return s + "]}";
}

std::string value_schema(const KeySpec& k) {
  const auto object = [&] { return object_schema(object_spec(k.object)); };
  switch (k.type) {
    case V::text:
    case V::name:
      return R"({"type": ["string", "number"]})";
    case V::word:
      return words_schema(k.words);
    case V::boolean:
      return R"({"type": "boolean"})";
    case V::integer:
      return R"({"const": 1})";
    case V::quantity:
    case V::function:
      return number_or_text;
    case V::quantities:
      return R"({"anyOf": [{"type": ["number", "string"]}, {"type": "array", "items": {"type": ["number", "string"]}}]})";
    case V::vector:
      return k.name == "angular_velocity" ? fmt::format(R"({{"anyOf": [{}, {}]}})", any_vector, number_or_text)
                                          : any_vector;
    case V::matrix:
      return fmt::format(R"({{"type": "array", "items": {}, "minItems": 3, "maxItems": 3}})", any_vector);
    case V::inertia:
      return fmt::format(R"({{"anyOf": [{}, {{"type": "array", "items": {{"anyOf": [{}, {}]}}}}]}})", number_or_text,
                         number_or_text, any_vector);
    case V::direction:
      return fmt::format(R"({{"anyOf": [{}, {}]}})", words_schema({"x", "y", "z", "-x", "-y", "-z"}), any_vector);
    case V::rotation:
      return object_schema(object_spec("orientation"));
    case V::functions:
      return fmt::format(R"({{"anyOf": [{}, {}]}})", number_or_text, any_vector);
    case V::pairs:
      return R"({"type": "array", "minItems": 2, "items": {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}})";
    case V::points:
      return fmt::format(R"({{"type": "array", "items": {}}})", any_vector);
    case V::place:
      return k.object.empty() ? R"({"type": "string"})" : object();
    case V::places:
      return fmt::format(R"({{"type": "array", "items": {}, "minItems": 2, "maxItems": 2}})", object());
    case V::names:
      return names;
    case V::groups:
      return fmt::format(R"({{"type": "array", "items": {}, "minItems": 2, "maxItems": 2}})", names);
    case V::friction:
      return fmt::format(R"({{"anyOf": [{}, {}]}})", number_or_text, reference(k.object));
    case V::object:
      return object();
    case V::object_map:
    case V::components:
      return fmt::format(R"({{"type": ["object", "null"], "additionalProperties": {}}})", object());
    case V::object_list:
      return fmt::format(R"({{"type": "array", "items": {}}})", object());
    case V::parameters:
      return R"({"type": ["object", "null"], "additionalProperties": {"type": ["number", "string", "null"]}})";
    case V::outcome:
      return fmt::format(R"({{"anyOf": [{}, {}]}})", words_schema(k.words), number_or_text);
  }
  return "{}";
}

std::string described(const KeySpec& k) {
  std::string s = k.text;
  if (!k.unit.empty() && k.unit != "1") s += " Unit: " + k.unit + ".";
  if (!k.only.empty()) {
    s += " For type";
    for (std::size_t i = 0; i < k.only.size(); ++i) s += (i ? ", " : " ") + k.only[i];
    s += ".";
  }
  return s;
}

std::string object_body(const ObjectSpec& o, const std::string& indent) {
  std::string s = indent + R"("type": "object",)" + "\n" + indent + R"("description": )" + quoted(o.text) + ",\n" +
                  indent + R"("additionalProperties": false,)" + "\n";
  std::string required;
  for (const auto& k : o.keys)
    if (k.required) required += (required.empty() ? "" : ", ") + quoted(k.name);
  if (!required.empty()) s += indent + R"("required": [)" + required + "],\n";
  s += indent + R"("properties": {)" + "\n";
  for (std::size_t i = 0; i < o.keys.size(); ++i) {
    const auto& k = o.keys[i];
    // Beside a $ref other words are ignored in draft-07, so both go into allOf.
    s += fmt::format("{}  {}: {{\"description\": {}, \"allOf\": [{}]}}{}\n", indent, quoted(k.name),
                     quoted(described(k)), value_schema(k), i + 1 < o.keys.size() ? "," : "");
  }
  return s + indent + "}\n";
}

std::string type_text(const KeySpec& k) {
  switch (k.type) {
    case V::text:
      return "text";
    case V::word: {
      std::string s;
      for (const auto& w : k.words) s += (s.empty() ? "`" : ", `") + w + "`";
      return s;
    }
    case V::boolean:
      return "true or false";
    case V::integer:
      return "whole number";
    case V::quantity:
      return "number";
    case V::quantities:
      return "number or list";
    case V::vector:
      return "vector";
    case V::matrix:
      return "3x3";
    case V::inertia:
      return "1, 3, 6 or 3x3";
    case V::direction:
      return "direction";
    case V::rotation:
      return "[orientation](#orientation)";
    case V::function:
      return "function";
    case V::functions:
      return "functions";
    case V::pairs:
      return "list of pairs";
    case V::points:
      return "list of points";
    case V::place:
      return "[place](#place)";
    case V::places:
      return "two [places](#place)";
    case V::name:
      return "name";
    case V::names:
      return "name or list";
    case V::groups:
      return "two names or lists";
    case V::friction:
      return "number, formula or [friction](#friction)";
    case V::object:
      return fmt::format("[{}](#{})", k.object, k.object);
    case V::object_map:
      return fmt::format("NAME: [{}](#{})", k.object, k.object);
    case V::components:
      return fmt::format("NAME: [{}](#{})", k.object, k.object);
    case V::object_list:
      return fmt::format("list of [{}](#{})", k.object, k.object);
    case V::parameters:
      return "NAME: number";
    case V::outcome: {
      std::string s = "time";
      for (const auto& w : k.words) s += ", `" + w + "`";
      return s;
    }
  }
  return "";
}

std::string cell(std::string s) {
  for (std::size_t i = 0; (i = s.find('|', i)) != std::string::npos; i += 2) s.replace(i, 1, "or");
  return s;
}

}  // namespace

std::string json_schema() {
  std::string s = "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \"Clatter model\",\n";
  s += object_body(object_spec("model"), "  ");
  s.pop_back();
  s += ",\n  \"definitions\": {\n";
  bool first = true;
  for (const auto& o : language()) {
    if (o.name == "model") continue;
    s += std::string(first ? "" : ",\n") + "    " + quoted(o.name) + ": {\n" + object_body(o, "      ") + "    }";
    first = false;
  }
  return s + "\n  }\n}\n";
}

std::string reference_markdown() {
  std::string s;
  for (const auto& o : language()) {
    s += fmt::format("### {}\n\n{}", o.name, o.text);
    if (!o.shorthand.empty()) s += fmt::format(" Short form: {}.", o.shorthand);
    s += "\n\n| key | value | unit | meaning |\n| --- | --- | --- | --- |\n";
    for (const auto& k : o.keys) {
      std::string meaning = k.text;
      if (!k.only.empty()) {
        meaning += " Only for";
        for (std::size_t i = 0; i < k.only.size(); ++i) meaning += (i ? ", " : " ") + k.only[i];
        meaning += ".";
      }
      s += fmt::format("| `{}`{} | {} | {} | {} |\n", k.name, k.required ? " (required)" : "", type_text(k),
                       k.unit == "1" ? "" : cell(k.unit), cell(meaning));
    }
    s += "\n";
  }
  return s;
}

}  // namespace clatter
