// Number does not change physics: a small scene alone, whose contacts are pairs, and the same scene amid 500 balls far
// away, which makes the model a crowd, have the same laws, contacts and quantities.
//
// `theta: 1` makes Moreau's step of pairs the semi-implicit Euler step of crowds. Where gaps are linear in the
// coordinates both then are one scheme, and motions agree to what the solvers leave; where they are not, pairs add the
// curvature of gaps (biases), and what differs is of the order of the step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "contact/motion.hpp"
#include "engine/quantity.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Scene {
  std::string bodies, shapes, joints, contacts, forces, gravity = "[0, 0, 0]";
  std::string coordinates = "absolute";
  double step = 1e-3;
};

std::string section(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{}:\n{}", name, text);
}

// The scene; with `others` balls that drift against each other and a floor, a hundred metres away.
std::string written(const Scene& s, int others, const std::string& settings) {
  std::string bodies = s.bodies, shapes = s.shapes, contacts = s.contacts;
  for (int i = 0; i < others; ++i)
    bodies += fmt::format(
        "  grain{}: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [{}, {}, {}], velocity: [{}, {}, -0.3]}}\n", i,
        100 + 0.21 * (i % 10), 0.21 * (i / 10 % 10), 0.105 + 0.21 * (i / 100), 0.2 * std::sin(i),
        0.2 * std::cos(3 * i));
  if (others > 0) {
    shapes += "  far_floor: {on: ground, type: plane}\n";
    contacts += "  far: {among: [\"grain*\", far_floor], law: {type: rigid, friction: 0.3}}\n";
  }
  return fmt::format("clatter: 1\ncoordinates: {}\ngravity: {}\n", s.coordinates, s.gravity) +
         section("bodies", bodies) + section("shapes", shapes) + section("joints", s.joints) +
         section("contacts", contacts) + section("forces", s.forces) +
         fmt::format("simulate: {{method: time-stepping, step: {}, end: 10, {}}}\n", s.step, settings);
}

class SceneRun {
 public:
  SceneRun(const Scene& scene, int others, const std::string& settings)
      : system(System::compile(load_model_text(written(scene, others, settings), "scene.yaml"))), engine(system) {
    IntegratorSettings s;
    s.step = system->model.simulate.step;
    motion = std::make_unique<Motion>(system, engine, system->model.simulate, s);
    State start = system->initial;
    start.z.conservativeResizeLike(Vec::Zero(motion->dynamics().sizes().nz));
    motion->stepper().start(start);
  }
  void until(double end) {
    while (motion->stepper().state().t < end * (1 - 1e-12)) {
      motion->stepper().step(end);
      std::vector<StepEvent> log;
      motion->stepper().event_log(log);
      events.insert(events.end(), log.begin(), log.end());
    }
  }
  double value(const std::string& name) {
    State now = state();
    Vec a, lambda, W;
    motion->stepper().sample(now.t, now, a, lambda, W);
    motion->observe(now, lambda, W);
    const Observer observer(system, {name}, motion->quantities());
    std::vector<double> out(static_cast<std::size_t>(observer.width()));
    observer.evaluate(engine, motion->engine_state(now), a, motion->engine_lambda(lambda), W, 0, out);
    return out[0];
  }
  bool told(const std::string& object, const std::string& what) const {
    return std::any_of(events.begin(), events.end(),
                       [&](const StepEvent& e) { return e.element == object && e.what == what; });
  }
  const State& state() const { return motion->stepper().state(); }

  std::shared_ptr<const System> system;
  Engine engine;
  std::unique_ptr<Motion> motion;
  std::vector<StepEvent> events;
};

constexpr const char* kTight = "contact_tolerance: 1e-12 m/s, contact_iterations: 20000";

// Largest difference of coordinates and velocities of the scene, whose bodies come first.
double difference(const SceneRun& a, const SceneRun& b) {
  const auto nq = std::min(a.state().q.size(), b.state().q.size()),
             nv = std::min(a.state().v.size(), b.state().v.size());
  return std::max((a.state().q.head(nq) - b.state().q.head(nq)).cwiseAbs().maxCoeff(),
                  (a.state().v.head(nv) - b.state().v.head(nv)).cwiseAbs().maxCoeff());
}

// The same of flexible bodies, which come last: of the last nq coordinates and nv velocities.
double difference_of_last(const SceneRun& a, const SceneRun& b, Eigen::Index nq, Eigen::Index nv) {
  return std::max((a.state().q.tail(nq) - b.state().q.tail(nq)).cwiseAbs().maxCoeff(),
                  (a.state().v.tail(nv) - b.state().v.tail(nv)).cwiseAbs().maxCoeff());
}

