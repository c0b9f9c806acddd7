// Pratt parser of expressions, and binding: names to constants and variables, dimensions, constant folding, code.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/expression.hpp"

namespace clatter {

namespace {

using Op = ExpressionOp;

constexpr std::size_t max_text = 4000;
constexpr std::size_t max_nodes = 2000;
constexpr int max_nesting = 60;

struct FunctionSpec {
  const char* name;
  Op op;
  std::uint8_t arity;
  bool variadic = false;  // min and max take two or more
};

const std::vector<FunctionSpec>& functions() {
  static const std::vector<FunctionSpec> all{{"sin", Op::sin, 1},       {"cos", Op::cos, 1},
                                             {"tan", Op::tan, 1},       {"asin", Op::asin, 1},
                                             {"acos", Op::acos, 1},     {"atan", Op::atan, 1},
                                             {"atan2", Op::atan2, 2},   {"sinh", Op::sinh, 1},
                                             {"cosh", Op::cosh, 1},     {"tanh", Op::tanh, 1},
                                             {"exp", Op::exp, 1},       {"log", Op::log, 1},
                                             {"log10", Op::log10, 1},   {"sqrt", Op::sqrt, 1},
                                             {"abs", Op::abs, 1},       {"sign", Op::sign, 1},
                                             {"min", Op::min, 2, true}, {"max", Op::max, 2, true},
                                             {"pow", Op::power, 2},     {"hypot", Op::hypot, 2},
                                             {"floor", Op::floor, 1},   {"mod", Op::mod, 2},
                                             {"if", Op::choose, 3},     {"step", Op::step, 1},
                                             {"ramp", Op::ramp, 3},     {"smoothstep", Op::smoothstep, 3}};
  return all;
}

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const std::vector<std::string>& expression_functions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    for (const auto& f : functions()) n.emplace_back(f.name);
    return n;
  }();
  return names;
}

