// Pratt parser of expressions; expression_binding.cpp gives names their meaning.
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

}  // namespace clatter
