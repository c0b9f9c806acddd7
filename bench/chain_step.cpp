// Full runs of benchmark problem C: steps per second of CPU, tip error and energy error of each integrator.
//
// Usage: chain_step [--error E] [--budget S] [--only TEXT] [--links N] [--repeat K]
//   --error   tip error at 2 s that the error-controlled runs with 3 links are to meet (5.3e-7, Simbody's at accuracy
//             1e-6); each takes the loosest tolerance of a ladder that meets it
//   --budget  CPU seconds allowed per run (20)
//   --only    configurations whose name contains TEXT
//   --links   only the chain of N links
//   --repeat  timed runs of which the fastest counts (3)
//
// The timed loop is Integrator::step alone. Errors come from a run of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "chain_model.hpp"
#include "integrate/initial.hpp"
#include "integrate/integrator.hpp"

namespace clatter {
namespace {

// t = 1 s, 3 links (tools/reference/chain3.py).
constexpr chain::Point kTip1s{-1.723813292507, -2.298855694450};

struct Options {
  double target_error = 5.3e-7;
  double budget = 20;
  std::string only;
  int links = 0;  // 0: all
  int repeat = 3;
};

struct Configuration {
  std::string name;
  int n;
  ChainCoordinates coordinates;
  IntegratorSettings settings;
};

struct Accuracy {
  std::optional<double> tip_1s, tip_2s;
  double energy_2s = 0, energy = 0;  // largest |E - E0| [J]
};

struct Timing {
  double cpu = 0, simulated = 0;
  long steps = 0, rejected = 0, newton = 0, projections = 0;
};

class Bench {
 public:
  explicit Bench(const Configuration& c)
      : n_(c.n), engine_(chain_system(c.n, c.coordinates)), start_(engine_.system().initial) {
    make_consistent(engine_, start_);
    integrator_ = make_integrator(c.settings, engine_);
  }

  Accuracy accuracy(double end, double budget) {
    Accuracy out;
    integrator_->start(start_);
    const double begin = chain::cpu_seconds(), E0 = engine_.stored_energy(start_);
    for (const double until : {1.0, 2.0, chain::kEnd}) {
      if (until > end) break;
      while (integrator_->state().t < until && chain::cpu_seconds() - begin < budget) {
        integrator_->step(until);
        out.energy = std::max(out.energy, std::abs(engine_.stored_energy(integrator_->state()) - E0));
      }
      if (integrator_->state().t < until) break;
      const chain::Point tip = chain_tip(engine_, integrator_->state());
      if (until == 1 && n_ == 3) out.tip_1s = std::hypot(tip.x - kTip1s.x, tip.y - kTip1s.y);
      if (until == chain::kCheckTime) {
        out.tip_2s = chain::tip_error(n_, tip);
        out.energy_2s = out.energy;
      }
    }
    return out;
  }

  Timing run(double budget) {
    Timing out;
    integrator_->start(start_);
    const double begin = chain::cpu_seconds();
    // The clock is read once in 64 steps, so that it costs nothing.
    for (long k = 1; integrator_->state().t < chain::kEnd; ++k) {
      const StepReport& report = integrator_->step(chain::kEnd);
      ++out.steps;
      out.rejected += report.rejected;
      out.newton += report.newton_iterations;
      out.projections += report.projections;
      if (k % 64 == 0 && chain::cpu_seconds() - begin > budget) break;
    }
    out.cpu = chain::cpu_seconds() - begin;
    out.simulated = integrator_->state().t;
    return out;
  }