bool is_reserved_name(std::string_view name) {
  static const std::unordered_set<std::string_view> words = [] {
    std::unordered_set<std::string_view> w{"pi", "t", "and", "or", "not", "ground"};
    for (const auto& f : functions()) w.insert(f.name);
    return w;
  }();
  return words.count(name) > 0;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  ExpressionTree run() {
    if (text_.size() > max_text) fail(0, fmt::format("an expression may have at most {} characters", max_text));
    skip();
    if (at_ == text_.size()) fail(0, "an expression was expected, this is empty");
    tree_.root_ = expression(0);
    if (at_ < text_.size()) {
      std::string hint;
      const char c = text_[at_];
      if (c == '=') hint = "a comparison is written `==`";
      if (letter(c)) hint = "write `*` for a product; a unit directly follows its number";
      fail(at_, fmt::format("unexpected `{}` in the expression", shown(at_)), hint);
    }
    tree_.text_ = std::string(text_);
    return std::move(tree_);
  }

 private:
  [[noreturn]] static void fail(std::size_t at, const std::string& message, const std::string& hint = {}) {
    throw ExpressionError(at, message, hint);
  }

  std::string shown(std::size_t at) const {
    std::size_t n = 1;
    if (letter(text_[at]) || digit(text_[at]))
      while (at + n < text_.size() && n < 40 && (letter(text_[at + n]) || digit(text_[at + n]))) ++n;
    return std::string(text_.substr(at, n));
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    if (letter(token[0])) {  // a word, not the beginning of a longer one
      const std::size_t after = at_ + token.size();
      if (after < text_.size() && (letter(text_[after]) || digit(text_[after]) || text_[after] == '.')) return false;
    }
    at_ += token.size();
    skip();
    return true;
  }

  int add(ExpressionTree::Node node) {
    if (tree_.nodes_.size() >= max_nodes)
      fail(node.offset, "this expression is too long; name its parts as parameters");
    tree_.nodes_.push_back(std::move(node));
    return static_cast<int>(tree_.nodes_.size()) - 1;
  }
  int node(Op op, std::size_t offset, int a, int b = -1, int c = -1) {
    ExpressionTree::Node n{};
    n.op = op;
    n.offset = offset;
    n.arity = static_cast<std::uint8_t>(c >= 0 ? 3 : (b >= 0 ? 2 : 1));
    n.child[0] = a, n.child[1] = b, n.child[2] = c;
    return add(std::move(n));
  }

  struct Infix {
    const char* token;
    Op op;
    int precedence;
  };
  // Binding strength: or 1, and 2, comparisons 4, sums 5, products 6, unary minus 7, powers 8 (to the right).
  bool infix(int least, Infix& found, std::size_t& offset) {
    static constexpr Infix all[] = {
        {"or", Op::logical_or, 1}, {"and", Op::logical_and, 2}, {"<=", Op::less_equal, 4}, {">=", Op::greater_equal, 4},
        {"==", Op::equal, 4},      {"!=", Op::not_equal, 4},    {"<", Op::less, 4},        {">", Op::greater, 4},
        {"+", Op::add, 5},         {"-", Op::subtract, 5},      {"*", Op::multiply, 6},    {"/", Op::divide, 6},
        {"^", Op::power, 8}};
    for (const auto& i : all) {
      if (i.precedence < least) continue;
      const std::size_t before = at_;
      if (accept(i.token)) {
        found = i;
        offset = before;
        return true;
      }
    }
    return false;
  }

  int expression(int least) {
    const Nest nest(*this);
    int left = prefix();
    Infix i{};
    std::size_t offset = 0;
    while (infix(least, i, offset)) {
      if (text_.substr(offset).starts_with("**")) fail(offset, "a power is written `^`");
      const int right = expression(i.op == Op::power ? 7 : i.precedence + 1);
      left = node(i.op, offset, left, right);
      if (i.precedence == 4) {
        Infix again{};
        std::size_t second = 0;
        const std::size_t here = at_;
        if (infix(4, again, second) && again.precedence == 4)
          fail(second, "comparisons cannot be chained", "join them with `and`");
        at_ = here;
      }
    }
    return left;
  }

  int prefix() {
    skip();
    const std::size_t start = at_;
    if (at_ == text_.size()) fail(at_, "the expression ends too early");
    if (accept("-")) return node(Op::negate, start, expression(7));
    if (accept("+")) return expression(7);
    if (accept("not")) return node(Op::logical_not, start, expression(3));
    if (accept("(")) {
      const int inner = expression(0);
      if (!accept(")")) fail(at_, "`)` is missing", fmt::format("the `(` at position {} is not closed", start + 1));
      return inner;
    }
    if (const auto number = match_number(text_.substr(at_))) return literal(*number, start);
    if (letter(text_[at_])) return word(start);
    fail(at_, fmt::format("unexpected `{}` in the expression", shown(at_)));
  }

  int literal(const NumberMatch& number, std::size_t start) {
    if (!std::isfinite(number.value)) fail(start, "this number is too large");
    ExpressionTree::Node n{};
    n.op = Op::constant;
    n.offset = start;
    n.value = number.value;
    at_ += number.length;
    n.length = at_ - start;
    skip();
    if (const auto unit = match_unit(text_.substr(at_))) {
      at_ += unit->length;
      n.length = at_ - start;
      n.value *= unit->unit.factor;
      n.dimension = unit->unit.dimension;
      if (!std::isfinite(n.value)) fail(start, "this number is too large");
      skip();
    } else if (at_ < text_.size() && letter(text_[at_]) && !text_.substr(at_).starts_with("and") &&
               !text_.substr(at_).starts_with("or")) {
      const std::string name = shown(at_);
      std::string hint = did_you_mean(name, unit_names());
      if (hint.empty()) hint = "a product is written with `*`";
      if (find_unit(name)) hint = "exponents in units are single digits: m^2, s^-1";
      fail(at_, fmt::format("unknown unit `{}`", name), hint);
    }
    return add(std::move(n));
  }

  int word(std::size_t start) {
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
    std::string name(text_.substr(start, at_ - start));
    const std::size_t end = at_;
    skip();
    const auto& all = functions();
    const auto f = std::find_if(all.begin(), all.end(), [&](const FunctionSpec& s) { return name == s.name; });
    if (at_ < text_.size() && text_[at_] == '(') {
      if (f == all.end())
        fail(start, fmt::format("unknown function `{}`", name), did_you_mean(name, expression_functions()));
      return call(*f, start);
    }
    if (f != all.end()) fail(start, fmt::format("`{}` is a function: write {}(...)", name, name));
    if (name.back() == '.' || name.find("..") != std::string::npos)
      fail(start, fmt::format("`{}` is not a name: a part between the dots is missing", name));
    ExpressionTree::Node n{};
    n.offset = start;
    n.length = end - start;
    if (name == "pi") {
      n.op = Op::constant;
      n.value = std::numbers::pi;
      n.dimension = Dimension{};
    } else {
      n.op = Op::name;
      n.name = std::move(name);
    }
    return add(std::move(n));
  }

  int call(const FunctionSpec& f, std::size_t start) {
    accept("(");
    std::vector<int> arguments;
    if (!accept(")")) {
      do {
        arguments.push_back(expression(0));
        if (arguments.size() > 32) fail(start, "too many arguments");
      } while (accept(","));
      if (!accept(")")) fail(at_, "`)` is missing", fmt::format("after the arguments of `{}`", f.name));
    }
    const bool fits = f.variadic ? arguments.size() >= 2 : arguments.size() == f.arity;
    if (!fits)
      fail(start, fmt::format("`{}` takes {}{} argument{}, not {}", f.name, f.variadic ? "at least " : "", f.arity,
                              f.arity == 1 ? "" : "s", arguments.size()));
    if (f.arity == 1) return node(f.op, start, arguments[0]);
    if (f.arity == 3) return node(f.op, start, arguments[0], arguments[1], arguments[2]);
    int left = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) left = node(f.op, start, left, arguments[i]);
    return left;
  }

  struct Nest {
    explicit Nest(ExpressionParser& parser) : p(parser) {
      if (++p.nesting_ > max_nesting) fail(p.at_, "this expression is nested too deeply");
    }
    ~Nest() { --p.nesting_; }
    ExpressionParser& p;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  ExpressionTree tree_;
};