// Five rough balls that strike walls and each other, with restitution along the tangents too.
Scene rough_balls() {
  Scene s;
  for (int i = 0; i < 5; ++i)
    s.bodies += fmt::format(
        "  ball{}: {{mass: {} kg, shape: {{sphere: 10 cm}}, position: [{}, {}, 0], velocity: [{}, {}, -0.3], "
        "angular_velocity: [1, {}, -3]}}\n",
        i, 1 + 0.3 * i, 0.26 * i + 0.007 * i * i, 0.01 * i, 1 - 0.5 * i, 0.1 * i, 2 - i);
  s.shapes = "  wall: {on: ground, at: [0, 0, -0.13], type: plane}\n";
  s.contacts =
      "  touch: {among: [ball0, ball1, ball2, ball3, ball4, wall], law: {type: rigid, friction: 0.5, restitution: 0.6, "
      "tangential_restitution: 0.7, impact: moreau}}\n";
  return s;
}

TEST(CrowdEmbedding, KeepsTangentialRestitution) {
  SceneRun alone(rough_balls(), 0, "theta: 1"), amid(rough_balls(), 500, kTight);
  ASSERT_EQ(alone.motion->crowd(), nullptr);
  ASSERT_NE(amid.motion->crowd(), nullptr);
  for (SceneRun* r : {&alone, &amid}) r->until(0.4);
  EXPECT_GT(alone.motion->counts().impacts, 3);
  EXPECT_LT(difference(alone, amid), 1e-8);
}

// A soft ball that bounces and slides on a plane and a stiff one that rests: forces of the same laws, explicit in both.
Scene soft_balls() {
  Scene s;
  s.gravity = "[0, 0, -9.81 m/s^2]";
  s.bodies =
      "  drop: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 12 cm], velocity: [1, 0, 0]}\n"
      "  rest: {mass: 2 kg, shape: {sphere: 10 cm}, position: [1, 0, 10 cm]}\n";
  s.shapes = "  floor: {on: ground, type: plane}\n";
  s.contacts =
      "  soft: {between: [drop, floor], law: {type: lankarani-nikravesh, stiffness: 2e5, exponent: 1.5, restitution: "
      "0.7, "
      "friction: 0.3}}\n"
      "  stiff: {between: [rest, floor], law: {type: linear, stiffness: 1e5, damping: 300}}\n";
  s.step = 1e-4;
  return s;
}

TEST(CrowdEmbedding, KeepsCompliantLaws) {
  SceneRun alone(soft_balls(), 0, "theta: 1"), amid(soft_balls(), 500, kTight);
  ASSERT_NE(amid.motion->crowd(), nullptr);
  for (SceneRun* r : {&alone, &amid}) r->until(0.1);
  EXPECT_LT(difference(alone, amid), 1e-9);
  EXPECT_GT(alone.value("soft.normal_force") + alone.value("stiff.normal_force"), 1);
  for (const char* name : {"soft.gap", "soft.normal_force", "soft.friction_force", "soft.slip", "stiff.normal_force",
                           "stiff.gap_rate", "energy.soft.friction"})
    EXPECT_NEAR(alone.value(name), amid.value(name), 1e-6 * (1 + std::abs(alone.value(name)))) << name;
}

// A cart against a stop and a block that slides on a floor, both by formulas of joint coordinates.
Scene formulas() {
  Scene s;
  s.coordinates = "joint";
  s.gravity = "[0, -9.81 m/s^2, 0]";
  s.bodies =
      "  cart: {mass: 2 kg, inertia: [0.1, 0.1, 0.1]}\n"
      "  slide: {mass: 0.5 kg, inertia: [0.1, 0.1, 0.1]}\n"
      "  block: {mass: 1 kg, inertia: [0.1, 0.1, 0.1]}\n";
  s.joints =
      "  rail: {type: prismatic, between: [ground, cart], axis: x, rate: 1 m/s}\n"
      "  along: {type: prismatic, between: [ground, slide], axis: x, rate: 2 m/s}\n"
      "  up: {type: prismatic, between: [slide, block], axis: y, displacement: 0 m}\n";
  s.contacts =
      "  stop: {gap: 0.2037 - rail.displacement, law: {type: rigid, restitution: 0.5}}\n"
      "  rub: {gap: up.displacement, slide: along.displacement, law: {type: rigid, friction: 0.2}}\n";
  return s;
}

TEST(CrowdEmbedding, KeepsContactsByFormula) {
  SceneRun alone(formulas(), 0, "theta: 1"), amid(formulas(), 500, kTight);
  ASSERT_NE(amid.motion->crowd(), nullptr);
  for (SceneRun* r : {&alone, &amid}) r->until(0.3);
  EXPECT_LT(difference(alone, amid), 1e-9);
  // Back at half of its speed; slowed by mu m g / (m + m').
  EXPECT_NEAR(amid.value("rail.rate.displacement"), -0.5, 1e-9);
  EXPECT_NEAR(amid.value("along.rate.displacement"), 2 - 0.2 * 9.81 * 0.3 / 1.5, 1e-8);
  for (const char* name : {"rub.gap", "rub.normal_force", "rub.friction_force", "rub.slip", "rub.state", "stop.gap",
                           "energy.rub.friction", "energy.stop.impact"})
    EXPECT_NEAR(alone.value(name), amid.value(name), 1e-7 * (1 + std::abs(alone.value(name)))) << name;
  EXPECT_TRUE(alone.told("stop", "impact"));
  EXPECT_TRUE(amid.told("stop", "impact"));
}

