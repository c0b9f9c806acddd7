// Benchmark problem C for the peer programs: a chain of n links, each l = 1 m, m = 1 kg, square section 0.05 m,
// revolute joints about z, start straight along +x at rest, gravity 9.81 along -y, 10 s.
// The reference tips at 2 s come from tools/reference/chain3.py (n = 3) and chain_n.py (n = 30, 300).
// The energy starts at zero and is conserved. energy_error_2s and energy_error are the largest |T + V| in joule seen
// after any step up to 2 s and over the whole accuracy run.
#pragma once

#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

namespace chain {

constexpr double kLength = 1.0;
constexpr double kMass = 1.0;
constexpr double kWidth = 0.05;
constexpr double kGravity = 9.81;
constexpr double kEnd = 10.0;
constexpr double kCheckTime = 2.0;
constexpr double kInertiaAxial = kMass * (kWidth * kWidth + kWidth * kWidth) / 12.0;
constexpr double kInertiaTransverse = kMass * (kLength * kLength + kWidth * kWidth) / 12.0;
constexpr int kSizes[] = {3, 30, 300};

struct Point {
  double x, y;
};

inline std::optional<Point> reference_tip_2s(int n) {
  switch (n) {
    case 3:
      return Point{-1.952865310433, -0.076825644508};
    case 30:
      return Point{18.314918033206, -19.618647149780};
    case 300:
      return Point{295.727766757310, -19.620000000000};
    default:
      return std::nullopt;
  }
}

inline double tip_error(int n, Point tip) {
  const Point ref = *reference_tip_2s(n);
  return std::hypot(tip.x - ref.x, tip.y - ref.y);
}

// CPU time of this process: the machine is shared, and every peer here runs on one thread.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Result {
  double cpu = 0.0;        // seconds of CPU for the timed run
  double simulated = 0.0;  // seconds of model time it covered
  long steps = 0;
  std::optional<double> tip_error;
  double energy_error_2s = 0.0;
  double energy_error = 0.0;  // up to the time the accuracy run reached
};

inline void print(const char* peer, const std::string& config, int n, const Result& r) {
  std::printf("peer=%s config=\"%s\" n=%d steps_per_s=%.4g cpu_s=%.4g simulated_s=%.4g steps=%ld", peer, config.c_str(),
              n, static_cast<double>(r.steps) / r.cpu, r.cpu, r.simulated, r.steps);
  if (r.tip_error) {
    std::printf(" tip_error_2s=%.2g energy_error_2s=%.2g", *r.tip_error, r.energy_error_2s);
  } else {
    std::printf(" tip_error_2s=not_reached energy_error_2s=not_reached");
  }
  std::printf(" energy_error=%.2g\n", r.energy_error);
  std::fflush(stdout);
}

inline void print_evaluation(const char* peer, const char* what, int n, double seconds) {
  std::printf("peer=%s config=\"%s\" n=%d microseconds_per_call=%.4g\n", peer, what, n, seconds * 1e6);
  std::fflush(stdout);
}

// Smallest CPU time per call over repeats of about 0.1 s each.
template <typename Call>
double time_per_call(Call&& call) {
  long count = 1;
  double best = 0.0;
  for (;;) {
    const double start = cpu_seconds();
    for (long i = 0; i < count; ++i) call(i);
    best = (cpu_seconds() - start) / static_cast<double>(count);
    if (best * static_cast<double>(count) > 0.1) break;
    count *= 2;
  }
  for (int repeat = 0; repeat < 4; ++repeat) {
    const double start = cpu_seconds();
    for (long i = 0; i < count; ++i) call(i);
    best = std::fmin(best, (cpu_seconds() - start) / static_cast<double>(count));
  }
  return best;
}

}  // namespace chain
