// Binding of expressions: names to constants and variables, dimensions, constant folding, code.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/expression.hpp"

namespace clatter {

namespace {

using Op = ExpressionOp;

}  // namespace

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
