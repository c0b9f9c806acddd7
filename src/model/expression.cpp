#include "model/expression.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

namespace clatter {

template double Expression::evaluate<double>(std::span<const double>) const;

namespace {

template <int N>
double gradient_of(const Expression& f, std::span<const double> x, std::span<double> g) {
  std::array<Jet1<N>, N> y;
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) y[i] = Jet1<N>::variable(x[i], static_cast<int>(i));
  const Jet1<N> r = f.evaluate<Jet1<N>>(std::span<const Jet1<N>>(y.data(), n));
  std::copy_n(r.g.begin(), n, g.begin());
  return r.v;
}

template <int N>
double hessian_of(const Expression& f, std::span<const double> x, std::span<double> g, std::span<double> H) {
  std::array<Jet2<N>, N> y;
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) y[i] = Jet2<N>::variable(x[i], static_cast<int>(i));
  const Jet2<N> r = f.evaluate<Jet2<N>>(std::span<const Jet2<N>>(y.data(), n));
  std::copy_n(r.g.begin(), n, g.begin());
  std::size_t k = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = i; j < N; ++j, ++k)
      if (j < n) H[i * n + j] = H[j * n + i] = r.h[k];
  return r.v;
}

void require_size(const Expression& f, std::size_t given, std::size_t room) {
  if (given != static_cast<std::size_t>(f.variables()) || room < given)
    throw std::invalid_argument("expression `" + f.text() + "`: wrong number of variables");
}

}  // namespace

// Walks the code with what each value on the stack is: a number, or linear in the variables.
void Expression::find_slopes() {
  std::vector<bool> varies;
  for (const Instruction& in : code_) {
    const auto second = [&] {
      const bool v = varies.back();
      varies.pop_back();
      return v;
    };
    switch (in.op) {
      case ExpressionOp::constant:
      case ExpressionOp::variable:
        varies.push_back(in.op == ExpressionOp::variable);
        break;
      case ExpressionOp::negate:
        break;
      case ExpressionOp::add:
      case ExpressionOp::subtract: {
        const bool b = second();
        varies.back() = varies.back() || b;
        break;
      }
      case ExpressionOp::multiply: {
        const bool b = second();
        if (varies.back() && b) return;
        varies.back() = varies.back() || b;
        break;
      }
      case ExpressionOp::divide:
        if (second()) return;
        break;
      default:
        return;
    }
  }
  if (variables_ == 0) return;
  const std::vector<double> at(static_cast<std::size_t>(variables_), 0.0);
  std::vector<double> g(at.size());
  gradient(at, g);
  slopes_ = std::move(g);
}

double Expression::gradient(std::span<const double> x, std::span<double> g) const {
  require_size(*this, x.size(), g.size());
  if (linear()) {
    std::copy(slopes_.begin(), slopes_.end(), g.begin());
    return value(x);
  }
  if (x.size() <= 1) return gradient_of<1>(*this, x, g);
  if (x.size() <= 2) return gradient_of<2>(*this, x, g);
  if (x.size() <= 4) return gradient_of<4>(*this, x, g);
  if (x.size() <= 8) return gradient_of<8>(*this, x, g);
  return gradient_of<max_variables>(*this, x, g);
}

double Expression::hessian(std::span<const double> x, std::span<double> g, std::span<double> H) const {
  require_size(*this, x.size(), std::min(g.size(), x.empty() ? H.size() : H.size() / x.size()));
  if (linear()) {
    std::copy(slopes_.begin(), slopes_.end(), g.begin());
    std::fill_n(H.begin(), x.size() * x.size(), 0.0);
    return value(x);
  }
  if (x.size() <= 1) return hessian_of<1>(*this, x, g, H);
  if (x.size() <= 2) return hessian_of<2>(*this, x, g, H);
  if (x.size() <= 4) return hessian_of<4>(*this, x, g, H);
  if (x.size() <= 8) return hessian_of<8>(*this, x, g, H);
  return hessian_of<max_variables>(*this, x, g, H);
}

Expression::Motion Expression::motion(double t) const {
  if (variables_ > 1) throw std::invalid_argument("expression `" + text_ + "` depends on more than the time");
  if (linear()) return {value(std::span<const double>(&t, 1)), slopes_[0], 0};
  const Jet2<1> x = Jet2<1>::variable(t, 0);
  const Jet2<1> r = evaluate<Jet2<1>>(std::span<const Jet2<1>>(&x, 1));
  return {r.v, r.g[0], r.h[0]};
}

}  // namespace clatter
