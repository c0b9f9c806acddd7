// Notices when a mechanism passes a singular position, where its constraint rows become dependent for an instant and
// more than one motion goes on from there.
//
// s, the smallest sine of the angle between an independent row and the others (Dynamics::constraint_sine), then falls
// to zero linearly in time and rises again: the absolute value of something that changes its sign. Steps rarely end at
// the zero, so that it is looked for between them. With s_0 > s_1 < s_2 at the ends of three steps, a zero between 1
// and 2 has the slope (s_1 + s_2) / h_12, which must agree with the slope (s_0 - s_1) / h_01 before it, and a zero
// between 0 and 1 likewise with the slope after it. A minimum that is round at the length of the steps does not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "integrate/archive.hpp"

namespace clatter {

class SingularWatch {
 public:
  // The end of a step; true when a singular position was passed, at time().
  bool passed(double t, double s) {
    // A step that did not move, or one that is computed again from a checkpoint.
    if (count_ > 0 && !(t > t_[2])) return false;
    std::rotate(t_.begin(), t_.begin() + 1, t_.end());
    std::rotate(s_.begin(), s_.begin() + 1, s_.end());
    t_[2] = t;
    s_[2] = s;
    largest_ = std::max(largest_, s);
    count_ = std::min(count_ + 1, 3.0);
    if (count_ < 3 || !(s_[0] > s_[1] && s_[1] <= s_[2]) || s_[1] > kSmall * largest_) return false;
    const double before = (s_[0] - s_[1]) / (t_[1] - t_[0]), after = (s_[2] - s_[1]) / (t_[2] - t_[1]);
    const double later = mismatch((s_[1] + s_[2]) / (t_[2] - t_[1]), before);
    const double sooner = mismatch((s_[0] + s_[1]) / (t_[1] - t_[0]), after);
    if (s_[1] <= kHit * largest_) {
      time_ = t_[1];
    } else if (std::min(later, sooner) > kAgree) {
      return false;
    } else {
      const int k = later <= sooner ? 1 : 0;
      time_ = t_[k] + (t_[k + 1] - t_[k]) * s_[k] / (s_[k] + s_[k + 1]);
    }
    return true;
  }
  double time() const { return time_; }

  void exchange(Archive& archive) {
    for (double& t : t_) archive.value(t);
    for (double& s : s_) archive.value(s);
    archive.value(largest_);
    archive.value(count_);
  }

 private:
  static constexpr double kSmall = 0.3;  // of the largest sine seen: how near a step must end
  static constexpr double kHit = 1e-5;   // a step that ends in the position itself
  static constexpr double kAgree = 2;    // ratio of two slopes that may be one
  static double mismatch(double a, double b) { return a > 0 && b > 0 ? std::max(a / b, b / a) : 1e300; }

  std::array<double, 3> t_{}, s_{};
  double largest_ = 0, count_ = 0, time_ = 0;
};

}  // namespace clatter
