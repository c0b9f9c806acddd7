// What a run does about stiffness and about what flexible bodies leave out: it chooses a scheme where it may, and says
// what it saw where it may not.
#include <fmt/format.h>

#include <cmath>

#include "fixture.hpp"
#include "model/load.hpp"
#include "source_root.hpp"
#include "study/flexible.hpp"
#include "study/method.hpp"
#include "study/simulate.hpp"

namespace clatter::app {
namespace {

struct Ran {
  study::Outcome outcome;
  State end;
};

// Of a model's text, with the steps that `run` would decide.
Ran ran(const std::string& text) {
  LoadOptions options;
  study::make_flexible_bodies(options);
  Model model = load_model_text(text, "model.yaml", options);
  study::decide_steps(model);
  study::Prepared p = study::prepare(std::move(model));
  const Observer observer = study::recorder(p);
  Ran out;
  out.outcome = study::simulate(p, observer, {});
  out.end = p.motion->engine_state(p.motion->stepper().state());
  return out;
}

bool tells(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

// 2 kg on a slope of 30 degrees, g = 10 m/s^2, of the size `unit`.
std::string box(const std::string& unit, double friction, const std::string& simulate) {
  return fmt::format(R"(clatter: 1
parameters: {{u: {}}}
gravity: [10 m/s^2 * sin(30 deg), -10 m/s^2 * cos(30 deg)]
bodies:
  box: {{type: planar, mass: 2 kg, shape: {{box: [0.2*u, 0.1*u, 0.1*u]}}, position: [0, 0.05*u]}}
shapes:
  slope: {{on: ground, type: line}}
contacts:
  touch: {{between: [box, slope], law: {{type: rigid, friction: {}}}}}
simulate: {{{}}}
)",
                     unit, friction, simulate);
}

// Sliding: x = 1/2 g (sin - mu cos) t^2 = 4.803847577 m after 2 s, but for the moment in which it sinks in (of the
// sink, 1e-5 of its size, and the time of that, sqrt(1e-5 size/g)). Sticking creeps at most at the speed of the
// smoothed law, 1e-4 of the model's speed sqrt(size g). By dopri5 alone it took two million steps in metres and fifty
// million in millimetres.
TEST(StiffContact, ABoxOnAnInclineTakesThousandsOfStepsNotMillions) {
  for (const auto& [unit, size] : {std::pair{"1 m", 1.0}, std::pair{"1 mm", 1e-3}}) {
    const Ran slides = ran(box(unit, 0.3, "method: smooth, end: 2 s"));
    ASSERT_TRUE(slides.outcome.finished) << unit;
    EXPECT_LT(slides.outcome.summary.steps, 4000U) << unit;
    EXPECT_NEAR(slides.end.q[0], 4.803847577, 1e-3) << unit;
    EXPECT_TRUE(tells(slides.outcome.summary.notes, "radau5 took")) << unit;
    const Ran sticks = ran(box(unit, 0.8, "method: smooth, end: 2 s"));
    ASSERT_TRUE(sticks.outcome.finished) << unit;
    EXPECT_LT(sticks.outcome.summary.steps, 4000U) << unit;
    EXPECT_LT(std::abs(sticks.end.q[0]), 2 * 2e-4 * std::sqrt(10 * size)) << unit;
  }
}

// A ball that bounces is in contact for moments, which dopri5 goes through as before (1248 steps until it rests at 1.5
// s, 19 events); only at rest radau5 has something to gain.
TEST(StiffContact, ABouncingBallTakesNoMoreStepsThanBefore) {
  LoadOptions options;
  Model model = load_model(source_root() + "/models/contact/bouncing_ball.yaml", options);
  model.simulate.method = Method::smooth;
  study::decide_steps(model);
  study::Prepared p = study::prepare(std::move(model));
  const Observer observer = study::recorder(p);
  const study::Outcome outcome = study::simulate(p, observer, {});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.summary.events, 19U);
  EXPECT_LT(outcome.summary.steps, 1260U);
}

const char* const kStiffBeam = R"(clatter: 1
gravity: [0, -9.81 m/s^2]
bodies:
  strip:
    type: beam
    planar: true
    element: ancf-beam
    elements: 4
    damping: {beta: 0.01 ms}
    to: [1 m, 0]
    section: {rectangle: [10 mm, 10 mm]}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0}
