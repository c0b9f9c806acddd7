// Mechanisms with a flexible rod: the formulations agree within the error of their reduction, which falls with the
// number of modes (E-12, V-6). The references in models/flexible are written down independently; here the mesh is the
// reference.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "engine/engine.hpp"
#include "engine/flexible_text.hpp"
#include "engine/quantity.hpp"
#include "integrate/initial.hpp"
#include "integrate/run.hpp"

namespace clatter::test {
namespace {

Model load(const std::string& rod, double young) {
  return flexible_model(fmt::format(R"(
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
                                    young, rod));
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

// E-11 for a plate in the plane, let go horizontally: where its corner is at 0.2 s, in frames fixed to the hinge, to
// the mean axes, to the principal axes and to two nodes. Frames differ in what linear elasticity leaves out, of second
// order in the deflection u: the difference falls with u^2, so by more than 16 for a plate 16 times as stiff (which
// bends a sixteenth as much), and it is small against u itself, 2 mm in the softer plate.
std::vector<double> plate_corner(const std::string& frame, double young) {
  const auto system = System::compile(flexible_model(fmt::format(R"(
clatter: 1
gravity: [0, -9.81 m/s^2]
bodies:
  plate:
    type: flexible
    position: [0.5 m, 0]
    mesh: {{rectangle: [1 m, 20 cm], thickness: 1 mm, elements: [6, 1]}}
    material: {{density: 1000 kg/m^3, young: {} MPa, poisson: 0.3}}
    interfaces: {{hinge: x-, tip: x+}}
    formulation: finite-elements
{}
joints:
  hinge: {{type: revolute, between: [ground, plate.hinge]}}
)",
                                                                 young, frame)));
  Engine engine(system);
  State s = system->initial;
  make_consistent(engine, s);
  RunSettings settings;
  settings.integrator.scheme = Scheme::generalized_alpha;
  settings.integrator.step = 5e-4;
  settings.end = 0.2;
  settings.output_step = 0.02;
  const Observer observer(system, {"plate.tip.position"});
  std::vector<double> out;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const clatter::Sample& sample) {
    double x[3];
    observer.evaluate(engine, sample.s, sample.a, sample.lambda, sample.W, 0, x);
    out.push_back(x[1]);
  };
  clatter::Run run(engine, settings, callbacks);
  run.start(s);
  run.go();
  return out;
}

TEST(FlexiblePlate, MovesTheSameInEveryReferenceFrame) {
  const double young = 10;
  const std::vector<double> soft = plate_corner("", young), stiff = plate_corner("", 16 * young);
  for (const char* frame : {"    reference: hinge", "    reference: principal-axes",
                            "    reference_nodes: [[-0.5 m, -10 cm], [0.5 m, -10 cm]]"}) {
    const double d = difference(plate_corner(frame, young), soft);
    EXPECT_LT(d, 2e-4) << frame;
    EXPECT_LT(difference(plate_corner(frame, 16 * young), stiff), d / 16) << frame;
  }
}

// EVX-5: two ratios at two frequencies give alpha and beta, and a free body plucked in its k-th mode then swings down
// by the logarithmic decrement 2 pi xi/sqrt(1 - xi^2) a period. Modes at the two frequencies have the ratios
// themselves, one in between alpha/(2 omega) + beta omega/2. Tolerance: the integration's.
TEST(RayleighDamping, HasTheLogarithmicDecrementOfItsRatios) {
  const std::string body =
      "clatter: 1\nbodies:\n  bar:\n    type: flexible\n    position: [0, 0, 0]\n"
      "    mesh: {beam: 1 m, elements: 8}\n    section: {rectangle: [20 mm, 10 mm], up: y, shear: false}\n"
      "    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}\n    reduce: {method: modal, modes: 5}\n";
  const auto reduced = flexible_model(body).bodies[0].reduced;
  const std::vector<double>& f = reduced->frequencies;
  const double x1 = 0.02, x2 = 0.06;
  const auto system = System::compile(
      flexible_model(body + fmt::format("    damping: {{frequencies: [{:.17g} Hz, {:.17g} Hz], ratios: [{}, {}]}}\n",
                                        f[0], f[4], x1, x2)));
  const double w1 = 2 * std::numbers::pi * f[0], w2 = 2 * std::numbers::pi * f[4];
  const double beta = 2 * (x2 * w2 - x1 * w1) / (w2 * w2 - w1 * w1), alpha = 2 * x1 * w1 - beta * w1 * w1;
  Engine engine(system);
  const FlexibleIndex& index = system->flexible[0];
  for (const int mode : {0, 2, 4}) {
    const double w = 2 * std::numbers::pi * f[static_cast<std::size_t>(mode)], xi = alpha / (2 * w) + beta * w / 2;
    if (mode != 2) {
      EXPECT_NEAR(xi, mode == 0 ? x1 : x2, 1e-12);
    }
    State s = system->initial;
    s.q[index.q + mode] = 1e-4;
    RunSettings settings;
    settings.integrator.relative_tolerance = 1e-10;
    settings.integrator.absolute_tolerance = 1e-12;
    settings.end = 2 * std::numbers::pi / (w * std::sqrt(1 - xi * xi));
    settings.output_step = settings.end;
    double last = 0;
    RunCallbacks callbacks;
    callbacks.on_output = [&](const clatter::Sample& sample) { last = sample.s.q[index.q + mode]; };
    clatter::Run run(engine, settings, callbacks);
    run.start(s);
    run.go();
    EXPECT_NEAR(std::log(1e-4 / last), 2 * std::numbers::pi * xi / std::sqrt(1 - xi * xi), 1e-6) << mode;
  }
}

}  // namespace
}  // namespace clatter::test
