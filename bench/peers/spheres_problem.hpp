// Benchmark problem G: balls that fall into a box, for the peers. Data as in bench/spheres_model.hpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>

namespace spheres {

constexpr double kRadius = 0.05, kDensity = 2000, kFriction = 0.5, kGravity = 9.81, kStep = 1e-3, kEnd = 2,
                 kPitch = 0.115;
constexpr double kMass = kDensity * 4.0 / 3.0 * 3.14159265358979323846 * kRadius * kRadius * kRadius;

inline int per_row(int n) { return n <= 1000 ? 8 : 14; }
inline double half_width(int n) { return 0.5 * (kPitch * per_row(n) + 0.03); }

// Start positions, one after the other.
class Start {
 public:
  explicit Start(int n) : k_(per_row(n)) {}
  void next(double x[3]) {
    const int a = i_ % k_, b = (i_ / k_) % k_, c = i_ / (k_ * k_);
    x[0] = -0.5 * (k_ - 1) * kPitch + kPitch * a + 0.01 * u();
    x[1] = -0.5 * (k_ - 1) * kPitch + kPitch * b + 0.01 * u();
    x[2] = 0.06 + kPitch * c + 0.004 * u();
    ++i_;
  }

 private:
  double u() {
    s_ = s_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(s_ >> 11) / 9007199254740992.0 - 0.5;
  }
  int k_, i_ = 0;
  std::uint64_t s_ = 12345;
};

inline double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline void print(const char* peer, const char* configuration, int n, long steps, double cpu, double deepest,
                  double kinetic, int contacts) {
  std::printf(
      "peer=%s problem=G configuration=\"%s\" n=%d steps=%ld steps_per_s=%.4g penetration_percent=%.3g kinetic_J=%.3g "
      "contacts=%d\n",
      peer, configuration, n, steps, static_cast<double>(steps) / cpu, 100 * deepest / kRadius, kinetic, contacts);
  std::fflush(stdout);
}

}  // namespace spheres