ExpressionTree parse_expression(std::string_view text) { return ExpressionParser(text).run(); }

std::vector<ExpressionTree::Name> ExpressionTree::names() const {
  std::vector<Name> all;
  for (const auto& n : nodes_)
    if (n.op == Op::name && std::none_of(all.begin(), all.end(), [&](const Name& seen) { return seen.text == n.name; }))
      all.push_back({n.name, n.offset});
  std::sort(all.begin(), all.end(), [](const Name& a, const Name& b) { return a.offset < b.offset; });
  return all;
}

// --- binding ---------------------------------------------------------------------------------------------------------

struct ExpressionTree::Binding {
  const ExpressionTree& tree;
  const Resolver& resolve;
  BoundExpression result;
  std::shared_ptr<Expression> code = std::make_shared<Expression>();
  std::unordered_map<std::string, Symbol> symbols{};
  int depth = 0;

  struct Part {
    std::optional<Dimension> dimension;  // nothing: fits anywhere
    std::optional<double> constant;
    bool soft = false;  // the value of a function such as cos: a factor without unit, but adopts one in a sum
  };

  [[noreturn]] static void mismatch(std::size_t at, const std::string& what, const Dimension& a, const Dimension& b) {
    throw ExpressionError(at, fmt::format("{}: {} and {}", what, describe(a), describe(b)));
  }

  void emit(Op op, int arity, double value = 0, int index = 0) {
    code->code_.push_back({value, op, static_cast<std::uint8_t>(index)});
    depth += 1 - arity;
    if (depth > Expression::max_stack)
      throw ExpressionError(0, "this expression is nested too deeply", "name parts of it as parameters");
  }

  int variable(const Node& n) {
    auto& inputs = result.inputs;
    const auto it = std::find(inputs.begin(), inputs.end(), n.name);
    if (it != inputs.end()) return static_cast<int>(it - inputs.begin());
    if (inputs.size() >= Expression::max_variables)
      throw ExpressionError(n.offset, fmt::format("more than {} different quantities in one expression",
                                                  static_cast<int>(Expression::max_variables)));
    inputs.push_back(n.name);
    return static_cast<int>(inputs.size()) - 1;
  }

  Part leaf(const Node& n) {
    if (n.op == Op::constant) {
      emit(Op::constant, 0, n.value);
      return {n.dimension, n.value};
    }
    auto it = symbols.find(n.name);
    if (it == symbols.end()) {
      try {
        it = symbols.emplace(n.name, resolve(n.name)).first;
      } catch (ExpressionError& e) {
        throw ExpressionError(n.offset, e.what(), e.hint);
      }
    }
    const Symbol& s = it->second;
    if (s.constant)
      emit(Op::constant, 0, *s.constant);
    else
      emit(Op::variable, 0, 0, variable(n));
    return {s.dimension, s.constant};
  }

  Part walk(int index) {
    const Node& n = tree.nodes_[static_cast<std::size_t>(index)];
    if (n.arity == 0) return leaf(n);
    const std::size_t begin = code->code_.size();
    const int depth_before = depth;
    Part p[3];
    bool constant = true;
    for (int i = 0; i < n.arity; ++i) {
      p[i] = walk(n.child[i]);
      constant = constant && p[i].constant;
    }
    Part r;
    r.dimension = dimension(n, p);
    r.soft = soft(n, p);
    if (n.op == Op::power && p[1].constant) {
      code->code_.pop_back();
      --depth;
      emit(Op::power_constant, 1, *p[1].constant);
    } else {
      emit(n.op, n.arity);
    }
    if (constant) {
      Expression part;
      part.code_.assign(code->code_.begin() + static_cast<std::ptrdiff_t>(begin), code->code_.end());
      const double value = part.evaluate<double>({});
      if (!std::isfinite(value))
        throw ExpressionError(n.offset, "this has no finite value",
                              "a division by zero, or a root or logarithm of a "
                              "number out of its range?");
      code->code_.resize(begin);
      depth = depth_before;
      emit(Op::constant, 0, value);
      r.constant = value;
    }
    return r;
  }

