// From a mesh to a reduced body: time and memory of each part, for a cube-like block and a slender bar of hexahedra
// with about N freedoms (default 100000), 20 modes and two interfaces; the factorization also by Eigen's simplicial
// L L^T with minimum degree for comparison (argument `eigen`), and the gears of VV-6 (argument `gears`).
//
//   mesh_reduce [N] [eigen] [gears]
#include <sys/resource.h>

#include <Eigen/SparseCholesky>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fem/make.hpp"

namespace {

using namespace clatter;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

double peak_memory_mb() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024;
}

FlexibleSource block(const Vec3& size, int nx, int ny, int nz) {
  FlexibleSource s;
  s.mesh.kind = MeshDescription::Kind::box;
  s.mesh.size = size;
  s.mesh.elements = {nx, ny, nz};
  MaterialDescription steel;
  steel.density = 7800;
  steel.young = 210e9;
  steel.poisson = 0.3;
  s.materials = {steel};
  for (const char* set : {"x-", "x+"}) {
    InterfaceDescription i;
    i.name = i.nodes.set = set;
    s.interfaces.push_back(i);
  }
  s.reduction.modes = 20;
  return s;
}

void time_body(const char* name, const FlexibleSource& source, bool eigen) {
  const auto start = Clock::now();
  const fem::FlexibleStructure s = fem::make_structure(source);
  const double assembled = since(start);
  const fem::Sparse& K = s.structure->K();
  double ordered = 0, factored = 0, entries = 0, operations = 0;
  {  // gone before the reduction makes its own: the peak is the reduction's
    const auto ordering = Clock::now();
    SupernodalLdl factor(K, s.structure->block_of());
    ordered = since(ordering);
    const auto numbers = Clock::now();
    fem::Sparse A = K;
    for (int i = 0; i < A.rows(); ++i) A.coeffRef(i, i) *= 1 + 1e-6;
    factor.factorize(A);
    factored = since(numbers);
    entries = static_cast<double>(factor.factor_entries());
    operations = static_cast<double>(factor.operations());
  }
  const auto rest = Clock::now();
  const fem::Reduced r = fem::reduce(*s.structure, s.interfaces, source);
  const double reduced = since(rest);
  std::printf(
      "%-8s %7d freedoms: assembly %.1f s, ordering %.1f s, factor %.1f s (%.0f M entries, %.1f GFlop/s), reduction "
      "with all %.1f s; "
      "total %.1f s, peak %.0f MB; f1 = %.2f Hz\n",
      name, s.structure->freedoms(), assembled, ordered, factored, entries / 1e6, 2 * operations / factored / 1e9,
      reduced, assembled + reduced, peak_memory_mb(), r.report.frequencies.front());
  if (eigen) {
    fem::Sparse A = K;
    for (int i = 0; i < A.rows(); ++i) A.coeffRef(i, i) *= 1 + 1e-6;
    const auto begin = Clock::now();
    Eigen::SimplicialLLT<fem::Sparse> llt(A);
    std::printf("         Eigen SimplicialLLT (AMD): %.1f s\n", since(begin));
  }
}

void time_gear(const char* name, int teeth, double shift, double tip, double root, double bore, int rim, double f1,
               double f100) {
  FlexibleSource s = block({1, 1, 1}, 1, 1, 1);
  s.mesh = {};
  s.mesh.kind = MeshDescription::Kind::gear;
  GearData& g = s.mesh.gear;
  g.teeth = teeth;
  g.module = 4.5e-3;
  g.pressure_angle = 20 * std::acos(-1.0) / 180;
  g.profile_shift = shift;
  g.tip_diameter = tip;
  g.root_diameter = root;
  g.width = 15e-3;
  g.bore_diameter = bore;
  s.mesh.gear_counts.rim = rim;
  InterfaceDescription flanks;
  flanks.name = "flanks";
  flanks.nodes.set = "flank_*";
  flanks.weights = InterfaceDescription::Weights::equal;
  s.interfaces = {flanks};
  s.reduction.modes = 100;
  s.formulation = FlexibleSource::Formulation::superelement;
  const auto start = Clock::now();
  fem::MakeOptions none;
  none.cache = "none";
  const fem::FlexibleModel m = fem::make_flexible(s, none);
  const auto& f = m.report.frequencies;
  std::printf("%-8s %d nodes, %d coordinates: %.1f s; f1 = %.0f Hz (%.0f, %+.2f %%), f100 = %.0f Hz (%.0f, %+.2f %%)\n",
              name, m.report.nodes, m.body->n, since(start), f.front(), f1, 100 * (f.front() / f1 - 1), f.back(), f100,
              100 * (f.back() / f100 - 1));
}

}  // namespace

int main(int argc, char** argv) {
  double n = 1e5;
  bool eigen = false, gears = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "eigen") == 0)
      eigen = true;
    else if (std::strcmp(argv[i], "gears") == 0)
      gears = true;
    else
      n = std::atof(argv[i]);
  }
  if (gears) {
    time_gear("pinion", 16, 0.196, 82.64e-3, 62.50e-3, 10e-3, 5, 19588, 146809);
    time_gear("gear", 24, 0.125, 118.64e-3, 98.37e-3, 20e-3, 6, 10395, 116764);
    return 0;
  }
  const int bar = std::max(2, static_cast<int>(std::cbrt(n / 3 / 20)));
  time_body("bar", block({20, 1, 1}, 20 * bar, bar - 1, bar - 1), eigen);
  const int cube = std::max(2, static_cast<int>(std::cbrt(n / 3)) - 1);
  time_body("cube", block({1, 1, 1}, cube, cube, cube), eigen);
}
