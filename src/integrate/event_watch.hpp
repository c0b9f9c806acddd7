// EventWatch: what a Dynamics knows about its event functions between two looks at them.
//
// A function that vanishes twice between two looks shows the same sign at both. Whoever owns a bound of how fast it can
// change tells here where between two looks that may have happened; looks are added there until it cannot.
//
//   looks      numbers that the integrator hands out; keep(k) makes look k of what Dynamics::events saw last
//   stretch    five looks at equal distances, from which the motion between the first and the last is bounded
#pragma once

#include <array>

namespace clatter {

class EventWatch {
 public:
  static constexpr int most_looks = 48;
  using Stretch = std::array<int, 5>;

  virtual ~EventWatch() = default;
  // Looks along another trial step begin.
  virtual void begin() = 0;
  virtual void keep(int look, double t) = 0;
  // How many equal parts of the stretch have to be looked at one by one, because too much turns within it.
  virtual int parts(const Stretch& stretch) = 0;
  virtual void bound(const Stretch& stretch) = 0;
  // Whether a function may have vanished between looks a and b, which show the same signs; then the times between which
  // it may. b lies later than a, both within the stretch last bounded.
  virtual bool unsure(int a, int b, double& from, double& to) = 0;
  // Whether unsure() speaks for this function; the extremes of others are guessed from their values.
  virtual bool covers(int index) const = 0;
};

}  // namespace clatter