  static std::optional<Dimension> same(const Node& n, const char* what, const Part& a, const Part& b) {
    if (a.soft != b.soft && a.dimension && b.dimension) return a.soft ? b.dimension : a.dimension;
    if (a.dimension && b.dimension && !(*a.dimension == *b.dimension))
      mismatch(n.offset, what, *a.dimension, *b.dimension);
    return a.dimension ? a.dimension : b.dimension;
  }
  static void pure(const Node& n, const char* what, const Part& a) {
    if (!a.dimension || a.dimension->dimensionless()) return;
    const std::string message = fmt::format("{} must be a number or an angle, not {}", what, describe(*a.dimension));
    const bool time = *a.dimension == dimension_of("s");
    throw ExpressionError(n.offset, message, time ? "multiply by a frequency: 2*pi*50 Hz*t, 10 rad/s*t or 10*t" : "");
  }

  static bool adopts(const Part& p) { return p.soft || !p.dimension; }
  static bool soft(const Node& n, const Part* p) {
    switch (n.op) {
      case Op::sin:
      case Op::cos:
      case Op::tan:
      case Op::sinh:
      case Op::cosh:
      case Op::tanh:
      case Op::exp:
      case Op::log:
      case Op::log10:
      case Op::ramp:
      case Op::smoothstep:
      case Op::step:
      case Op::sign:
        return true;
      case Op::negate:
      case Op::abs:
      case Op::sqrt:
      case Op::power:
        return p[0].soft;
      case Op::multiply:
      case Op::divide:
        return p[0].soft && p[1].soft;
      case Op::add:
      case Op::subtract:
      case Op::min:
      case Op::max:
      case Op::hypot:
        return adopts(p[0]) && adopts(p[1]);
      case Op::choose:
        return adopts(p[1]) && adopts(p[2]);
      default:
        return false;
    }
  }

  static std::optional<Dimension> dimension(const Node& n, const Part* p) {
    const Dimension number{};
    switch (n.op) {
      case Op::negate:
      case Op::abs:
        return p[0].dimension;
      case Op::add:
        return same(n, "these cannot be added", p[0], p[1]);
      case Op::subtract:
        return same(n, "these cannot be subtracted", p[0], p[1]);
      case Op::multiply:
        if (p[0].dimension && p[1].dimension) return *p[0].dimension * *p[1].dimension;
        return {};
      case Op::divide:
        if (p[0].dimension && p[1].dimension) return *p[0].dimension / *p[1].dimension;
        return {};
      case Op::power:
        pure(n, "an exponent", p[1]);
        if (!p[0].dimension) return {};
        if (p[0].dimension->dimensionless()) return number;
        if (!p[1].constant)
          throw ExpressionError(n.offset,
                                fmt::format("{} cannot be raised to a varying power", describe(*p[0].dimension)));
        return power(*p[0].dimension, *p[1].constant);
      case Op::sqrt:
        return p[0].dimension ? power(*p[0].dimension, 0.5) : std::nullopt;
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::equal:
      case Op::not_equal:
        same(n, "these cannot be compared", p[0], p[1]);
        return number;
      case Op::min:
      case Op::max:
      case Op::hypot:
      case Op::mod:
        return same(n, "both must be of one kind", p[0], p[1]);
      case Op::atan2:
        same(n, "both must be of one kind", p[0], p[1]);
        return Dimension{{}, true};
      case Op::choose:
        return same(n, "both branches of `if` must be of one kind", p[1], p[2]);
      case Op::ramp:
      case Op::smoothstep:
        same(n, "these must be of one kind", p[0], p[1]);
        same(n, "these must be of one kind", p[0], p[2]);
        same(n, "these must be of one kind", p[1], p[2]);
        return number;
      case Op::asin:
      case Op::acos:
      case Op::atan:
        pure(n, "the argument", p[0]);
        return Dimension{{}, true};
      case Op::sin:
      case Op::cos:
      case Op::tan:
      case Op::sinh:
      case Op::cosh:
      case Op::tanh:
      case Op::exp:
      case Op::log:
      case Op::log10:
      case Op::floor:
        pure(n, "the argument", p[0]);
        return number;
      default:
        return number;
    }
  }
};

BoundExpression ExpressionTree::bind(const Resolver& resolve, const std::vector<std::string>& fixed_inputs) const {
  Binding b{*this, resolve, {}};
  b.result.inputs = fixed_inputs;
  const auto part = b.walk(root_);
  if (!part.soft) b.result.dimension = part.dimension;
  if (part.constant) {
    b.result.constant = *part.constant;
    b.result.inputs.clear();
    return std::move(b.result);
  }
  b.code->variables_ = static_cast<int>(b.result.inputs.size());
  b.code->find_slopes();
  b.code->text_ = text_;
  b.result.expression = std::move(b.code);
  return std::move(b.result);
}

}  // namespace clatter
