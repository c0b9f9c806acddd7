// Time of one solution by Lemke and by projected Gauss-Seidel (prox), and how it grows with the number of contacts:
//
//   tower    n blocks on an accelerated table (PV-14): every contact couples to the next, half of them slide
//   pile     n planar contacts on 2 n coordinates with random directions: A is full
//
// Prox stops at 1e-6 of the scaled residual, as a time step would; Lemke is exact. The table after the times has their
// ratio and the growth exponents log2(t(2 n) / t(n)). Takes the arguments of Google Benchmark.
#include <benchmark/benchmark.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "solve/contact_solver.hpp"

namespace clatter {
namespace {

enum class Problem { tower, pile };

ContactProblem with_friction(const Mat& M, const Vec& h, const Mat& W, const Vec& w, const Vec& mu) {
  const Eigen::LLT<Mat> llt(M);
  const int n = static_cast<int>(mu.size());
  ContactProblem p{W.transpose() * llt.solve(W), W.transpose() * llt.solve(h) + w, {}};
  for (int i = 0; i < n; ++i) p.cones.push_back(Cone::ray(i));
  for (int i = 0; i < n; ++i) p.cones.push_back(Cone::friction(i, n + i, mu(i)));
  return p;
}

ContactProblem make(Problem kind, int n) {
  Vec h = Vec::Zero(2 * n), w = Vec::Zero(2 * n), mu(n);
  Mat W = Mat::Zero(2 * n, 2 * n), M = Mat::Identity(2 * n, 2 * n);
  if (kind == Problem::tower) {
    for (int i = 0; i < n; ++i) {
      h(2 * i + 1) = -10;
      W(2 * i + 1, i) = W(2 * i, n + i) = 1;
      if (i > 0) W(2 * i - 1, i) = W(2 * i - 2, n + i) = -1;
      mu(i) = 0.1 + 0.3 * std::abs(std::sin(5.0 * i + 1));
    }
    w(n) = -3;
  } else {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (int j = 0; j < 2 * n; ++j) {
      h(j) = 3 * normal(random);
      for (int i = 0; i < 2 * n; ++i) W(i, j) = normal(random) / std::sqrt(2.0 * n);
    }
    mu.setConstant(0.3);
  }
  return with_friction(M, h, W, w, mu);
}

void time_method(benchmark::State& bench, Problem kind, ContactMethod method) {
  const ContactProblem problem = make(kind, static_cast<int>(bench.range(0)));
  ContactSolver solver;
  ContactOptions options;
  options.method = method;
  ContactResult result;
  Vec r;
  if (method == ContactMethod::prox) {
    ScaledContact scaled;
    ProxSolver prox;
    IterationReport report;
    for (auto _ : bench) {
      scaled.assign(problem);
      r.setZero(problem.size());
      report = prox.solve(scaled, r, {1e-6, 20000});
      benchmark::DoNotOptimize(r.data());
    }
    bench.counters["iterations"] = report.iterations;
    bench.counters["solved"] = report.converged;
    return;
  }
  for (auto _ : bench) {
    result = solver.solve(problem, r, options);
    benchmark::DoNotOptimize(r.data());
  }
  bench.counters["iterations"] = result.iterations;
  bench.counters["solved"] = result.status == ContactStatus::solved;
}

// Keeps the smallest time of each benchmark.
class Table : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) {
        const double t = run.GetAdjustedCPUTime();
        auto [place, fresh] = best_.try_emplace(run.run_name.function_name + "/" + run.run_name.args, t);
        if (!fresh) place->second = std::min(place->second, t);
      }
    }
    benchmark::ConsoleReporter::ReportRuns(runs);
  }

  void print(const std::vector<int>& sizes) const {
    std::printf("\n%-8s %9s %12s %12s %12s %14s %14s\n", "problem", "contacts", "lemke [us]", "prox [us]", "lemke/prox",
                "growth lemke", "growth prox");
    for (const std::string problem : {"tower", "pile"}) {
      double lemke_before = 0, prox_before = 0;
      for (const int n : sizes) {
        const auto lemke = best_.find(problem + "/lemke/" + std::to_string(n));
        const auto prox = best_.find(problem + "/prox/" + std::to_string(n));
        if (lemke == best_.end() || prox == best_.end()) continue;
        std::printf("%-8s %9d %12.4g %12.4g %12.3g", problem.c_str(), n, lemke->second, prox->second,
                    lemke->second / prox->second);
        if (lemke_before > 0) {
          std::printf(" %14.2f %14.2f", std::log2(lemke->second / lemke_before), std::log2(prox->second / prox_before));
        }
        std::printf("\n");
        lemke_before = lemke->second;
        prox_before = prox->second;
      }
    }
  }

 private:
  std::map<std::string, double> best_;
};

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  using namespace clatter;
  const std::vector<int> sizes{5, 10, 20, 40, 80};
  const std::pair<const char*, Problem> problems[] = {{"tower", Problem::tower}, {"pile", Problem::pile}};
  const std::pair<const char*, ContactMethod> methods[] = {{"lemke", ContactMethod::lemke},
                                                           {"prox", ContactMethod::prox}};
  for (const auto& [problem_name, problem] : problems) {
    for (const auto& [method_name, method] : methods) {
      auto* entry = benchmark::RegisterBenchmark((std::string(problem_name) + "/" + method_name).c_str(), time_method,
                                                 problem, method);
      entry->Unit(benchmark::kMicrosecond);
      for (const int n : sizes) entry->Arg(n);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  table.print(sizes);
  return 0;
}