joints:
  wall: {type: fixed, between: [ground, strip.start]}
)";

// A steel strip under its weight with material damping: its thickness is damped at rates of 1e8 a second, its bending
// at 50. dopri5 took 243 800 steps of 10 ms, radau5 761.
TEST(StiffBeam, ExplicitStepsGiveWayWhereStabilityAloneLimitsThem) {
  const std::string text = kStiffBeam;
  const Ran chosen = ran(text + "simulate: {end: 10 ms}\n");
  EXPECT_TRUE(tells(chosen.outcome.summary.notes, "radau5 took"));
  EXPECT_TRUE(tells(chosen.outcome.summary.notes, "strip.node_")) << "who is fastest";
  EXPECT_TRUE(chosen.outcome.summary.warnings.empty());
  EXPECT_LT(chosen.outcome.summary.steps, 3000U);
  const Ran implicit = ran(text + "simulate: {method: radau5, end: 10 ms}\n");
  EXPECT_LT((chosen.end.q - implicit.end.q).cwiseAbs().maxCoeff(), 1e-7) << "of 5e-4 m that it fell";
}

// Who names dopri5 gets it, and is told what keeps its steps short.
TEST(StiffBeam, NamedDopri5StaysAndIsWarnedOf) {
  const Ran named = ran(std::string(kStiffBeam) + "simulate: {method: dopri5, end: 0.08 ms}\n");
  EXPECT_TRUE(named.outcome.summary.notes.empty());
  EXPECT_TRUE(tells(named.outcome.summary.warnings, "kept short by the stability of dopri5"))
      << named.outcome.summary.steps;
  EXPECT_TRUE(tells(named.outcome.summary.warnings, "strip.node_")) << "who is fastest";
}

std::string rod(const std::string& options, const std::string& rest) {
  return "clatter: 1\ngravity: [0, 0, -9.81 m/s^2]\nbodies:\n  rod:\n    type: flexible\n    position: [0, 0, 0]\n"
         "    mesh: {beam: 1 m, elements: 8}\n    section: {rectangle: [20 mm, 2 mm], up: y, shear: false}\n"
         "    material: {density: 2700 kg/m^3, young: 70 GPa, poisson: 0.3}\n    interfaces: {hinge: start, tip: "
         "end}\n" +
         options + rest;
}
const std::string kHinge = "joints:\n  hinge: {type: revolute, between: [ground, rod.hinge], axis: y}\n";
const std::string kSwing = "simulate: {method: generalized-alpha, step: 0.5 ms, end: 0.5 s, output_step: 10 ms}\n";

// models/flexible/pendulum.yaml: without stiffening the tip is off by 2 mm of 1 m at the end of the first swing (by the
// floating frame with stiffening and by ancf-beam, which agree to 5e-6 m). With it, or five times as thick, there is
// nothing to tell.
TEST(StiffeningWatch, ASwingingStripIsToldAndOneThatStiffensIsNot) {
  const Ran plain = ran(rod("    reduce: {modes: 4}\n", kHinge + kSwing));
  EXPECT_TRUE(tells(plain.outcome.summary.warnings, "stiffening: the flexible body rod")) << "floating frame";
  const Ran element = ran(rod("    reduce: {modes: 4}\n    formulation: superelement\n", kHinge + kSwing));
  EXPECT_TRUE(tells(element.outcome.summary.warnings, "formulation: floating-frame")) << "superelement";
  const Ran stiff = ran(rod("    reduce: {modes: 4}\n    stiffening: true\n", kHinge + kSwing));
  EXPECT_TRUE(stiff.outcome.summary.warnings.empty());
  std::string thick = rod("    reduce: {modes: 4}\n", kHinge + kSwing);
  thick.replace(thick.find("2 mm], up"), 4, "20 mm");
  EXPECT_TRUE(ran(thick).outcome.summary.warnings.empty());
}

