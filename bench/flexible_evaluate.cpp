// Cost of flexible bodies: one evaluation of a system of flexible bodies with 20 modes each, against the same system of
// rigid ones with the same masses. Goal: less than three times a body.
//
// Bodies: `beam`, a straight beam (many of its shape integrals vanish), and `solid`, a bracket of hexahedra, all of
// whose components of the shape integrals are there. Systems: free bodies in space, the chain of problem C in absolute
// coordinates, the same with weight in all directions, and a single body on a hinge. In the plane most multipliers
// of a rigid beam's joints are exactly zero, and a residual leaves out rows without force; of a flexible one they are
// rounding. Loaded askew, nearly all rows work on both sides. Calls: accelerations and residual, for two states that
// take turns. CPU time of one thread, the best of several rounds, in which rigid and flexible systems alternate: on a
// shared machine only the ratio means something. Beside it stand the velocities on both sides, 26 against 6 a body, and
// the ratio of the costs of one of them.
//
// Last come the least numbers of exact inertia (E-6, E-10): all its products with shape integrals, as multiplications
// and bytes of a body, and the time they alone take here.
//
//   flexible_evaluate [--modes 20] [--bodies 30] [--rounds 9] [--only "solid, free, residual"]   (many rounds: to
//   profile)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "engine/flexible_body.hpp"
#include "fem/make.hpp"

namespace clatter {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

FlexibleSource source_of(bool beam, int modes) {
  FlexibleSource f;
  MaterialDescription steel;
  steel.density = 7800;
  steel.young = 210e9;
  steel.poisson = 0.3;
  f.materials = {steel};
  if (beam) {
    f.mesh.kind = MeshDescription::Kind::beam;
    f.mesh.length = 1;
    f.mesh.elements = {20};
    f.section.kind = SectionDescription::Kind::circle;
    f.section.diameter = 0.02;
  } else {
    f.mesh.kind = MeshDescription::Kind::extrusion;
    f.mesh.points = {{0, 0, 0}, {1, 0, 0}, {1, 0.06, 0}, {0.45, 0.09, 0}, {0.3, 0.3, 0}, {0.1, 0.25, 0}, {0, 0.1, 0}};
    f.mesh.thickness = 0.04;
    f.mesh.element_size = 0.1;
    f.mesh.elements = {2};
  }
  for (const char* name : {"a", "b"}) {
    InterfaceDescription i;
    i.name = name;
    i.nodes.kind = NodeSelection::Kind::node;
    i.nodes.from = Vec3(*name == 'a' ? 0 : 1, beam ? 0 : 0.02, 0);
    i.coupling = InterfaceDescription::Coupling::node;
    f.interfaces.push_back(i);
  }
  f.reduction.method = ReductionDescription::Method::modal;
  f.reduction.modes = modes;
  return f;
}

// `count` bodies in a row along x, turning; as a chain joined by revolute joints about z.
std::shared_ptr<const System> system_of(const std::shared_ptr<const ReducedBody>& reduced, bool flexible, bool chain,
                                        int count, double skew) {
  Model model;
  model.title = "row of bodies";
  model.gravity = Vec3(skew, -9.81, skew);
  model.joint_coordinates = false;
  const Vec3 ends[2] = {reduced->markers[0].X + reduced->origin, reduced->markers[1].X + reduced->origin};
  const double pitch = ends[1].x() - ends[0].x();
  for (int i = 0; i < count; ++i) {
    Body b;
    b.name = "body" + std::to_string(i + 1);
    b.pose = Placement{Vec3(pitch * i, 0, 0) - Vec3(0, ends[0].y(), ends[0].z()), Quat::Identity()};
    b.angular_velocity = chain ? Vec3(0, 0, 0) : Vec3(0.3, -0.2, 1);
    if (flexible) {
      b.kind = BodyKind::flexible;
      b.reduced = reduced;
      for (const Marker& m : reduced->markers) {
        FrameDef f;
        f.name = m.name;
        f.placement = {m.X + reduced->origin, Quat(m.R)};
        b.frames.push_back(f);
      }
      for (int k = 0; k < reduced->n; ++k) {
        b.elastic.push_back(1e-5 * (k % 3 - 1));
        b.elastic_rate.push_back(1e-3 * (k % 5 - 2));
      }
    } else {
      b.mass = reduced->mass;
      b.inertia = reduced->J0;
      b.center_of_mass = reduced->origin;
    }
    model.bodies.push_back(b);
    if (!chain) continue;
    const auto at = [&](int body, int end) {
      Attachment a;
      a.body = body;
      if (body < 0) return a;
      a.placement.position = ends[end];
      if (flexible) a.marker = end == 0 ? "a" : "b";
      return a;
    };
    Joint j;
    j.name = "joint" + std::to_string(i + 1);
    j.kind = JointKind::revolute;
    j.a = at(i - 1, 1);
    j.b = at(i, 0);
    model.joints.push_back(j);
  }
  return System::compile(model);
}

struct Timed {
  explicit Timed(std::shared_ptr<const System> system) : engine(std::move(system)) {
    const Sizes& n = engine.sizes();
    s[0] = s[1] = engine.system().initial;
    engine.plus(s[0].q, 1e-6 * Vec::Ones(n.nv), s[1].q);
    a = Vec::Zero(n.nv);
    lambda = Vec::Zero(n.nc());
    zdot = Vec::Zero(n.nz);
    r = Vec::Zero(n.nv);
    engine.accelerations(s[0], a, lambda, zdot);  // the residual's
  }
  // Seconds of one call.
  double accelerations(int calls) {
    const double t = cpu_seconds();
    for (int i = 0; i < calls; ++i) engine.accelerations(s[i & 1], a, lambda, zdot);
    return (cpu_seconds() - t) / calls;
  }
  double residual(int calls) {
    const double t = cpu_seconds();
    for (int i = 0; i < calls; ++i) engine.residual(s[i & 1], a, lambda, r, zdot);
    return (cpu_seconds() - t) / calls;
  }
  Engine engine;
  State s[2];
  Vec a, lambda, zdot, r;
};

// Seconds of the products with the shape integrals alone.
double inertia_seconds(const FlexibleBody& body, int rounds) {
  const Vec eta = Vec::Constant(body.stride, 1e-5), etad = Vec::Constant(body.stride, 1e-3);
  Mat Ds = body.P0, H = body.H0, Hd = body.H0;
  const int calls = 10000;
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const double t = cpu_seconds();
    for (int i = 0; i < calls; ++i)
      body.inertia.multiply({eta.data(), etad.data(), body.P0.data(), body.H0.data(), Ds.data(), H.data(), Hd.data()});
    best = std::min(best, (cpu_seconds() - t) / calls);
  }
  return best;
}

