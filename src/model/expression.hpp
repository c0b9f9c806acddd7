// Expressions: formulas the user writes, compiled once, evaluated with exact derivatives.
//
//   text --parse_expression--> ExpressionTree --bind--> Expression
//
// The tree knows names and positions; binding says what each name is (a constant, or variable number k), checks
// dimensions where they are known, folds constants and emits postfix code. An Expression is immutable and may be
// evaluated by many threads at once; evaluation allocates nothing (a fixed stack of `max_stack` values).
//
// Dimensions: every literal with a unit, every parameter defined with one, and every known quantity has a dimension. A
// bare number adopts whatever dimension is needed, and so does a product with one: 5*t may be an angle. The value of a
// function such as cos is a factor without unit, but adopts a dimension where it stands alone or in a sum.
//
//   or and not < <= > >= == != + - * / ^, unary -, unit literals, names with dots, pi, and the functions of
//   `expression_functions()`. Both branches of if(c, a, b) are evaluated, one is taken.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/jets.hpp"
#include "model/units.hpp"

namespace clatter {

// A mistake in an expression; `offset` counts bytes from its start.
struct ExpressionError : std::runtime_error {
  ExpressionError(std::size_t where, const std::string& message, std::string the_hint = {})
      : std::runtime_error(message), offset(where), hint(std::move(the_hint)) {}
  std::size_t offset;
  std::string hint;
};

enum class ExpressionOp : std::uint8_t {
  constant,
  variable,
  name,  // name: only in trees
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  power_constant,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  log,
  log10,
  sqrt,
  abs,
  sign,
  floor,
  step,
  atan2,
  min,
  max,
  hypot,
  mod,
  choose,
  ramp,
  smoothstep
};

class Expression {
 public:
  static constexpr int max_variables = 16;
  static constexpr int max_stack = 32;

  int variables() const { return variables_; }
  const std::string& text() const { return text_; }

  // For T = double, the jets, and any number type with the usual functions and a `value_of`.
  template <class T>
  T evaluate(std::span<const T> x) const;

  double value(std::span<const double> x) const { return evaluate<double>(x); }
  // A sum of multiples of its variables: derivatives are constant and need no evaluation.
  bool linear() const { return !slopes_.empty(); }
  // The value; g[i] = df/dx_i.
  double gradient(std::span<const double> x, std::span<double> g) const;
  // The value; g as above and H row by row, n x n.
  double hessian(std::span<const double> x, std::span<double> g, std::span<double> H) const;
  // f, df/dt, d2f/dt2 of a function of one variable (or of none).
  struct Motion {
    double value, rate, acceleration;
  };
  Motion motion(double t) const;

 private:
  friend class ExpressionTree;
  struct Instruction {
    double value;
    ExpressionOp op;
    std::uint8_t index;
  };
  void find_slopes();  // once the code is whole
  std::vector<Instruction> code_;
  std::vector<double> slopes_;  // by the variables; empty where it is not linear
  int variables_ = 0;
  std::string text_;
};

// What a name in an expression stands for.
struct Symbol {
  std::optional<double> constant;      // else a variable
  std::optional<Dimension> dimension;  // nothing: unknown, fits anywhere
};
// Throws ExpressionError (the offset is filled in) for a name that means nothing.
using Resolver = std::function<Symbol(const std::string& name)>;

struct BoundExpression {
  std::shared_ptr<const Expression> expression;  // null when everything folded into `constant`
  double constant = 0;
  std::optional<Dimension> dimension;
  std::vector<std::string> inputs;  // names of the variables in order
};

class ExpressionTree {
 public:
  struct Name {
    std::string text;
    std::size_t offset;
  };
  // Every name in it, each once, in order of appearance.
  std::vector<Name> names() const;
  // `fixed_inputs`: variables that come first, used or not, in this order.
  BoundExpression bind(const Resolver& resolve, const std::vector<std::string>& fixed_inputs = {}) const;

