// The scene of a result as the schema of scene.hpp has it: read, compared with the schema and written anew, so that
// nothing of a foreign file reaches a page but values of the kinds that belong there.
#include <fmt/format.h>

#include <algorithm>

#include "view/json.hpp"
#include "view/json_value.hpp"
#include "view/scene.hpp"

namespace clatter::view {
namespace {

enum class Kind { text, word, number, boolean, numbers, vector, rotation, body, object, list };

struct Type;
struct Field {
  const char* name;
  const Type* type;
};
struct Type {
  Kind kind;
  const Type* item = nullptr;      // of a list
  std::vector<Field> fields = {};  // of an object; the others are left out
  std::vector<const char*> needed = {};
};

const Type kText{Kind::text}, kWord{Kind::word}, kNumber{Kind::number}, kBoolean{Kind::boolean};
const Type kNumbers{Kind::numbers}, kVector{Kind::vector}, kRotation{Kind::rotation}, kBody{Kind::body};
const Type kPoints{Kind::list, &kVector}, kFaces{Kind::list, &kNumbers};
const Type kShape{Kind::object,
                  nullptr,
                  {{"kind", &kWord},
                   {"name", &kText},
                   {"role", &kWord},
                   {"position", &kVector},
                   {"rotation", &kRotation},
                   {"size", &kVector},
                   {"radius", &kNumber},
                   {"length", &kNumber},
                   {"hollow", &kBoolean},
                   {"closed", &kBoolean},
                   {"points", &kPoints},
                   {"faces", &kFaces}},
                  {"kind", "role", "position", "rotation"}};
const Type kShapes{Kind::list, &kShape};
const Type kPlace{Kind::object,
                  nullptr,
                  {{"body", &kBody}, {"position", &kVector}, {"rotation", &kRotation}},
                  {"body", "position", "rotation"}};
const Type kBodyEntry{Kind::object,
                      nullptr,
                      {{"name", &kText},
                       {"kind", &kWord},
                       {"mass", &kNumber},
                       {"center", &kVector},
                       {"shapes", &kShapes},
                       {"anchors", &kPoints}},
                      {"name", "kind", "shapes", "anchors"}};
const Type kBodies{Kind::list, &kBodyEntry};
const Type kGround{Kind::object, nullptr, {{"shapes", &kShapes}, {"anchors", &kPoints}}, {"shapes", "anchors"}};
const Type kJoint{Kind::object,
                  nullptr,
                  {{"name", &kText}, {"type", &kWord}, {"a", &kPlace}, {"b", &kPlace}},
                  {"name", "type", "a", "b"}};
const Type kJoints{Kind::list, &kJoint};
const Type kForce{Kind::object,
                  nullptr,
                  {{"name", &kText}, {"kind", &kWord}, {"a", &kPlace}, {"b", &kPlace}},
                  {"name", "kind", "a", "b"}};
const Type kForces{Kind::list, &kForce};
const Type kContact{Kind::object, nullptr, {{"name", &kText}, {"first", &kText}, {"second", &kText}}, {"name"}};
const Type kContacts{Kind::list, &kContact};
const Type kVibration{Kind::object, nullptr, {{"frequency", &kNumber}, {"eta", &kNumbers}}, {"frequency", "eta"}};
const Type kVibrations{Kind::list, &kVibration};
const Type kSurface{Kind::object,
                    nullptr,
                    {{"name", &kText},
                     {"body", &kBody},
                     {"coordinates", &kText},
                     {"stress", &kText},
                     {"large", &kBoolean},
                     {"shapes", &kVibrations}},
                    {"name", "body", "coordinates"}};
const Type kSurfaces{Kind::list, &kSurface};
const Type kScene{Kind::object,
                  nullptr,
                  {{"version", &kNumber},
                   {"title", &kText},
                   {"planar", &kBoolean},
                   {"gravity", &kVector},
                   {"bodies", &kBodies},
                   {"ground", &kGround},
                   {"joints", &kJoints},
                   {"forces", &kForces},
                   {"contacts", &kContacts},
                   {"surfaces", &kSurfaces}},
                  {"version", "bodies", "ground"}};

// Writes what fits and throws at the first that does not.
class Checked {
 public:
  explicit Checked(int bodies) : bodies_(bodies) {}

