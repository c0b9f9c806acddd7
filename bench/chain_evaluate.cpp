// Time of one evaluation of the chain's equations: accelerations, residual r = M a - h - G^T lambda, exact tangents,
// with n = 3, 30, 300 links in joint and in absolute coordinates, and the growth exponents log10(t(10 n) / t(n)).
//
// Two states take turns, since an engine keeps what it evaluated for the state it was last given.
// Takes the arguments of Google Benchmark (--benchmark_filter=accelerations, ...).
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "chain_model.hpp"

namespace clatter {
namespace {

enum class Call { accelerations, residual, tangents };

const char* name_of(Call call) {
  switch (call) {
    case Call::accelerations:
      return "accelerations";
    case Call::residual:
      return "residual";
    case Call::tangents:
      return "tangents";
  }
  return "";
}

void time_call(benchmark::State& bench, Call call, ChainCoordinates coordinates) {
  Engine engine(chain_system(static_cast<int>(bench.range(0)), coordinates, ChainStart::bent));
  const Sizes& n = engine.sizes();
  State s[2] = {engine.system().initial, engine.system().initial};
  engine.plus(s[0].q, 1e-3 * s[0].v, s[1].q);
  Vec a = Vec::Zero(n.nv), lambda = Vec::Zero(n.nc()), zdot = Vec::Zero(n.nz), r = Vec::Zero(n.nv);
  engine.accelerations(s[0], a, lambda, zdot);
  Tangents T = engine.tangent_layout();
  int turn = 0;
  for (auto _ : bench) {
    turn = 1 - turn;
    switch (call) {
      case Call::accelerations:
        engine.accelerations(s[turn], a, lambda, zdot);
        benchmark::DoNotOptimize(a.data());
        break;
      case Call::residual:
        engine.residual(s[turn], a, lambda, r, zdot);
        benchmark::DoNotOptimize(r.data());
        break;
      case Call::tangents:
        engine.tangents(s[turn], a, lambda, T);
        benchmark::DoNotOptimize(T.K.values().data());
        break;
    }
  }
}

// Keeps the smallest time of each benchmark's repetitions.
class SmallestTime : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
      const int n = std::stoi(run.run_name.args);
      const auto [place, is_new] = seconds_[run.run_name.function_name].try_emplace(n, seconds);
      if (!is_new) place->second = std::fmin(place->second, seconds);
    }
  }

  void print() const {
    for (const auto& [config, times] : seconds_) {
      for (const auto& [n, seconds] : times) chain::print_evaluation("Clatter", config.c_str(), n, seconds);
      for (const auto& [n, seconds] : times) {
        const auto ten = times.find(10 * n);
        if (ten == times.end()) continue;
        std::printf("peer=Clatter config=\"%s\" from=%d to=%d growth_exponent=%.2f\n", config.c_str(), n, 10 * n,
                    std::log10(ten->second / seconds));
      }
    }
  }

 private:
  std::map<std::string, std::map<int, double>> seconds_;
};

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  using clatter::Call;
  using clatter::ChainCoordinates;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const Call call : {Call::accelerations, Call::residual, Call::tangents}) {
    for (const ChainCoordinates coordinates : {ChainCoordinates::joint, ChainCoordinates::absolute}) {
      const std::string name = std::string(name_of(call)) + " " + clatter::name_of(coordinates);
      auto* bench = benchmark::RegisterBenchmark(
          name.c_str(), [call, coordinates](benchmark::State& state) { clatter::time_call(state, call, coordinates); });
      for (const int n : chain::kSizes) bench->Arg(n);
      bench->MinTime(0.1)->Repetitions(3);
    }
  }
  clatter::SmallestTime reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print();
}
