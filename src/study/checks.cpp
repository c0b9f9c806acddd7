#include "study/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "engine/quantity.hpp"
#include "study/recorded.hpp"

namespace clatter::study {

namespace {

class Series {
 public:
  Series(std::span<const double> t, std::span<const double> x) : t_(t), x_(x) {}

  std::size_t size() const { return t_.size(); }
  double t(std::size_t i) const { return t_[i]; }
  double x(std::size_t i) const { return x_[i]; }

  // Lagrange polynomial through up to `points` samples around the interval [t_i, t_i+1], evaluated at `at`.
  double polynomial(std::size_t i, std::size_t points, double at) const {
    std::size_t first = i, last = std::min(i + 1, size() - 1);
    while (last - first + 1 < points) {
      const bool left = first > 0 && t_[first - 1] < t_[first];
      const bool right = last + 1 < size() && t_[last + 1] > t_[last];
      if (!left && !right) break;
      if (left && (!right || i - first <= last - i)) {
        --first;
      } else {
        ++last;
      }
    }
    double sum = 0;
    for (std::size_t j = first; j <= last; ++j) {
      double weight = x_[j];
      for (std::size_t k = first; k <= last; ++k) {
        if (k != j) weight *= (at - t_[k]) / (t_[j] - t_[k]);
      }
      sum += weight;
    }
    return sum;
  }

  double at(double time) const {
    const auto upper = std::upper_bound(t_.begin(), t_.end(), time);
    if (upper == t_.begin()) return x_.front();
    const auto i = static_cast<std::size_t>(upper - t_.begin()) - 1;
    if (t_[i] == time || i + 1 == size()) return x_[i];
    return polynomial(i, 6, time);
  }

  double maximum(double sign) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < size(); ++i) {
      if (sign * x_[i] > sign * x_[best]) best = i;
    }
    if (best == 0 || best + 1 == size()) return x_[best];
    if (t_[best - 1] == t_[best] || t_[best] == t_[best + 1]) return x_[best];
    double lower = t_[best - 1], upper = t_[best + 1];
    const auto value = [&](double time) { return sign * polynomial(best, 5, time); };
    for (int n = 0; n < 100 && upper - lower > 1e-9 * (t_[best + 1] - t_[best - 1]); ++n) {
      const double a = lower + (upper - lower) / 3, b = upper - (upper - lower) / 3;
      if (value(a) < value(b)) {
        lower = a;
      } else {
        upper = b;
      }
    }
    const double refined = sign * value((lower + upper) / 2);
    // A smooth peak rises above its highest sample by at most an eighth of the second difference; what rises more is a
    // corner, and there the sample is the better answer.
    const double second = std::abs(x_[best - 1] - 2 * x_[best] + x_[best + 1]);
    const double gain = sign * (refined - x_[best]);
    return gain > 0 && gain <= 0.25 * second ? refined : x_[best];
  }

  double integral() const {
    const double gauss = 0.5 / std::sqrt(3.0);  // two Gauss points are exact for the cubic
    double sum = 0;
    for (std::size_t i = 0; i + 1 < size(); ++i) {
      const double h = t_[i + 1] - t_[i], middle = (t_[i] + t_[i + 1]) / 2;
      if (h <= 0) continue;
      sum += h / 2 * (polynomial(i, 4, middle - gauss * h) + polynomial(i, 4, middle + gauss * h));
    }
    return sum;
  }

  bool first_zero(double& zero) const {
    for (std::size_t i = 0; i + 1 < size(); ++i) {
      if (x_[i + 1] == 0) {
        zero = t_[i + 1];
        return true;
      }
      if (x_[i] * x_[i + 1] >= 0) continue;
      double lower = t_[i], upper = t_[i + 1];
      for (int n = 0; n < 100 && lower < upper; ++n) {
        const double middle = lower + (upper - lower) / 2;
        if (middle == lower || middle == upper) break;
        (polynomial(i, 4, middle) * x_[i] > 0 ? lower : upper) = middle;
      }
      zero = upper;
      return true;
    }
    return false;
  }

 private:
  std::span<const double> t_, x_;
};

}  // namespace

bool CheckResult::ok() const { return known && std::abs(computed - check.value) <= check.tolerance; }

std::string describe(const Check& check) {
  using R = Check::Reduction;
  switch (check.reduction) {
    case R::at_time:
      return fmt::format("{} at {} s", check.quantity, number(check.time));
    case R::final:
      return check.quantity + " at the end";
    case R::minimum:
      return "minimum of " + check.quantity;
    case R::maximum:
      return "maximum of " + check.quantity;
    case R::mean:
      return "mean of " + check.quantity;
    case R::drift:
      return "drift of " + check.quantity;
    case R::amplitude:
      return "amplitude of " + check.quantity;
    case R::peak_to_peak:
      return "peak to peak of " + check.quantity;
    case R::integral:
      return "integral of " + check.quantity;
    case R::first_zero:
      return "first zero of " + check.quantity;
  }
  return check.quantity;
}

CheckResult evaluate_check(const Check& check, std::span<const double> t, std::span<const double> x) {
  CheckResult result;
  result.check = check;
  if (t.empty() || t.size() != x.size()) {
    result.reason = "nothing was recorded";
    return result;
  }
  const Series series(t, x);
  result.known = true;
  using R = Check::Reduction;
  switch (check.reduction) {
    case R::at_time: {
      const double slack = 1e-9 * std::max(std::abs(t.front()), std::abs(t.back()));
      if (check.time < t.front() - slack || check.time > t.back() + slack) {
        result.known = false;
        result.reason = fmt::format("the run covers {} s to {} s", number(t.front()), number(t.back()));
        break;
      }
      result.computed = series.at(check.time);
      break;
    }
    case R::final:
      result.computed = x.back();
      break;
    case R::minimum:
      result.computed = series.maximum(-1);
      break;
    case R::maximum:
      result.computed = series.maximum(1);
      break;
    case R::mean:
      result.computed = t.back() > t.front() ? series.integral() / (t.back() - t.front()) : x.front();
      break;
    case R::drift:
      for (const double value : x) result.computed = std::max(result.computed, std::abs(value - x.front()));
      break;
    case R::amplitude:
      result.computed = (series.maximum(1) - series.maximum(-1)) / 2;
      break;
    case R::peak_to_peak:
      result.computed = series.maximum(1) - series.maximum(-1);
      break;
    case R::integral:
      result.computed = series.integral();
      break;
    case R::first_zero:
      result.known = series.first_zero(result.computed);
      if (!result.known) result.reason = "it does not change its sign";
      break;
  }
  return result;
}

CheckRecorder::CheckRecorder(const std::vector<Check>& checks, const Observer& observer)
    : checks_(checks), x_(checks.size()) {
  for (const Check& check : checks) {
    try {
      columns_.push_back(column_of(observer, check.quantity));
    } catch (const InputError& error) {
      const Diagnostic& d = error.diagnostics().front();
      throw InputError(check.source, d.message, d.hint);
    }
  }
}

void CheckRecorder::add(double t, std::span<const double> values) {
  if (checks_.empty()) return;
  t_.push_back(t);
  for (std::size_t i = 0; i < columns_.size(); ++i) x_[i].push_back(values[static_cast<std::size_t>(columns_[i])]);
}

std::vector<CheckResult> CheckRecorder::results() const {
  std::vector<CheckResult> results;
  for (std::size_t i = 0; i < checks_.size(); ++i) results.push_back(evaluate_check(checks_[i], t_, x_[i]));
  return results;
}

}  // namespace clatter::study
