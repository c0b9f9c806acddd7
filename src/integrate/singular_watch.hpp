// Notices when a mechanism passes a singular position, where its constraint rows become dependent for an instant and
// more than one motion goes on from there.
//
// s, the smallest sine of the angle between an independent row and the others (Dynamics::constraint_sine), then falls
// to zero linearly in time and rises again: the absolute value of something that changes its sign. Steps rarely end at
// the zero, so that it is looked for between them. With s_0 > s_1 < s_2 at the ends of three steps, a zero between 1
// and 2 has the slope (s_1 + s_2) / h_12, which must agree with the slope (s_0 - s_1) / h_01 before it, and a zero
// between 0 and 1 likewise with the slope after it. A minimum that is round at the length of the steps does not. Where
// s_2 < s_1 a zero between them is told at once if it explains the slope before and a further fall does not.
//
// A zero that lies ahead is foretold by the parabola through the last three points.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "integrate/archive.hpp"

namespace clatter {

class SingularWatch {
 public:
  // The end of a step; true when a singular position was passed, at time().
  bool passed(double t, double s) {
    // A step that did not move, or one that is computed again from a checkpoint.
    if (count_ > 0 && !(t > t_[2])) return false;
    push(t, s);
    double zero = 0;
    if (count_ < 3 || !zero_behind(zero)) return false;
    // What lies before the zero is of the other sign from now on.
    for (std::size_t i = 0; i < t_.size() && t_[i] <= zero; ++i) s_[i] = -s_[i];
    time_ = zero;
    return true;
  }
  // Whether a step that ended there would have passed one, and when.
  bool would_pass(double t, double s, double& zero) const {
    SingularWatch next = *this;
    if (!next.passed(t, s) || !(next.time_ > t_[2])) return false;
    zero = next.time_;
    return true;
  }
  // The zero to which the last points lead; infinite where they lead to none.
  double ahead() const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (count_ < 2 || !(s_[1] > s_[2])) return kNever;
    double slope = (s_[2] - s_[1]) / (t_[2] - t_[1]), curvature = 0;
    if (count_ >= 3) {
      curvature = (slope - (s_[1] - s_[0]) / (t_[1] - t_[0])) / (t_[2] - t_[0]);
      slope += curvature * (t_[2] - t_[1]);
    }
    const double discriminant = slope * slope - 4 * curvature * s_[2];
    if (!(slope < 0) || discriminant < 0) return kNever;
    return t_[2] + 2 * s_[2] / (-slope + std::sqrt(discriminant));
  }
  // The velocities jumped: what was seen before tells nothing of what comes.
  void jumped() { count_ = 0; }
  double now() const { return s_[2]; }
  double largest() const { return largest_; }
  double time() const { return time_; }

  void exchange(Archive& archive) {
    for (double& t : t_) archive.value(t);
    for (double& s : s_) archive.value(s);
    archive.value(largest_);
    archive.value(count_);
    archive.value(time_);
  }

 private:
  static constexpr double kSmall = 0.5;  // of the largest sine seen: how near a step must end
  static constexpr double kHit = 1e-5;   // a step that ends in the position itself
  static constexpr double kAgree = 2;    // ratio of two slopes that may be one
  static constexpr double kDiffer = 4;   // ratio of two slopes that are not one
  static double mismatch(double a, double b) { return a > 0 && b > 0 ? std::max(a / b, b / a) : 1e300; }

  void push(double t, double s) {
    std::rotate(t_.begin(), t_.begin() + 1, t_.end());
    std::rotate(s_.begin(), s_.begin() + 1, s_.end());
    t_[2] = t;
    s_[2] = s;
    largest_ = std::max(largest_, s);
    count_ = std::min(count_ + 1, 3.0);
  }
  bool zero_behind(double& zero) const {
    if (!(s_[0] > s_[1]) || s_[1] > kSmall * largest_) return false;
    const double h = t_[2] - t_[1];
    const double before = (s_[0] - s_[1]) / (t_[1] - t_[0]), after = (s_[2] - s_[1]) / h;
    const double later = mismatch((s_[1] + s_[2]) / h, before);
    if (s_[1] > s_[2]) {
      if (later > kAgree || mismatch(-after, before) < kDiffer) return false;
      zero = zero_between(1);
      return true;
    }
    const double sooner = mismatch((s_[0] + s_[1]) / (t_[1] - t_[0]), after);
    if (s_[1] <= kHit * largest_) {
      zero = t_[1];
    } else if (std::min(later, sooner) > kAgree) {
      return false;
    } else {
      zero = zero_between(later <= sooner ? 1 : 0);
    }
    return true;
  }

  // Of the parabola through the three points, those up to k with the other sign, between k and k + 1.
  double zero_between(std::size_t k) const {
    std::array<double, 3> f = s_;
    for (std::size_t i = 0; i <= k; ++i) f[i] = -f[i];
    const double first = (f[1] - f[0]) / (t_[1] - t_[0]), second = (f[2] - f[1]) / (t_[2] - t_[1]);
    const double slope = k == 0 ? first : second, curvature = (second - first) / (t_[2] - t_[0]);
    const double straight = t_[k] - f[k] / slope;
    double zero = straight;
    for (int newton = 0; newton < 3; ++newton) {
      const double p = f[k] + (zero - t_[k]) * (slope + (zero - t_[k + 1]) * curvature);
      zero -= p / (slope + (2 * zero - t_[k] - t_[k + 1]) * curvature);
    }
    return zero >= t_[k] && zero <= t_[k + 1] ? zero : straight;
  }

  std::array<double, 3> t_{}, s_{};
  double largest_ = 0, count_ = 0, time_ = -std::numeric_limits<double>::infinity();
};

}  // namespace clatter