 private:
  int n_;
  Engine engine_;
  State start_;
  std::unique_ptr<Integrator> integrator_;
};

IntegratorSettings fixed(Scheme scheme, double step) {
  IntegratorSettings s;
  s.scheme = scheme;
  s.step = step;
  return s;
}

IntegratorSettings controlled(Scheme scheme, double tolerance) {
  IntegratorSettings s;
  s.scheme = scheme;
  s.relative_tolerance = s.absolute_tolerance = tolerance;
  return s;
}

// Loosest tolerance 10^(-k/4) that leaves a tip error of at most `target` at 2 s, as do the next two tighter ones: one
// alone may do so by chance. 0 for none within the budget.
double tolerance_for(Scheme scheme, ChainCoordinates coordinates, double target, double budget) {
  constexpr int kInARow = 3;
  int met = 0;
  double tolerance[kInARow] = {};
  for (int k = 8; k <= 44; ++k) {
    tolerance[met] = std::pow(10.0, -0.25 * k);
    Bench bench({"", 3, coordinates, controlled(scheme, tolerance[met])});
    const Accuracy a = bench.accuracy(chain::kCheckTime, budget);
    if (!a.tip_2s) return 0;
    met = *a.tip_2s <= target ? met + 1 : 0;
    if (met == kInARow) return tolerance[0];
  }
  return 0;
}

void print_value(const char* key, const std::optional<double>& value) {
  if (value) {
    std::printf(" %s=%.2g", key, *value);
  } else {
    std::printf(" %s=not_reached", key);
  }
}

void measure(const Configuration& c, const Options& options) {
  if (options.links > 0 && options.links != c.n) return;
  Bench bench(c);
  const Accuracy a = bench.accuracy(chain::kEnd, options.budget);
  Timing best;
  for (int i = 0; i < options.repeat; ++i) {
    const Timing t = bench.run(options.budget / options.repeat);
    if (i == 0 || t.cpu / t.simulated < best.cpu / best.simulated) best = t;
  }
  // m g times the sum of the centres' distances from the pin.
  const double weight = 0.5 * chain::kMass * chain::kGravity * chain::kLength * c.n * c.n;
  std::printf("peer=Clatter config=\"%s\" n=%d steps_per_s=%.4g cpu_s=%.4g simulated_s=%.4g steps=%ld", c.name.c_str(),
              c.n, static_cast<double>(best.steps) / best.cpu, best.cpu, best.simulated, best.steps);
  print_value("tip_error_2s", a.tip_2s);
  print_value("energy_error_2s", a.tip_2s ? std::optional(a.energy_2s) : std::nullopt);
  std::printf(" energy_error=%.2g energy_error_relative=%.2g", a.energy, a.energy / weight);
  if (c.n == 3) print_value("tip_error_1s", a.tip_1s);
  const double steps = static_cast<double>(best.steps);
  std::printf(" rejected=%ld newton_per_step=%.3g projections_per_step=%.3g\n", best.rejected,
              static_cast<double>(best.newton) / steps, static_cast<double>(best.projections) / steps);
  std::fflush(stdout);
}

int run(const Options& options) {
  using C = ChainCoordinates;
  const auto wanted = [&](const std::string& name) { return name.find(options.only) != std::string::npos; };
  const auto at_step = [&](const std::string& name, int n, C coordinates, Scheme scheme) {
    if (wanted(name)) measure({name, n, coordinates, fixed(scheme, 1e-3)}, options);
  };
  struct Controlled {
    std::string name;
    C coordinates;
    Scheme scheme;
  };
  const std::array<Controlled, 3> controlled_runs{{{"DOPRI5 joint", C::joint, Scheme::dopri5},
                                                   {"RADAU5 joint", C::joint, Scheme::radau5},
                                                   {"RADAU5 absolute", C::absolute, Scheme::radau5}}};
  std::array<double, 3> tolerance{};

  at_step("RK4 1 ms joint", 3, C::joint, Scheme::rk4);
  at_step("RK4 1 ms absolute", 3, C::absolute, Scheme::rk4);
  at_step("generalized-alpha 1 ms absolute", 3, C::absolute, Scheme::generalized_alpha);
  at_step("generalized-alpha 1 ms joint", 3, C::joint, Scheme::generalized_alpha);
  for (std::size_t i = 0; i < controlled_runs.size(); ++i) {
    const Controlled& c = controlled_runs[i];
    if (!wanted(c.name)) continue;
    tolerance[i] = tolerance_for(c.scheme, c.coordinates, options.target_error, options.budget);
    if (tolerance[i] == 0) {
      std::printf("# %s: no tolerance of the ladder meets a tip error of %.2g within the budget\n", c.name.c_str(),
                  options.target_error);
      continue;
    }
    char text[32];
    std::snprintf(text, sizeof text, " tolerance %.2g", tolerance[i]);
    measure({c.name + text, 3, c.coordinates, controlled(c.scheme, tolerance[i])}, options);
  }
  for (const int n : {30, 300}) {
    at_step("RK4 1 ms joint", n, C::joint, Scheme::rk4);
    at_step("generalized-alpha 1 ms absolute", n, C::absolute, Scheme::generalized_alpha);
    if (tolerance[0] > 0) {
      char text[32];
      std::snprintf(text, sizeof text, " tolerance %.2g", tolerance[0]);
      measure({controlled_runs[0].name + text, n, C::joint, controlled(Scheme::dopri5, tolerance[0])}, options);
    }
  }
  return 0;
}

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  clatter::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--error") == 0) options.target_error = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--budget") == 0) options.budget = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
    if (std::strcmp(argv[i], "--links") == 0) options.links = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--repeat") == 0) options.repeat = std::max(1, std::atoi(argv[i + 1]));
  }
  try {
    return clatter::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