// Loads of others count: held at the hinge and bent by 0.2 N across, it is only bent; pulled by 20 N along its axis as
// well, its bending stiffness is more than doubled (N L^2/(pi^2 E I) = 2.2).
TEST(StiffeningWatch, AxialLoadsOfOthersAreSeen) {
  const std::string wall = "joints:\n  wall: {type: fixed, between: [ground, rod.hinge]}\n";
  const std::string across = "forces:\n  across: {type: force, on: rod.tip, components: [0, 0, 0.2 N]}\n";
  const std::string along = "  along: {type: force, on: rod.tip, components: [20 N, 0, 0]}\n";
  const std::string brief = "simulate: {method: generalized-alpha, step: 1 ms, end: 0.1 s, output_step: 10 ms}\n";
  std::string bent = rod("    reduce: {modes: 4}\n", wall + across + brief);
  bent.replace(bent.find("gravity: [0, 0, -9.81 m/s^2]"), 28, "gravity: [0, 0, 0]");
  EXPECT_TRUE(ran(bent).outcome.summary.warnings.empty());
  std::string pulled = rod("    reduce: {modes: 4}\n", wall + across + along + brief);
  pulled.replace(pulled.find("gravity: [0, 0, -9.81 m/s^2]"), 28, "gravity: [0, 0, 0]");
  EXPECT_TRUE(tells(ran(pulled).outcome.summary.warnings, "stiffening: the flexible body rod"));
}

// An unreduced rod has modes far above what Moreau's explicit steps follow: the diagnosis names that, the step that
// would do and the mode, not stiffening, which has nothing to do with it. 0.9 of the limit runs.
TEST(ExplicitStep, ABlowUpBeyondTheStabilityLimitIsNamedAsThat) {
  const std::string hinge =
      "joints:\n  hinge: {type: revolute, between: [ground, rod.hinge], axis: y, friction: {torque: 0.001}}\n";
  const auto model = [&](const std::string& step) {
    return rod("    formulation: finite-elements\n",
               hinge + "simulate: {method: time-stepping, step: " + step + ", end: 5 ms}\n");
  };
  const Ran blown = ran(model("0.1 ms"));
  ASSERT_TRUE(blown.outcome.failure.has_value());
  EXPECT_EQ(blown.outcome.failure->kind(), "step-too-long");
  EXPECT_EQ(blown.outcome.failure->advice().find("stiffening"), std::string::npos);
  EXPECT_NE(blown.outcome.failure->advice().find("step: "), std::string::npos);
}

// A rod of 1 m on a vertical hub sags under 40 m/s^2 (by 2 cm) while it turns: what pulls along it, rho A Omega^2 (L^2
// - x^2)/2, adds 1.19 Omega^2 to the square of its frequency as a cantilever, w = 52.7 rad/s (Southwell; Leissa,
// Applied Mechanics Reviews 34, 1981). At w that is more than its own stiffness and told, at w/100 nothing, in both
// coordinates; with stiffening there is nothing to tell.
TEST(StiffeningWatch, OfASpinningReducedBodyTellsFastOnesAndIsSilentAboutSlowOnes) {
  const auto spinning = [](double rate, const char* coordinates, const char* stiffening) {
    return ran(fmt::format(R"(clatter: 1
coordinates: {}
gravity: [0, 0, -40]
bodies:
  rod:
    type: flexible
    position: [0, 0, 0]
    mesh: {{beam: 1 m, elements: 6}}
    section: {{rectangle: [1 cm, 1 cm], shear: false}}
    material: {{density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}}
    interfaces: {{left: start, right: end}}
    reduce: {{modes: 4}}
    angular_velocity: [0, 0, {}]
{}joints:
  hub: {{type: revolute, between: [ground, rod.left], axis: z}}
simulate: {{method: radau5, end: 60 ms}}
)",
                           coordinates, rate, stiffening));
  };
  const double w = 1.8751 * 1.8751 * std::sqrt(210e9 / 7800 * 1e-4 / 12);
  for (const char* coordinates : {"absolute", "joint"}) {
    const Ran fast = spinning(w, coordinates, ""), slow = spinning(w / 100, coordinates, "");
    EXPECT_TRUE(tells(fast.outcome.summary.warnings, "stiffening: the flexible body rod")) << coordinates;
    EXPECT_TRUE(slow.outcome.summary.warnings.empty()) << coordinates << " " << slow.outcome.summary.warnings.front();
    EXPECT_TRUE(spinning(w, coordinates, "    stiffening: true\n").outcome.summary.warnings.empty()) << coordinates;
  }
}

}  // namespace
}  // namespace clatter::app
