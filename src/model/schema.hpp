// The model language as one table: every object, its keys, their types, units, whether required, and a sentence each.
//
// The same table drives the strict reading of model files, the JSON schema for editors and the reference tables in
// docs/model-language.md; a key exists if and only if it is listed here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clatter {

enum class ValueType {
  text,         // any text
  word,         // one of `words`
  boolean,      // true or false
  integer,      //
  quantity,     // a number with unit or an expression of parameters
  quantities,   // a number, or a list of them
  vector,       // [x, y, z], in the plane [x, y]
  matrix,       // three rows of three, or a list
  inertia,      // a number, three, six, or 3x3
  direction,    // x, y, z, -x, -y, -z or a vector of any length but zero
  rotation,     // an angle about z, or an `orientation` object
  function,     // expression of t and quantities
  functions,    // a list of up to three of them, or one
  pairs,        // [[e, s], ...]
  points,       // [[x, y], ...] or [[x, y, z], ...]
  place,        // body, body.frame or a `place` object
  places,       // two places
  name,         // the name of an object or a quantity
  names,        // a list of names, or one
  groups,       // two of these
  friction,     // a number, a formula of v, or a `friction` object
  object,       // map described by `object`
  object_map,   // name: object
  object_list,  // list of objects
  parameters,   // name: quantity
  components,   // component name: word or `component`
  outcome       // check: a time, or one of `words`
};

struct KeySpec {
  std::string name;
  ValueType type = ValueType::text;
  bool required = false;
  std::string unit;                  // SI unit that tells the dimension; several after "|" where it depends
  std::string text;                  // one sentence for people
  std::string object{};              // type object*, the described object's name
  std::vector<std::string> words{};  // type word or outcome
  std::vector<std::string> only{};   // values of `type` this key belongs to; empty: all
};

struct ObjectSpec {
  std::string name;
  std::string text;
  std::string shorthand;  // what may stand instead of the map, or empty
  std::vector<KeySpec> keys;

  const KeySpec* find(std::string_view key) const;
  std::vector<std::string> key_names() const;
};

const std::vector<ObjectSpec>& language();
const ObjectSpec& object_spec(std::string_view name);

// The objects of joints and forces, part of the above.
std::vector<ObjectSpec> mechanism_language();
// The objects of contact and of flexible bodies, part of the above, and the keys of a body that is flexible.
std::vector<ObjectSpec> contact_language();
std::vector<ObjectSpec> flexible_language();
std::vector<KeySpec> flexible_body_keys();
// The same of beams.
std::vector<ObjectSpec> beam_language();
std::vector<KeySpec> beam_keys();

// JSON schema (draft-07) of a model file.
std::string json_schema();
// The reference tables of all objects, in Markdown.
std::string reference_markdown();

}  // namespace clatter