 private:
  friend class ExpressionParser;
  struct Node {
    ExpressionOp op;
    std::uint8_t arity = 0;
    int child[3] = {-1, -1, -1};
    double value = 0;
    std::optional<Dimension> dimension;  // of a literal with a unit
    std::size_t offset = 0, length = 0;
    std::string name;
  };
  struct Binding;
  std::vector<Node> nodes_;
  int root_ = -1;
  std::string text_;
};

ExpressionTree parse_expression(std::string_view text);

// Names the language takes for itself: functions, pi, t, and, or, not.
const std::vector<std::string>& expression_functions();
bool is_reserved_name(std::string_view name);

// --- evaluation ------------------------------------------------------------------------------------------------------

template <class T>
T Expression::evaluate(std::span<const T> x) const {
  using std::abs, std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::sinh, std::cosh, std::tanh;
  using std::exp, std::log, std::sqrt, std::atan2, std::hypot, std::pow;
  T stack[max_stack + 1];  // [0] lies below the first value
  T* top = stack;
  const auto truth = [](bool b) { return T(b ? 1.0 : 0.0); };
  for (const Instruction& in : code_) {
    switch (in.op) {
      case ExpressionOp::constant:
        *++top = T(in.value);
        break;
      case ExpressionOp::variable:
        *++top = x[in.index];
        break;
      case ExpressionOp::name:
        break;
      case ExpressionOp::negate:
        *top = -*top;
        break;
      case ExpressionOp::add:
        --top;
        *top = *top + top[1];
        break;
      case ExpressionOp::subtract:
        --top;
        *top = *top - top[1];
        break;
      case ExpressionOp::multiply:
        --top;
        *top = *top * top[1];
        break;
      case ExpressionOp::divide:
        --top;
        *top = *top / top[1];
        break;
      case ExpressionOp::power:
        --top;
        *top = pow(*top, top[1]);
        break;
      case ExpressionOp::power_constant:
        *top = pow(*top, in.value);
        break;
      case ExpressionOp::less:
        --top;
        *top = truth(value_of(*top) < value_of(top[1]));
        break;
      case ExpressionOp::less_equal:
        --top;
        *top = truth(value_of(*top) <= value_of(top[1]));
        break;
      case ExpressionOp::greater:
        --top;
        *top = truth(value_of(*top) > value_of(top[1]));
        break;
      case ExpressionOp::greater_equal:
        --top;
        *top = truth(value_of(*top) >= value_of(top[1]));
        break;
      case ExpressionOp::equal:
        --top;
        *top = truth(value_of(*top) == value_of(top[1]));
        break;
      case ExpressionOp::not_equal:
        --top;
        *top = truth(value_of(*top) != value_of(top[1]));
        break;
      case ExpressionOp::logical_and:
        --top;
        *top = truth(value_of(*top) != 0 && value_of(top[1]) != 0);
        break;
      case ExpressionOp::logical_or:
        --top;
        *top = truth(value_of(*top) != 0 || value_of(top[1]) != 0);
        break;
      case ExpressionOp::logical_not:
        *top = truth(value_of(*top) == 0);
        break;
      case ExpressionOp::sin:
        *top = sin(*top);
        break;
      case ExpressionOp::cos:
        *top = cos(*top);
        break;
      case ExpressionOp::tan:
        *top = tan(*top);
        break;
      case ExpressionOp::asin:
        *top = asin(*top);
        break;
      case ExpressionOp::acos:
        *top = acos(*top);
        break;
      case ExpressionOp::atan:
        *top = atan(*top);
        break;
      case ExpressionOp::sinh:
        *top = sinh(*top);
        break;
      case ExpressionOp::cosh:
        *top = cosh(*top);
        break;
      case ExpressionOp::tanh:
        *top = tanh(*top);
        break;
      case ExpressionOp::exp:
        *top = exp(*top);
        break;
      case ExpressionOp::log:
        *top = log(*top);
        break;
      case ExpressionOp::log10:
        *top = log(*top) * T(0.43429448190325182765);
        break;
      case ExpressionOp::sqrt:
        *top = sqrt(*top);
        break;
      case ExpressionOp::abs: {
        const double v = value_of(*top);
        *top = v > 0 ? *top : (v < 0 ? T(-*top) : (v == 0 ? T(0.0) : *top));
        break;
      }
      case ExpressionOp::sign: {
        const double v = value_of(*top);
        *top = T(v > 0 ? 1.0 : (v < 0 ? -1.0 : 0.0));
        break;
      }
      case ExpressionOp::floor:
        *top = T(std::floor(value_of(*top)));
        break;
      case ExpressionOp::step:
        *top = truth(value_of(*top) >= 0);
        break;
      case ExpressionOp::atan2:
        --top;
        *top = atan2(*top, top[1]);
        break;
      case ExpressionOp::min:
        --top;
        if (value_of(top[1]) < value_of(*top)) *top = top[1];
        break;
      case ExpressionOp::max:
        --top;
        if (value_of(top[1]) > value_of(*top)) *top = top[1];
        break;
      case ExpressionOp::hypot:
        --top;
        *top = hypot(*top, top[1]);
        break;
      case ExpressionOp::mod: {
        --top;
        *top = *top - T(std::floor(value_of(*top) / value_of(top[1]))) * top[1];
        break;
      }
      case ExpressionOp::choose:
        top -= 2;
        *top = value_of(*top) != 0 ? top[1] : top[2];
        break;
      case ExpressionOp::ramp:
      case ExpressionOp::smoothstep: {
        top -= 2;
        const double a = value_of(top[0]), t0 = value_of(top[1]), t1 = value_of(top[2]);
        if (a <= t0) {
          *top = T(0.0);
        } else if (a >= t1) {
          *top = T(1.0);
        } else {
          const T u = (top[0] - top[1]) / (top[2] - top[1]);
          // 10u^3 - 15u^4 + 6u^5: twice continuously differentiable, so that a drive does not jerk.
          *top = in.op == ExpressionOp::ramp ? u : T(u * u * u * (T(10.0) + u * (T(-15.0) + u * T(6.0))));
        }
        break;
      }
    }
  }
  return *top;
}

extern template double Expression::evaluate<double>(std::span<const double>) const;

}  // namespace clatter
