// Benchmark problem G with MuJoCo: conjugate gradients over elliptic cones, its own soft contacts, sparse Jacobians.
// Usage: spheres_mujoco [number of balls, default 800] [iterations at most, default 100] [steps at most, default all]
// A run that is cut short says so by its number of steps. MuJoCo 2.2 keeps dense arrays for as many rows as there may
// be: more than some 800 balls do not fit into its 2 GB.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "spheres_problem.hpp"

namespace {

std::string text(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.17g", x);
  return out;
}

std::string scene(int n, int iterations) {
  const std::string half = text(spheres::half_width(n));
  std::string xml = "<mujoco><size njmax='" + std::to_string(10 * n) + "' nconmax='" + std::to_string(4 * n) +
                    "' nstack='" + std::to_string(4000L * n) + "'/><option timestep='" + text(spheres::kStep) +
                    "' gravity='0 0 " + text(-spheres::kGravity) +
                    "' cone='elliptic' jacobian='sparse' solver='CG' iterations='" + std::to_string(iterations) +
                    "'/><default><geom condim='3' friction='" + text(spheres::kFriction) +
                    " 0 0'/></default><worldbody><geom type='plane' size='0 0 1' pos='0 0 0'/>"
                    "<geom type='plane' size='0 0 1' pos='-" +
                    half +
                    " 0 0' zaxis='1 0 0'/>"
                    "<geom type='plane' size='0 0 1' pos='" +
                    half +
                    " 0 0' zaxis='-1 0 0'/>"
                    "<geom type='plane' size='0 0 1' pos='0 -" +
                    half +
                    " 0' zaxis='0 1 0'/>"
                    "<geom type='plane' size='0 0 1' pos='0 " +
                    half + " 0' zaxis='0 -1 0'/>";
  spheres::Start start(n);
  for (int i = 0; i < n; ++i) {
    double x[3];
    start.next(x);
    xml += "<body pos='" + text(x[0]) + " " + text(x[1]) + " " + text(x[2]) +
           "'><freejoint/><geom type='sphere' size='" + text(spheres::kRadius) + "' density='" +
           text(spheres::kDensity) + "'/></body>";
  }
  return xml + "</worldbody></mujoco>";
}

struct Free {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 800;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 100;
  const long all = std::lround(spheres::kEnd / spheres::kStep), most = argc > 3 ? std::atol(argv[3]) : all;
  const std::string xml = scene(n, iterations);
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  if (mj_makeEmptyFileVFS(files.get(), "balls.xml", static_cast<int>(xml.size())) != 0) return 3;
  std::memcpy(files->filedata[files->nfile - 1], xml.data(), xml.size());
  char error[500] = "";
  const std::unique_ptr<mjModel, Free> model(mj_loadXML("balls.xml", files.get(), error, sizeof error));
  mj_deleteVFS(files.get());
  if (!model) {
    std::fprintf(stderr, "MuJoCo refused the balls: %s\n", error);
    return 3;
  }
  const std::unique_ptr<mjData, Free> data(mj_makeData(model.get()));
  if (!data) return 3;
  double deepest = 0;
  long steps = 0;
  const double begin = spheres::cpu_now();
  for (; steps < std::min(all, most); ++steps) {
    mj_step(model.get(), data.get());
    for (int i = 0; i < data->ncon; ++i) deepest = std::max(deepest, -data->contact[i].dist);
  }
  const double cpu = spheres::cpu_now() - begin;
  double kinetic = 0;
  for (int i = 0; i < n; ++i) {
    const mjtNum* v = data->qvel + 6 * i;
    for (int k = 0; k < 3; ++k)
      kinetic += 0.5 * spheres::kMass * (v[k] * v[k] + 0.4 * spheres::kRadius * spheres::kRadius * v[3 + k] * v[3 + k]);
  }
  spheres::print("MuJoCo", ("CG, " + std::to_string(iterations) + " iterations").c_str(), n, steps, cpu, deepest,
                 kinetic, data->ncon);
}
