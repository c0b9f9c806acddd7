// Order and step of a multistep method from the sizes of its error terms (Shampine and Gordon, Computer Solution of
// ODEs, 1975, ch. 7; DASSL has the same rules):
//
//   lower the order where the terms do not fall with it; raise it only after order + 1 equal steps, where the term
//   above is smaller; double the step or leave it; shorten it by a half at most. While starting, order and step climb
//   at every step until the terms say otherwise. The third failure of one step leads to order 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "integrate/archive.hpp"

namespace clatter {

class OrderControl {
 public:
  explicit OrderControl(int highest) : highest_(highest) {}

  int order() const { return order_; }
  int highest() const { return highest_; }
  void set(int order) { order_ = order; }
  void restart() {
    order_ = 1;
    starting_ = true;
    since_ = failures_ = 0;
    last_h_ = 0;
  }

  // The step could not be computed.
  void failed() {
    starting_ = false;
    since_ = 0;
    if (++failures_ >= 3) order_ = 1;
  }
  // It was the first step of all: too long a guess says nothing of the order, which goes on to climb.
  void failed_at_start() { starting_ = true; }
  // Length of the next attempt after one of length h and order k. term: what is compared between orders, error: of a
  // step of that order, both at [m] for order m, negative where not known.
  double rejected(double h, int k, std::span<const double> term, std::span<const double> error) {
    const int next = lower(k, term) ? k - 1 : k;
    order_ = next;
    failed();
    return failures_ == 1 ? h * std::clamp(0.9 * growth(next, error), 0.25, 0.9) : 0.25 * h;
  }
  // `climb`: whether there are points enough for the order above.
  double taken(double h, int k, std::span<const double> term, std::span<const double> error, bool climb) {
    int next = lower(k, term) ? k - 1 : k;
    if (starting_ && next == k && k < highest_) {
      if (climb) order_ = k + 1;
      since_ = 0;
      return h * std::clamp(growth(k, error), 1.0, 2.0);
    }
    starting_ = false;
    const double above = k < highest_ ? at(term, k + 1) : -1;
    if (next == k && since_ > k && above >= 0) {
      if (k > 1 && at(term, k - 1) <= std::min(at(term, k), above)) {
        next = k - 1;
      } else if (above < (k > 1 ? 1.0 : 0.5) * at(term, k)) {
        next = k + 1;
      }
    }
    const double r = growth(next, error);
    const double factor = r >= 2 ? 2 : (r <= 1 ? std::clamp(r, 0.5, 0.9) : 1);
    if (next != k || factor != 1) since_ = 0;
    order_ = next;
    return factor == 1 ? h : h * factor;
  }
  // Steps of one length differ by the rounding of their ends.
  void accepted(double h) {
    failures_ = 0;
    if (std::abs(h - last_h_) > 1e-9 * h) since_ = 0;
    ++since_;
    last_h_ = h;
  }

  void exchange(Archive& archive) {
    archive.count(order_);
    archive.count(starting_);
    archive.count(since_);
    archive.count(failures_);
    archive.value(last_h_);
  }

 private:
  static double at(std::span<const double> x, int m) { return x[static_cast<std::size_t>(m)]; }
  static bool lower(int k, std::span<const double> term) {
    if (k > 2) return std::max(at(term, k - 1), at(term, k - 2)) <= at(term, k);
    return k == 2 && at(term, 1) <= 0.5 * at(term, 2);
  }
  static double growth(int m, std::span<const double> error) {
    return std::pow(2 * at(error, m) + 1e-4, -1.0 / (m + 1));
  }

  const int highest_;
  int order_ = 1;
  bool starting_ = true;
  int since_ = 0;     // accepted steps with the order and length of the last
  int failures_ = 0;  // of this step
  double last_h_ = 0;
};

}  // namespace clatter
