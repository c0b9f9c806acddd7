// Beams touch by points of their sides (Y-15): r + y r_y, which give as the section does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "contact/motion.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

// YV-5: 1 m x 0.1 m x 1 m, 8 elements, 81 points below, that meets the ground flat at 4.3173 m/s (it fell from 1 m);
// here it starts 0.1 mm above.
std::string dropped(const std::string& law) {
  std::string points, shapes;
  for (int i = 0; i <= 80; ++i) {
    points += fmt::format("{}p{}: {{at: {}/80, y: -5 cm}}", i ? ", " : "", i, i);
    shapes += fmt::format("  s{}: {{on: beam.p{}, type: circle, radius: 0}}\n", i, i);
  }
  return fmt::format(
      "clatter: 1\ntitle: drop\ngravity: [0, -9.81, 0]\nbodies:\n  beam: {{type: beam, planar: true, element: "
      "ancf-beam, "
      "elements: 8, to: [1, 0], section: {{rectangle: [0.1, 1]}}, material: {{density: 7850, young: 2.1e7, poisson: "
      "0.3}}, "
      "points: {{{}}}, position: [0, 0.0501], velocity: [0, -4.3171]}}\nshapes:\n  floor: {{on: ground, type: "
      "line}}\n{}"
      "contacts:\n  touch: {{between: [\"s*\", floor], law: {}}}\n",
      points, shapes, law);
}

struct Drop {
  double rise = 0;         // largest mean upward velocity
  double penetration = 0;  // deepest
  double force = 0;        // largest in all
};

Drop drop(const std::string& law, Method method, double step, double end) {
  Model model = load_model_text(dropped(law), "drop");
  model.simulate.method = method;
  model.simulate.scheme = Method::generalized_alpha;
  model.simulate.time_stepping = TimeStepping::generalized_alpha;
  const Simulate simulate = model.simulate;
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  IntegratorSettings settings;
  settings.scheme = Scheme::generalized_alpha;
  settings.step = step;
  contact::Motion motion(system, engine, simulate, settings);
  Stepper& stepper = motion.stepper();
  stepper.start(system->initial);
  Drop out;
  State s = system->initial;
  Vec a = s.v, lambda, W = Vec::Zero(motion.dynamics().sizes().np);
  while (stepper.state().t < end - 1e-9) {
    stepper.step(end);
    stepper.sample(stepper.state().t, s, a, lambda, W);
    motion.observe(s, lambda, W);
    engine.observe(motion.engine_state(s), nullptr);
    const Momenta m = momenta(system->tree, engine.links());
    out.rise = std::max(out.rise, m.linear.y() / m.mass);
    double force = 0;
    for (int i = 0; i < motion.contacts().slots(); ++i) {
      out.penetration = std::max(out.penetration, -motion.slot(i).gap);
      force += motion.slot(i).force[0];
    }
    out.force = std::max(out.force, force);
  }
  return out;
}

// YV-5 (iv): Hertz with K = 3.13e7 and Hunt and Crossley's damping 3 (1 - c_r)/(2 v) for the approach at v = 4.3173
// m/s. The prototype's rebound, 4.25 m/s for c_r = 1 and 3.42 m/s for 0.5, its penetration up to 7.9 mm and its force
// of 1.65 MN, within the 5 % it states.
TEST(BeamOnGround, BouncesOnHertzianPointsAsThePrototype) {
  const Drop elastic = drop("{type: hertz, stiffness: 3.13e7}", Method::smooth, 2e-4, 0.02);
  EXPECT_NEAR(elastic.rise, 4.25, 0.05 * 4.25);
  EXPECT_NEAR(elastic.penetration, 7.9e-3, 0.05 * 7.9e-3);
  EXPECT_NEAR(elastic.force, 1.65e6, 0.05 * 1.65e6);
  const Drop damped = drop("{type: hunt-crossley, stiffness: 3.13e7, damping: 0.1737}", Method::smooth, 2e-4, 0.02);
  EXPECT_NEAR(damped.rise, 3.42, 0.05 * 3.42);
}

// YV-6: rigid points without restitution take the motion of the side alone; what the section has stored throws the beam
// up again, at 3.24 m/s in the prototype's cone complementarity steps (its elastic forces explicit), and nothing
// penetrates.
TEST(BeamOnGround, IsThrownUpByItsSectionFromPlasticPoints) {
  const Drop rigid = drop("{type: rigid, friction: 0.3}", Method::time_stepping, 1e-4, 0.015);
  EXPECT_NEAR(rigid.rise, 3.24, 0.15 * 3.24);
  EXPECT_LT(rigid.penetration, 1e-9);
}

// YV-8: a beam 1 m long and 5 cm high swings down from the horizontal on a disc of radius 5 cm at (0.5, -0.5). Ten
// thousand times as stiff as the source's it must meet the disc as a rigid one does: turned by 38.911 degrees,
// at 4.2995 rad/s, after 0.30620 s, within the per cent the case asks for (the step is a sixth of that).
TEST(BeamOnDisc, MeetsItAsARigidOneDoesWhenItIsStiff) {
  std::string points, shapes;
  for (int i = 0; i <= 40; ++i) {
    points += fmt::format("{}p{}: {{at: {}/40, y: -2.5 cm}}", i ? ", " : "", i, i);
    shapes += fmt::format("  s{}: {{on: beam.p{}, type: circle, radius: 0}}\n", i, i);
  }
  Model model = load_model_text(
      fmt::format(
          "clatter: 1\ngravity: [0, -9.81, 0]\nbodies:\n  beam: {{type: beam, planar: true, element: ancf-beam, "
          "elements: 8, to: [1, 0], section: {{rectangle: [0.05, 1]}}, material: {{density: 7850, young: 2.1e11, "
          "poisson: 0.3}}, points: {{{}}}}}\njoints:\n  pin: {{type: revolute, between: [ground, beam.start]}}\n"
          "shapes:\n  disc: {{on: ground, type: circle, radius: 5 cm, at: [0.5, -0.5]}}\n{}"
          "contacts:\n  touch: {{between: [\"s*\", disc], law: {{type: rigid, friction: 0.3}}}}\n",
          points, shapes),
      "swing");
  model.simulate.method = Method::time_stepping;
  model.simulate.time_stepping = TimeStepping::generalized_alpha;
  const Simulate simulate = model.simulate;
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  IntegratorSettings settings;
  settings.step = 5e-4;
  contact::Motion motion(system, engine, simulate, settings);
  Stepper& stepper = motion.stepper();
  stepper.start(system->initial);
  State s = system->initial, before = s;
  Vec a = s.v, lambda, W = Vec::Zero(motion.dynamics().sizes().np);
  const auto pressed = [&] {
    stepper.sample(stepper.state().t, s, a, lambda, W);
    motion.observe(s, lambda, W);
    return W.cwiseAbs().maxCoeff() > 1e-3;  // the impact takes 0.1 kJ
  };
  while (stepper.state().t < 0.35 && !pressed()) {
    before = stepper.state();
    stepper.step(0.35);
  }
  EXPECT_NEAR(stepper.state().t, 0.30620, 0.01 * 0.30620);
  engine.observe(motion.engine_state(before), nullptr);
  // Angular momentum about the pivot by that of a rod of length L and height H: m (L^2/3 + H^2/12) w.
  const Momenta m = momenta(system->tree, engine.links());
  EXPECT_NEAR(-m.angular.z() / (m.mass * (1.0 / 3 + 0.05 * 0.05 / 12)), 4.2995, 0.01 * 4.2995);
}

}  // namespace
}  // namespace clatter::contact