// Friction that follows the reactions of its guide, one that locks itself and one that does not, and a pin with a
// constant moment.
Scene guides() {
  Scene s;
  s.bodies =
      "  locked: {type: planar, mass: 2 kg, inertia: 0.1, position: [0, 1 m], frames: {arm: [0, 0.31 m]}}\n"
      "  sliding: {type: planar, mass: 2 kg, inertia: 0.1, position: [0, 0], frames: {arm: [0, 0.27 m]}}\n"
      "  wheel: {type: planar, mass: 3 kg, inertia: 0.2, position: [0, 3], angular_velocity: 2 rad/s}\n";
  s.joints =
      "  far_guide: {type: prismatic, between: [ground, locked], at: [0, 1 m], axis: x, friction: {coefficient: 0.35, "
      "length: 0.2 m}}\n"
      "  near_guide: {type: prismatic, between: [ground, sliding], at: [0, 0], axis: x, friction: {coefficient: 0.35, "
      "length: 0.2 m}}\n"
      "  pin: {type: revolute, between: [ground, wheel], at: [0, 3], friction: {torque: 0.8 N*m}}\n";
  s.forces =
      "  push_far: {type: force, on: locked.arm, components: [100 N, 0]}\n"
      "  push_near: {type: force, on: sliding.arm, components: [100 N, 0]}\n";
  return s;
}

TEST(CrowdEmbedding, KeepsFrictionInJoints) {
  SceneRun alone(guides(), 0, "theta: 1"), amid(guides(), 500, kTight);
  ASSERT_NE(amid.motion->crowd(), nullptr);
  for (SceneRun* r : {&alone, &amid}) r->until(0.3);
  EXPECT_LT(difference(alone, amid), 1e-7);
  EXPECT_NEAR(amid.value("far_guide.friction"), -100, 1e-5);
  EXPECT_NEAR(amid.value("far_guide.friction_limit"), 108.5, 1e-5);
  EXPECT_NEAR(amid.value("near_guide.friction"), -94.5, 1e-5);
  EXPECT_NEAR(amid.value("near_guide.rate.displacement"), 5.5 / 2 * 0.3, 1e-6);
  EXPECT_NEAR(amid.value("pin.rate.angle"), 2 - 0.8 / 0.2 * 0.3, 1e-6);
  EXPECT_EQ(amid.value("far_guide.friction_state"), 2);
  EXPECT_EQ(amid.value("near_guide.friction_state"), 1);
  for (const char* name : {"energy.near_guide.friction", "energy.pin.friction"})
    EXPECT_NEAR(alone.value(name), amid.value(name), 1e-6 * (1 + std::abs(alone.value(name)))) << name;
}

// Two beams that slap on each other: what conservation says of both, and each other to the order of the step.
Scene beams() {
  Scene s;
  s.gravity = "[0, -9.81 m/s^2, 0]";
  const char* rest =
      "type: beam, planar: true, element: ancf-beam, section: {rectangle: [10 cm, 10 cm]}, "
      "material: {density: 7850 kg/m^3, young: 20.7 MPa, poisson: 0.3}";
  s.bodies = fmt::format(
      "  upper: {{{}, elements: 4, to: [1 m, 0], position: [0, 0.105 m], velocity: [0.3 m/s, -1 m/s]}}\n"
      "  lower: {{{}, elements: 2, to: [0.5 m, 0], position: [0.25 m, 0]}}\n",
      rest, rest);
  s.contacts = "  slap: {between: [upper, lower], law: {type: rigid, friction: 0.2}}\n";
  s.step = 1e-4;
  return s;
}

TEST(CrowdEmbedding, KeepsBeamsOnBeams) {
  SceneRun alone(beams(), 0, "theta: 1"), amid(beams(), 500, kTight),
      amid_one(beams(), 2, std::string(kTight) + ", contact_solver: gauss-seidel");
  ASSERT_NE(amid.motion->crowd(), nullptr);
  ASSERT_NE(amid_one.motion->crowd(), nullptr);
  for (SceneRun* r : {&alone, &amid, &amid_one}) r->until(0.02);
  EXPECT_GT(alone.motion->counts().impacts, 0);
  EXPECT_TRUE(std::any_of(amid.events.begin(), amid.events.end(),
                          [](const StepEvent& e) { return e.element.starts_with("slap["); }));
  const Eigen::Index nq = alone.state().q.size(), nv = alone.state().v.size();
  EXPECT_LT(difference_of_last(amid_one, amid, nq, nv), 1e-7);
  EXPECT_LT((alone.state().q - amid.state().q.tail(nq)).cwiseAbs().maxCoeff(), 2e-4);
  EXPECT_GT(amid.value("slap.gap"), -1e-6);
}

}  // namespace
}  // namespace clatter::contact
