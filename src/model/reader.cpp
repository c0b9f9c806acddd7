#include "model/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "model/quantities.hpp"

namespace clatter::loading {

const char* kind_name(const YamlNode& n) {
  switch (n.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "a value";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return "";
}

// --- mistakes --------------------------------------------------------------------------------------------------------

void Mistakes::add(Source at, std::string message, std::string hint) {
  std::string line;
  for (const auto& [file, text] : texts)
    if (file == at.file) line = std::string(line_of(text, at.line));
  diagnostics_.push_back({std::move(at), std::move(message), std::move(hint), std::move(line)});
  if (diagnostics_.size() >= most) throw_if_any();
}

void Mistakes::add(const YamlNode& at, const ExpressionError& e) {
  Source where = source(at);
  if (at.text.find('\n') == std::string::npos) where.column += static_cast<int>(e.offset) + (at.quoted ? 1 : 0);
  // A value folded over several lines, or a block: the start is all that is certain.
  const auto line = line_of(texts[static_cast<std::size_t>(at.file)].second, where.line);
  if (where.column > static_cast<int>(line.size()) + 1) where.column = at.column;
  add(std::move(where), e.what(), e.hint);
}

void Mistakes::throw_if_any() const {
  if (diagnostics_.empty()) return;
  auto sorted = diagnostics_;
  // By file in the order read, then by place: the order in which one reads.
  const auto rank = [&](const Diagnostic& d) {
    std::size_t i = 0;
    while (i < texts.size() && texts[i].first != d.source.file) ++i;
    return i;
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::make_tuple(rank(a), a.source.line, a.source.column) <
           std::make_tuple(rank(b), b.source.line, b.source.column);
  });
  throw InputError(std::move(sorted));
}

// --- scopes ----------------------------------------------------------------------------------------------------------

const Parameter* Scope::find_parameter(const std::string& name) const {
  for (const Scope* s = this; s; s = s->lexical) {
    const auto it = s->parameters.find(name);
    if (it != s->parameters.end()) return &it->second;
  }
  return nullptr;
}

std::vector<std::string> Scope::parameter_names() const {
  std::vector<std::string> all;
  for (const Scope* s = this; s; s = s->lexical)
    for (const auto& [name, parameter] : s->parameters) all.push_back(name);
  std::sort(all.begin(), all.end());
  return all;
}

std::string Reader::full_name(const std::string& name, const Scope& scope) {
  const std::string head = name.substr(0, name.find('.'));
  for (const Scope* s = &scope; s; s = s->outer)
    if (s->names.count(head)) return s->prefix + name;
  return name;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

namespace {

// Thrown inside binding when a used parameter is itself wrong: already reported.
struct Broken {};

std::string shown(std::string_view s) {
  std::string r(s.substr(0, 60));
  if (s.size() > 60) r += "...";
  return r;
}

bool not_a_number(std::string_view s) {
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  static constexpr std::string_view words[] = {".inf", ".Inf", ".INF", ".nan", ".NaN",    ".NAN",
                                               "inf",  "nan",  "Inf",  "NaN",  "infinity"};
  return std::find(std::begin(words), std::end(words), s) != std::end(words);
}

Symbol parameter_symbol(const Parameter& p) {
  if (p.broken) throw Broken();
  return {p.value, p.dimension};
}

[[noreturn]] void unknown_name(const std::string& name, const Scope& scope, bool constant) {
  std::vector<std::string> words = scope.parameter_names();
  if (!constant) words.push_back("t");
  words.push_back("pi");
  std::string hint = did_you_mean(name, words);
  if (hint.empty() && find_unit(name))
    hint = fmt::format("`{}` is a unit: it follows a number without an operator, as in 3 {}", name, name);
  if (constant && name.find('.') != std::string::npos)
    throw ExpressionError(0, fmt::format("this must be a constant; `{}` is not a parameter", name), hint);
  throw ExpressionError(0, fmt::format("unknown name `{}`", name), hint);
}

}  // namespace

void Reader::wrong_dimension(const YamlNode& n, const Dimension& expected, const Dimension& got,
                             const std::string& hint) {
  mistakes_.add(n, fmt::format("expected {}, got {} ({})", describe(expected), describe(got), shown(n.text)), hint);
}

std::optional<Parameter> Reader::constant(const YamlNode& n, const Scope& scope,
                                          const std::optional<Dimension>& expected) {
  if (n.kind != YamlNode::Kind::scalar) {
    mistakes_.add(n, fmt::format("a number was expected, this is {}", kind_name(n)));
    return {};
  }
  std::string_view s = n.text;
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  if (const auto m = match_number(s); m && m->length == s.size()) {
    if (!std::isfinite(m->value)) {
      mistakes_.add(n, "this number is too large");
      return {};
    }
    return Parameter{negative ? -m->value : m->value, {}};
  }
  if (not_a_number(n.text)) {
    mistakes_.add(n, fmt::format("a finite number was expected, not `{}`", shown(n.text)));
    return {};
  }
  try {
    const BoundExpression b = parse_expression(n.text).bind([&](const std::string& name) -> Symbol {
      if (const Parameter* p = scope.find_parameter(name)) return parameter_symbol(*p);
      if (name == "t") throw ExpressionError(0, "this must be a constant; it cannot depend on the time `t`");
      unknown_name(name, scope, true);
    });
    if (expected && b.dimension && !(*expected == *b.dimension)) {
      wrong_dimension(n, *expected, *b.dimension);
      return {};
    }
    return Parameter{b.constant, b.dimension};
  } catch (const ExpressionError& e) {
    mistakes_.add(n, e);
  } catch (const Broken&) {
  }
  return {};
}

std::optional<double> Reader::number(const YamlNode& n, const Scope& scope, const std::optional<Dimension>& expected) {
  const auto p = constant(n, scope, expected);
  if (!p) return {};
  return p->value;
}

std::optional<Function> Reader::function(const YamlNode& n, const Scope& scope,
                                         const std::optional<Dimension>& expected, const std::vector<Own>& own,
                                         bool quantities, bool time) {
  if (n.kind != YamlNode::Kind::scalar) {
    mistakes_.add(n, fmt::format("a number or a formula was expected, this is {}", kind_name(n)));
    return {};
  }
  if (not_a_number(n.text)) {
    mistakes_.add(n, fmt::format("a finite number was expected, not `{}`", shown(n.text)));
    return {};
  }
  std::vector<std::string> first;
  for (const auto& o : own) first.push_back(o.name);
  try {
    const ExpressionTree tree = parse_expression(n.text);
    BoundExpression b = tree.bind(
        [&](const std::string& name) -> Symbol {
          for (const auto& o : own) {
            if (o.name != name) continue;
            if (scope.find_parameter(name))
              throw ExpressionError(0, fmt::format("`{}` has a meaning of its own here and is also a parameter", name),
                                    "give the parameter another name");
            return {{}, o.dimension};
          }
          if (name == "t") {
            if (time) return {{}, dimension_of("s")};
            throw ExpressionError(0, "this cannot depend on the time `t`");
          }
          if (const Parameter* p = scope.find_parameter(name)) return parameter_symbol(*p);
          if (name.find('.') == std::string::npos) unknown_name(name, scope, false);
          if (!quantities)
            throw ExpressionError(
                0, fmt::format("`{}` cannot be used here", name),
                time ? "this may depend on the time `t` and on parameters only" : "this may depend on parameters only");
          return {{}, quantity_dimension(name)};
        },
        first);
    if (expected && b.dimension && !(*expected == *b.dimension)) {
      const bool timed = std::find(b.inputs.begin(), b.inputs.end(), "t") != b.inputs.end();
      wrong_dimension(n, *expected, *b.dimension,
                      timed ? "give `t` a coefficient: with its unit, 2 rad/s*t, or a bare number, 1*t" : "");
      return {};
    }
    Function f;
    f.constant = b.constant;
    f.expression = std::move(b.expression);
    f.source = mistakes_.source(n);
    const auto names = tree.names();
    for (auto& input : b.inputs) {
      if (input.find('.') == std::string::npos) {
        f.inputs.push_back(input);
        continue;
      }
      f.inputs.push_back(full_name(input, scope));
      Source at = f.source;
      for (const auto& name : names)
        if (name.text == input && n.text.find('\n') == std::string::npos)
          at.column += static_cast<int>(name.offset) + (n.quoted ? 1 : 0);
      uses.push_back({f.inputs.back(), at});
    }
    return f;
  } catch (const ExpressionError& e) {
    mistakes_.add(n, e);
  } catch (const Broken&) {
  }
  return {};
}

std::optional<std::vector<double>> Reader::list(const YamlNode& n, const Scope& scope, const Dimension& expected) {
  if (n.kind == YamlNode::Kind::scalar) {
    const auto x = number(n, scope, expected);
    if (!x) return {};
    return std::vector<double>{*x};
  }
  if (n.kind != YamlNode::Kind::list) {
    mistakes_.add(n, fmt::format("a list of numbers was expected, this is {}", kind_name(n)));
    return {};
  }
  std::vector<double> r;
  bool good = true;
  for (const YamlNode* item : n.items) {
    const auto x = number(*item, scope, expected);
    good = good && x;
    r.push_back(x.value_or(0));
  }
  if (!good) return {};
  return r;
}

std::optional<Vec3> Reader::vector(const YamlNode& n, const Scope& scope, const Dimension& expected, bool two_allowed) {
  const bool fits = n.kind == YamlNode::Kind::list && (n.items.size() == 3 || (two_allowed && n.items.size() == 2));
  if (!fits) {
    const std::string got = n.kind == YamlNode::Kind::list ? fmt::format("a list of {}", n.items.size()) : kind_name(n);
    mistakes_.add(n, fmt::format("a vector [x, y, z] was expected, this is {}", got));
    return {};
  }
  const auto x = list(n, scope, expected);
  if (!x) return {};
  return Vec3((*x)[0], (*x)[1], x->size() == 3 ? (*x)[2] : 0.0);
}

std::optional<Mat3> Reader::matrix(const YamlNode& n, const Scope& scope, const Dimension& expected) {
  if (n.kind != YamlNode::Kind::list || n.items.size() != 3) {
    mistakes_.add(n, "a matrix of three rows was expected: [[a, b, c], [d, e, f], [g, h, i]]");
    return {};
  }
  Mat3 m;
  bool good = true;
  for (int i = 0; i < 3; ++i) {
    const auto row = vector(*n.items[static_cast<std::size_t>(i)], scope, expected, false);
    good = good && row;
    if (row) m.row(i) = row->transpose();
  }
  if (!good) return {};
  return m;
}

std::optional<Vec3> Reader::direction(const YamlNode& n, const Scope& scope) {
  if (n.kind == YamlNode::Kind::scalar) {
    static const std::vector<std::string> words{"x", "y", "z", "-x", "-y", "-z"};
    const auto w = word(n, words, "a direction");
    if (!w) return {};
    const double sign = w->size() == 2 ? -1 : 1;
    return Vec3(sign * Vec3::Unit(w->back() - 'x'));
  }
  const auto v = vector(n, scope, Dimension{});
  if (!v) return {};
  // Scaled before the norm: directions may be tiny or huge.
  const double largest = v->cwiseAbs().maxCoeff();
  if (largest == 0) {
    mistakes_.add(n, "an axis of length zero has no direction");
    return {};
  }
  return Vec3((*v / largest).normalized());
}

std::optional<Quat> Reader::rotation(const YamlNode& n, const Scope& scope) {
  const Dimension angle = dimension_of("rad");
  const auto about = [](const Vec3& axis, double a) { return Quat(Eigen::AngleAxisd(a, axis)); };
  if (n.kind == YamlNode::Kind::scalar) {
    const auto a = number(n, scope, angle);
    if (!a) return {};
    return about(Vec3::UnitZ(), *a);
  }
  const Object o(*this, n, object_spec("orientation"), "the orientation", scope);
  if (!o.ok()) return {};
  if (o.has("axis") && !o.has("angle")) {
    mistakes_.add(n, "`angle` is missing: how far to turn about `axis`");
    return {};
  }
  const std::string way = o.one_of({"angle", "kardan", "euler", "quaternion", "matrix"});
  if (way.empty()) return {};
  if (o.has("axis") && way != "angle") {
    o.mistake("axis", "`axis` goes with `angle` only");
    return {};
  }
  if (way == "angle") {
    const auto axis = o.has("axis") ? o.direction("axis") : std::optional<Vec3>(Vec3::UnitZ());
    const auto a = o.number("angle");
    if (!axis || !a) return {};
    return about(*axis, *a);
  }
  if (way == "kardan") {
    const auto a = o.vector("kardan", false);
    if (!a) return {};
    return about(Vec3::UnitZ(), a->z()) * about(Vec3::UnitY(), a->y()) * about(Vec3::UnitX(), a->x());
  }
  if (way == "euler") {
    const auto a = o.vector("euler", false);
    if (!a) return {};
    return about(Vec3::UnitZ(), a->x()) * about(Vec3::UnitX(), a->y()) * about(Vec3::UnitZ(), a->z());
  }
  const YamlNode& value = *o.find(way);
  if (way == "quaternion") {
    const auto q = list(value, scope, Dimension{});
    if (!q) return {};
    if (q->size() != 4) {
      mistakes_.add(value, "a quaternion has four numbers [w, x, y, z]");
      return {};
    }
    const Quat r((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
    if (!(std::abs(r.norm() - 1) < 1e-3)) {
      mistakes_.add(value, fmt::format("a quaternion of length 1 was expected, this has {:.6g}", r.norm()));
      return {};
    }
    return r.normalized();
  }
  const auto m = matrix(value, scope, Dimension{});
  if (!m) return {};
  if (!((m->transpose() * *m - Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-6) || !(m->determinant() > 0)) {
    mistakes_.add(value, "this is not a rotation matrix: its columns must be orthogonal unit vectors, right-handed");
    return {};
  }
  return Quat(*m).normalized();
}

std::optional<std::string> Reader::text(const YamlNode& n, const char* what) {
  if (n.kind == YamlNode::Kind::scalar) return n.text;
  mistakes_.add(n, fmt::format("{} was expected, this is {}", what, kind_name(n)));
  return {};
}

std::optional<bool> Reader::boolean(const YamlNode& n) {
  if (n.kind == YamlNode::Kind::scalar && n.text == "true") return true;
  if (n.kind == YamlNode::Kind::scalar && n.text == "false") return false;
  mistakes_.add(n, fmt::format("`true` or `false` was expected, this is {}",
                               n.kind == YamlNode::Kind::scalar ? "`" + shown(n.text) + "`" : kind_name(n)));
  return {};
}

std::optional<std::string> Reader::word(const YamlNode& n, const std::vector<std::string>& words,
                                        const std::string& what) {
  const auto s = text(n, what.c_str());
  if (!s) return {};
  if (std::find(words.begin(), words.end(), *s) != words.end()) return s;
  std::string hint = did_you_mean(*s, words);
  if (hint.empty()) {
    hint = "one of:";
    for (const auto& w : words) hint += " " + w;
  }
  mistakes_.add(n, fmt::format("`{}` is not {}", shown(*s), what), hint);
  return {};
}

std::optional<std::vector<const YamlNode*>> Reader::names(const YamlNode& n) {
  if (n.kind == YamlNode::Kind::scalar) return std::vector<const YamlNode*>{&n};
  if (n.kind == YamlNode::Kind::null) return std::vector<const YamlNode*>{};
  if (n.kind == YamlNode::Kind::map) {
    mistakes_.add(n, "a list of names was expected, this is a map");
    return {};
  }
  std::vector<const YamlNode*> all;
  for (const YamlNode* item : n.items)
    if (text(*item, "a name")) all.push_back(item);
  if (all.size() != n.items.size()) return {};
  return all;
}

}  // namespace clatter::loading
