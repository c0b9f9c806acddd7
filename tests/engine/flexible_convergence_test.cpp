// Mechanisms with a flexible rod: the formulations agree within the error of their reduction, which falls with the
// number of modes (E-12, V-6). The references in models/flexible are written down independently; here the mesh is the
// reference.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "engine/engine.hpp"
#include "engine/quantity.hpp"
#include "fem/make.hpp"
#include "integrate/initial.hpp"
#include "integrate/run.hpp"
#include "model/load.hpp"

namespace clatter::test {
namespace {

Model load(const std::string& rod, double young) {
  LoadOptions options;
  options.make_flexible = [](const FlexibleSource& source, const std::string&) {
    fem::MakeOptions how;
    how.cache = "none";
    FlexibleMade out;
    out.reduced = fem::make_reduced_body(source, how);
    out.planar = out.reduced->planar;
    for (const fem::Marker& m : out.reduced->markers) {
      FrameDef f;
      f.name = m.name;
      f.placement = {out.reduced->origin + m.X, Quat(m.R)};
      out.markers.push_back(f);
    }
    return out;
  };
  return load_model_text(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  rod:
    type: flexible
    position: [0, 0, 0]
    mesh: {{beam: 1 m, elements: 8}}
    section: {{rectangle: [20 mm, 2 mm], up: y, shear: false}}
    material: {{density: 2700 kg/m^3, young: {} GPa, poisson: 0.3}}
    interfaces: {{hinge: start, tip: end}}
{}
joints:
  hinge: {{type: revolute, between: [ground, rod.hinge], axis: y}}
)",
                                     young, rod),
                         "pendulum", options);
}

// The tip of a pendulum let go horizontally, every 10 ms to 0.2 s. Steps of 1 ms are the same for all: their error, of
// the same size in each, drops out of the differences.
std::vector<double> tip(const std::string& rod, double young = 70) {
  const auto system = System::compile(load(rod, young));
  Engine engine(system);
  State s = system->initial;
  make_consistent(engine, s);
  RunSettings settings;
  settings.integrator.scheme = Scheme::generalized_alpha;
  settings.integrator.step = 1e-3;
  settings.end = 0.2;
  settings.output_step = 0.01;
  const Observer observer(system, {"rod.tip.position"});
  std::vector<double> out;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const clatter::Sample& sample) {
    double x[3];
    observer.evaluate(engine, sample.s, sample.a, sample.lambda, sample.W, 0, x);
    out.push_back(x[2]);
  };
  clatter::Run run(engine, settings, callbacks);
  run.start(s);
  run.go();
  return out;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double d = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) d = std::max(d, std::abs(a[i] - b[i]));
  return d;
}

// Free-free modes answer the hinge's force with amplitudes ~ 1/omega_k^2 ~ k^-4, so that what n of them leave out falls
// like n^-3: by 8 for twice the modes; with static shapes of the interfaces it falls faster.
TEST(FlexiblePendulum, ConvergesToItsMeshWithMoreModes) {
  const std::vector<double> mesh = tip("    formulation: finite-elements\n");
  double before = 0;
  for (const int modes : {2, 4, 8}) {
    const double error = difference(tip(fmt::format("    reduce: {{method: modal, modes: {}}}\n", modes)), mesh);
    if (before > 0) {
      EXPECT_LT(error, before / 4) << modes;
    }
    before = error;
  }
  const double none = difference(tip("    reduce: {modes: 0}\n"), mesh);
  const double some = difference(tip("    reduce: {modes: 8}\n"), mesh);
  EXPECT_LT(some, none / 20);
  EXPECT_LT(some, before);
}

// With the shapes of Craig and Bampton and the same conditions for their frames, floating frame and superelement are
// the same equations in other coordinates; what differs is the error of the steps, which is itself 1e-5 m and nearly
// the same. Other frames differ in what linear elasticity leaves out, see below: up to 6 % of the deflection of 2 mm.
TEST(FlexiblePendulum, IsTheSameAsFloatingFrameAndAsSuperelement) {
  const std::string reduce = "    reduce: {modes: 4}\n", super = reduce + "    formulation: superelement\n";
  const std::vector<double> floating = tip(reduce);
  EXPECT_LT(difference(tip(super), floating), 3e-7);
  for (const char* reference : {"boundary-mean", "boundary-mass"})
    EXPECT_LT(difference(tip(super + "    reference: " + reference + "\n"), floating), 5e-5) << reference;
  EXPECT_LT(difference(tip(super + "    reference: hinge\n"), floating), 2e-4);
}

// EVX-2: with all freedoms of the mesh the motion does not depend on the frame the deformation is measured in, but for
// what linear elasticity leaves out. The largest of that is the geometric stiffness of the weight, N L^2/(pi^2 E I) = 6
// % of the deflection of 2 mm, of which frames hold different parts. A rod sixteen times as stiff bends a sixteenth as
// much, and the share of geometric stiffness falls as well: the difference falls faster than the deflection.
TEST(FlexiblePendulum, MovesTheSameWhateverItsFrame) {
  const std::string mesh = "    formulation: finite-elements\n";
  const std::string frame = "    reference: hinge\n";
  const double soft = difference(tip(mesh + frame), tip(mesh));
  const double stiff = difference(tip(mesh + frame, 16 * 70), tip(mesh, 16 * 70));
  EXPECT_LT(soft, 2e-4);
  EXPECT_LT(stiff, soft / 16);
}

}  // namespace
}  // namespace clatter::test
