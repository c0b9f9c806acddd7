// Reading values out of YAML nodes: diagnostics with positions, parameters, numbers with dimensions, functions,
// directions, rotations. `Object` is a map whose keys are checked against the language's table as it is opened.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/expression.hpp"
#include "model/model.hpp"
#include "model/schema.hpp"
#include "model/yaml.hpp"

namespace clatter::loading {

// "a list", "a map", ... for messages.
const char* kind_name(const YamlNode& n);

// Collects mistakes; gives up after twenty.
class Mistakes {
 public:
  static constexpr std::size_t most = 20;

  std::vector<std::pair<std::string, std::string>> texts;  // file name and text, by file index

  Source source(const YamlNode& n) const { return {file(n.file), n.line, n.column}; }
  Source source(const YamlNode::Entry& e) const { return {file(e.file), e.line, e.column}; }
  void add(Source at, std::string message, std::string hint = {});
  void add(const YamlNode& at, std::string message, std::string hint = {}) {
    add(source(at), std::move(message), std::move(hint));
  }
  // At a byte of a scalar's text, as far as it can be told.
  void add(const YamlNode& at, const ExpressionError& e);
  void throw_if_any() const;
  std::size_t count() const { return diagnostics_.size(); }

 private:
  const std::string& file(int index) const { return texts[static_cast<std::size_t>(index)].first; }
  std::vector<Diagnostic> diagnostics_;
};

struct Parameter {
  double value = 0;
  std::optional<Dimension> dimension;
  bool broken = false;  // its definition was wrong and reported; uses are not reported again
};

// Names and placement inside the model or inside one instance of an assembly.
struct Scope {
  const Scope* outer = nullptr;    // the scope of the instance that holds this one: for names of objects
  const Scope* lexical = nullptr;  // the model, for an assembly: for parameters
  std::string prefix;              // "left.arm."
  Placement placement;             // of the assembly's frame in the world
  std::unordered_map<std::string, Parameter> parameters;
  std::unordered_map<std::string, Source> names;  // bodies, joints, forces and instances declared here

  const Parameter* find_parameter(const std::string& name) const;
  std::vector<std::string> parameter_names() const;
};

class Reader {
 public:
  explicit Reader(Mistakes& mistakes) : mistakes_(mistakes) {}
  Mistakes& mistakes() { return mistakes_; }

  // Each gives nothing after reporting what is wrong.
  std::optional<Parameter> constant(const YamlNode& n, const Scope& scope, const std::optional<Dimension>& expected);
  std::optional<double> number(const YamlNode& n, const Scope& scope, const std::optional<Dimension>& expected);
  // Variables: t, quantities of the model, and `own` ones that come first in this order.
  struct Own {
    std::string name;
    std::optional<Dimension> dimension;
  };
  std::optional<Function> function(const YamlNode& n, const Scope& scope, const std::optional<Dimension>& expected,
                                   const std::vector<Own>& own = {}, bool quantities = true, bool time = true);
  std::optional<Vec3> vector(const YamlNode& n, const Scope& scope, const Dimension& expected, bool two_allowed = true);
  std::optional<std::vector<double>> list(const YamlNode& n, const Scope& scope, const Dimension& expected);
  std::optional<Mat3> matrix(const YamlNode& n, const Scope& scope, const Dimension& expected);
  std::optional<Vec3> direction(const YamlNode& n, const Scope& scope);  // of unit length
  std::optional<Quat> rotation(const YamlNode& n, const Scope& scope);
  std::optional<std::string> text(const YamlNode& n, const char* what);
  std::optional<bool> boolean(const YamlNode& n);
  std::optional<std::string> word(const YamlNode& n, const std::vector<std::string>& words, const std::string& what);
  std::optional<std::vector<const YamlNode*>> names(const YamlNode& n);  // scalar nodes with text

  // A name used in a formula, in full: what is declared in the scope, or in one around it, else as it stands.
  static std::string full_name(const std::string& name, const Scope& scope);
  // Formula inputs, outputs and checks, to be checked when all names are known.
  struct Use {
    std::string name;
    Source source;
  };
  std::vector<Use> uses;

 private:
  void wrong_dimension(const YamlNode& n, const Dimension& expected, const Dimension& got,
                       const std::string& hint = {});
  Mistakes& mistakes_;
};

// An open map. Reports unknown, missing and misplaced keys when made.
class Object {
 public:
  // `what` names it in messages: "body `rod`".
  Object(Reader& reader, const YamlNode& node, const ObjectSpec& spec, std::string what, const Scope& scope);

  bool ok() const { return node_.kind == YamlNode::Kind::map; }
  const YamlNode& node() const { return node_; }
  const std::string& what() const { return what_; }
  const Scope& scope() const { return scope_; }
  const YamlNode* find(std::string_view key) const;
  const YamlNode::Entry* entry(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  Source key_source(std::string_view key) const;

  // The key's dimension is the table's; where the table lists several, `alternative` picks one (0 the first).
  Dimension dimension(std::string_view key, int alternative = 0) const;
  std::optional<double> number(std::string_view key, int alternative = 0) const;
  double number_or(std::string_view key, double otherwise, int alternative = 0) const;
  // Positive, or at least zero: reports otherwise.
  std::optional<double> positive(std::string_view key, int alternative = 0) const;
  std::optional<double> not_negative(std::string_view key, int alternative = 0) const;
  std::optional<Vec3> vector(std::string_view key, bool two_allowed = true) const;
  std::optional<Quat> rotation(std::string_view key) const;
  std::optional<Vec3> direction(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::string> word(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;

  // Keys with `only` must fit the object's type.
  void check_type(const std::string& type) const;
  // Exactly one of these keys must be there; the one that is, or empty after a report.
  std::string one_of(const std::vector<std::string>& keys) const;
  bool require(std::string_view key, const std::string& why = {}) const;
  void mistake(std::string_view key, std::string message, std::string hint = {}) const;

 private:
  const KeySpec& key_spec(std::string_view key) const;
  Reader& reader_;
  const YamlNode& node_;
  const ObjectSpec& spec_;
  std::string what_;
  const Scope& scope_;
};

}  // namespace clatter::loading
