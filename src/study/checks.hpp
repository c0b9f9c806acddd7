// A model's checks: a number computed from a recorded quantity against the number its source gives.
//
// The quantity is known at samples (t_i, x_i). Between samples it is the polynomial through the nearest ones (up to
// six), so that extremes, zeros, integrals and values at a time are of higher order than the samples' spacing would
// give. Two samples at the same time are a jump; no polynomial reaches across it.
//
//   final         x at the end                       minimum, maximum   extremes over the run
//   at_time       x at `time`                        amplitude          (maximum - minimum) / 2
//   drift         max |x - x(start)|                 peak_to_peak       maximum - minimum
//   integral      of x over the run                  first_zero         first time after the start at which x = 0
//   mean          integral / length of the run
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace clatter {
class Observer;  // engine/quantity.hpp
}

namespace clatter::study {

struct CheckResult {
  Check check;
  double computed = 0;
  bool known = false;  // false: it could not be computed, `reason` tells why
  std::string reason;
  bool ok() const;
  double difference() const { return computed - check.value; }
};

// "maximum of rod.angle", "rod.tip.position.x at 2 s".
std::string describe(const Check& check);

CheckResult evaluate_check(const Check& check, std::span<const double> t, std::span<const double> x);

// The recorded numbers a model's checks need, and what became of them.
class CheckRecorder {
 public:
  CheckRecorder(const std::vector<Check>& checks, const Observer& observer);
  void add(double t, std::span<const double> values);  // all numbers of the observer
  std::vector<CheckResult> results() const;

 private:
  std::vector<Check> checks_;
  std::vector<int> columns_;
  std::vector<double> t_;
  std::vector<std::vector<double>> x_;
};

}  // namespace clatter::study
