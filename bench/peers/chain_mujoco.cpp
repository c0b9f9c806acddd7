// Benchmark problem C with MuJoCo: steps per second of RK4 and of semi-implicit Euler at 1 ms, tip error at 2 s,
// energy error, and the time of one forward-dynamics evaluation (mj_forward).
// Usage: chain_mujoco [CPU seconds allowed per run, default 20]. A run that does not finish says how far it came.
#include "chain_problem.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr double kStep = 1e-3;

constexpr int kLinksPerFile = 50;

std::string file_name(int first_link) { return "chain" + std::to_string(first_link) + ".xml"; }

// Links from first_link on as nested bodies. MuJoCo's XML reader limits the depth of one file, so a long chain
// goes on in an included file.
std::string links_xml(int first_link, int n) {
  char inertia[160];
  std::snprintf(inertia, sizeof inertia, "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
                chain::kLength / 2, chain::kMass, chain::kInertiaAxial, chain::kInertiaTransverse,
                chain::kInertiaTransverse);
  const int end = std::min(n, first_link + kLinksPerFile);
  std::string xml;
  for (int i = first_link; i < end; ++i) {
    xml += "<body pos='" + std::to_string(i == 0 ? 0.0 : chain::kLength) + " 0 0'><joint type='hinge' axis='0 0 1'/>" +
           inertia;
  }
  if (end < n) xml += "<include file='" + file_name(end) + "'/>";
  for (int i = first_link; i < end; ++i) xml += "</body>";
  return xml;
}

std::string main_xml(int n, const std::string& integrator) {
  return "<mujoco><compiler inertiafromgeom='false' angle='radian'/><option timestep='" + std::to_string(kStep) +
         "' gravity='0 " + std::to_string(-chain::kGravity) + " 0' integrator='" + integrator +
         "'><flag energy='disable' contact='disable' constraint='disable'/></option><worldbody>" + links_xml(0, n) +
         "</worldbody></mujoco>";
}

void add_file(mjVFS* vfs, const std::string& name, const std::string& text) {
  if (mj_makeEmptyFileVFS(vfs, name.c_str(), static_cast<int>(text.size())) != 0)
    throw std::runtime_error("mjVFS is full");
  std::memcpy(vfs->filedata[vfs->nfile - 1], text.data(), text.size());
}

struct Free {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};
using Model = std::unique_ptr<mjModel, Free>;
using Data = std::unique_ptr<mjData, Free>;

Model load(int n, const std::string& integrator) {
  auto vfs = std::make_unique<mjVFS>();
  mj_defaultVFS(vfs.get());
  add_file(vfs.get(), file_name(0), main_xml(n, integrator));
  for (int first = kLinksPerFile; first < n; first += kLinksPerFile) {
    add_file(vfs.get(), file_name(first), "<mujocoinclude>" + links_xml(first, n) + "</mujocoinclude>");
  }
  char error[500] = "";
  Model model(mj_loadXML(file_name(0).c_str(), vfs.get(), error, sizeof error));
  mj_deleteVFS(vfs.get());
  if (!model) throw std::runtime_error(std::string("MuJoCo refused the chain: ") + error);
  return model;
}

Data make_data(const mjModel* m) {
  Data d(mj_makeData(m));
  if (!d) throw std::runtime_error("MuJoCo could not allocate its data");
  return d;
}

chain::Point tip(const mjModel* m, const mjData* d) {
  double x = 0, y = 0, angle = 0;
  for (int i = 0; i < m->nv; ++i) {
    angle += d->qpos[i];
    x += chain::kLength * std::cos(angle);
    y += chain::kLength * std::sin(angle);
  }
  return {x, y};
}

// Energy from the joint coordinates alone, so that no stale quantity of the stepper enters.
double energy(const mjModel* m, const mjData* d) {
  double y = 0, vx = 0, vy = 0, angle = 0, omega = 0, total = 0;
  for (int i = 0; i < m->nv; ++i) {
    angle += d->qpos[i];
    omega += d->qvel[i];
    const double c = std::cos(angle) * chain::kLength, s = std::sin(angle) * chain::kLength;
    const double cx = vx - omega * s / 2, cy = vy + omega * c / 2;
    total += chain::kMass * (cx * cx + cy * cy) / 2 + chain::kInertiaTransverse * omega * omega / 2 +
             chain::kMass * chain::kGravity * (y + s / 2);
    y += s;
    vx -= omega * s;
    vy += omega * c;
  }
  return total;
}

chain::Result run(int n, const std::string& integrator, double budget) {
  const Model m = load(n, integrator);
  chain::Result result;
  const long steps = std::lround(chain::kEnd / kStep), check = std::lround(chain::kCheckTime / kStep);
  {
    const Data d = make_data(m.get());
    const double start = chain::cpu_seconds();
    for (long i = 1; i <= steps && chain::cpu_seconds() - start < budget; ++i) {
      mj_step(m.get(), d.get());
      result.energy_error = std::max(result.energy_error, std::abs(energy(m.get(), d.get())));
      if (i == check) {
        result.tip_error = chain::tip_error(n, tip(m.get(), d.get()));
        result.energy_error_2s = result.energy_error;
      }
    }
  }
  for (int repeat = 0; repeat < 3; ++repeat) {  // timed: nothing but steps, the clock read every 64 of them
    const Data d = make_data(m.get());
    const double start = chain::cpu_seconds();
    long done = 0;
    while (done < steps && (done % 64 != 0 || chain::cpu_seconds() - start < budget / 3)) {
      mj_step(m.get(), d.get());
      ++done;
    }
    const double cpu = chain::cpu_seconds() - start;
    if (repeat == 0 || cpu / static_cast<double>(done) < result.cpu / static_cast<double>(result.steps)) {
      result.cpu = cpu;
      result.steps = done;
      result.simulated = d->time;
    }
  }
  return result;
}

double forward_dynamics(int n) {
  const Model m = load(n, "RK4");
  const Data d = make_data(m.get());
  for (int i = 0; i < m->nv; ++i) {
    d->qpos[i] = 0.1 * std::sin(1.0 + i);
    d->qvel[i] = 0.1 * std::cos(2.0 + i);
  }
  return chain::time_per_call([&](long i) {
    d->qpos[0] = 1e-3 * static_cast<double>(i % 7);
    mj_forward(m.get(), d.get());
  });
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 20.0;
  try {
    for (const int n : chain::kSizes) {
      chain::print("MuJoCo", "RK4 1 ms", n, run(n, "RK4", budget));
      chain::print("MuJoCo", "semi-implicit Euler 1 ms", n, run(n, "Euler", budget));
    }
    for (const int n : chain::kSizes) chain::print_evaluation("MuJoCo", "mj_forward", n, forward_dynamics(n));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