  void put(const JsonValue& value, const Type& type, const std::string& where) {
    switch (type.kind) {
      case Kind::text:
        json_.text(*need<std::string>(value, where, "a text"));
        return;
      case Kind::word: {
        const std::string& word = *need<std::string>(value, where, "a word");
        const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
        if (word.size() > 32 || !std::all_of(word.begin(), word.end(), letter)) refuse(where, "a word");
        json_.text(word);
        return;
      }
      case Kind::number:
        return number(value, where);
      case Kind::boolean:
        json_.boolean(*need<bool>(value, where, "true or false"));
        return;
      case Kind::numbers:
        return numbers(value, where, 0);
      case Kind::vector:
        return numbers(value, where, 3);
      case Kind::rotation:
        return numbers(value, where, 4);
      case Kind::body: {
        const double index = *need<double>(value, where, "a body's number");
        if (!(index >= -1 && index < bodies_) || index != static_cast<int>(index)) refuse(where, "a body's number");
        json_.integer(static_cast<int>(index));
        return;
      }
      case Kind::object:
        return object(value, type, where);
      case Kind::list: {
        json_.array();
        std::size_t i = 0;
        for (const JsonValue& item : *need<JsonValue::Array>(value, where, "a list"))
          put(item, *type.item, fmt::format("{}[{}]", where, i++));
        json_.end();
        return;
      }
    }
  }

  std::string take() { return json_.take(); }

 private:
  [[noreturn]] static void refuse(const std::string& where, const char* what) {
    throw JsonError(fmt::format("`{}` is not {}", where, what));
  }
  template <class T>
  static const T* need(const JsonValue& value, const std::string& where, const char* what) {
    const T* found = value.as<T>();
    if (found == nullptr) refuse(where, what);
    return found;
  }

  // What JSON has no number for (infinity) was written as null.
  void number(const JsonValue& value, const std::string& where) {
    if (value.as<std::nullptr_t>() != nullptr)
      json_.null();
    else
      json_.number(*need<double>(value, where, "a number"));
  }

  void numbers(const JsonValue& value, const std::string& where, std::size_t count) {
    const auto& list = *need<JsonValue::Array>(value, where, "a list of numbers");
    if (count > 0 && list.size() != count) refuse(where, count == 3 ? "a vector" : "a rotation");
    json_.array();
    for (const JsonValue& item : list) number(item, where);
    json_.end();
  }

  void object(const JsonValue& value, const Type& type, const std::string& where) {
    const auto& members = *need<JsonValue::Object>(value, where, "an object");
    for (const char* name : type.needed)
      if (std::none_of(members.begin(), members.end(), [&](const auto& m) { return m.first == name; }))
        throw JsonError(fmt::format("`{}` has no `{}`", where, name));
    json_.object();
    for (const auto& [key, member] : members) {
      const auto field =
          std::find_if(type.fields.begin(), type.fields.end(), [&, &k = key](const Field& f) { return f.name == k; });
      if (field == type.fields.end()) continue;
      json_.key(key);
      put(member, *field->type, where + "." + key);
    }
    json_.end();
  }

  Json json_;
  int bodies_;
};

int number_of_bodies(const JsonValue& scene) {
  const auto* members = scene.as<JsonValue::Object>();
  if (members == nullptr) return 0;
  for (const auto& [key, value] : *members)
    if (const auto* list = value.as<JsonValue::Array>(); key == "bodies" && list != nullptr)
      return static_cast<int>(list->size());
  return 0;
}

}  // namespace

std::string checked_scene(std::string_view text) {
  constexpr std::size_t kLargest = std::size_t{64} << 20U;
  if (text.size() > kLargest) throw JsonError("it is larger than 64 MB");
  const JsonValue scene = parse_json(text);
  Checked checked(number_of_bodies(scene));
  checked.put(scene, kScene, "scene");
  return checked.take();
}

}  // namespace clatter::view