const char* text(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  return otherwise;
}

int option(int argc, char** argv, const char* name, int otherwise) {
  const char* value = text(argc, argv, name, nullptr);
  return value ? std::atoi(value) : otherwise;
}

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  using namespace clatter;
  const int modes = option(argc, argv, "--modes", 20), count = option(argc, argv, "--bodies", 30);
  const int rounds = option(argc, argv, "--rounds", 9);
  const char* only = text(argc, argv, "--only", "");
  struct Configuration {
    const char* name;
    bool chain;
    int bodies;
    double skew;  // weight along the chain and across its plane
    double goal;  // 0: none
  };
  const Configuration configurations[] = {{"free", false, count, 0, 0},
                                          {"chain", true, count, 0, 3},
                                          {"loaded chain", true, count, 3, 3},
                                          {"hinged", true, 1, 0, 3}};
  std::printf(
      "| body, system, call | bodies | rigid [us] | %d modes [us] | ratio | goal | velocities | ratio a velocity |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
      modes);
  double inertia[2] = {0, 0};
  for (const bool beam : {true, false}) {
    fem::MakeOptions how;
    how.cache = "none";
    const auto reduced = fem::make_reduced_body(source_of(beam, modes), how);
    if (reduced->n != modes) {
      std::fprintf(stderr, "the reduction has %d coordinates\n", reduced->n);
      return 1;
    }
    inertia[beam ? 0 : 1] = inertia_seconds(FlexibleBody(reduced), rounds);
    for (const Configuration& c : configurations)
      for (const bool residual : {false, true}) {
        const std::string name =
            std::string(beam ? "beam, " : "solid, ") + c.name + (residual ? ", residual" : ", accelerations");
        if (name.find(only) == std::string::npos) continue;
        Timed rigid(system_of(reduced, false, c.chain, c.bodies, c.skew)),
            flexible(system_of(reduced, true, c.chain, c.bodies, c.skew));
        const auto time = [&](Timed& x, int calls) { return residual ? x.residual(calls) : x.accelerations(calls); };
        const int calls = std::max(1, static_cast<int>(0.02 / time(flexible, 3)));
        double best[2] = {1e300, 1e300};
        for (int round = 0; round < rounds; ++round) {
          best[0] = std::min(best[0], time(rigid, calls));
          best[1] = std::min(best[1], time(flexible, calls));
        }
        const double ratio = best[1] / best[0];
        const int small = rigid.engine.sizes().nv, large = flexible.engine.sizes().nv;
        char goal[32] = "";
        if (c.goal > 0) std::snprintf(goal, sizeof goal, "%g %s", c.goal, ratio < c.goal ? "met" : "missed");
        std::printf("| %s | %d | %.2f | %.2f | %.2f | %s | %d / %d | %.2f |\n", name.c_str(), c.bodies, 1e6 * best[0],
                    1e6 * best[1], ratio, goal, large, small, ratio * small / large);
      }
  }
  // P eta (6 components), A eta and A eta' (3 each).
  std::printf(
      "\nexact inertia of a body with %d modes: %d multiplications, %d bytes of shape integrals; in %.0f ns (beam) and "
      "%.0f ns (solid)\n",
      modes, 12 * modes * modes, 9 * modes * modes * 8, 1e9 * inertia[0], 1e9 * inertia[1]);
}
