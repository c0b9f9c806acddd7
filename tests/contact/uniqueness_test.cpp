// Moments at which the laws of rigid contact leave a choice: named once, with what was chosen (PV-6, PV-9, trap 25).
#include "impulse/uniqueness.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

std::string rod(double degrees, double rate, double mu, double speed) {
  const double phi = degrees * M_PI / 180;
  return fmt::format(R"(
clatter: 1
gravity: [0, -9.81]
bodies:
  rod:
    type: planar
    mass: 1
    inertia: 0.33333333333333333
    position: [{}, {}]
    angle: {}
    angular_velocity: {}
    velocity: [{}, {}]
    frames: {{end: [1, 0]}}
shapes:
  tip: {{on: rod.end, type: circle, radius: 0}}
  floor: {{on: ground, type: line}}
contacts:
  slide: {{between: [tip, floor], law: {{type: rigid, friction: {}}}}}
simulate: {{end: 1}}
)",
                     -std::cos(phi), std::sin(phi), -phi, -rate, speed, rate * std::cos(phi), mu);
}

std::string pantograph(double near, double far) {
  return fmt::format(R"(
clatter: 1
coordinates: joint
gravity: [0, -5.886, 0]
bodies:
  arm: {{mass: 1e-12, inertia: [1e-12, 1e-12, 1e-12]}}
  tip: {{mass: 5, inertia: [1e-12, 1e-12, 1e-12]}}
joints:
  turn: {{type: revolute, between: [ground, arm], axis: z}}
  reach: {{type: prismatic, between: [arm, tip], axis: x, displacement: 1, rate: 1}}
contacts:
  near: {{gap: reach.displacement*sin(turn.angle), slide: reach.displacement*cos(turn.angle), law: {{type: rigid, friction: {}}}}}
  far: {{gap: 2*reach.displacement*sin(turn.angle), slide: 2*reach.displacement*cos(turn.angle), law: {{type: rigid, friction: {}}}}}
simulate: {{end: 1}}
)",
                     near, far);
}

struct Machine {
  explicit Machine(const std::string& text)
      : system(System::compile(load_model_text(text, "machine.yaml"))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings()) {
    stepper.start(system->initial);
    note();
  }
  static IntegratorSettings settings() {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = s.absolute_tolerance = 1e-10;
    return s;
  }
  void note() {
    for (const ContactChange& c : stepper.changes())
      if (c.what == "not unique") notes.push_back(c);
  }
  void run(double t) {
    while (stepper.state().t < t) {
      stepper.step(t);
      note();
    }
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  std::vector<ContactChange> notes;
};

bool says(const ContactChange& c, const std::string& text) { return c.detail.find(text) != std::string::npos; }

// (60 deg, 4 rad/s, mu 5/3): a = -0.415063509, b = 4.046406461; separation, or sliding on with 9.748885094 N.
TEST(Uniqueness, RodWithTwoSolutionsIsNamedWithBothForcesAndSeparates) {
  Machine m(rod(60, 4, 5.0 / 3, 10));
  ASSERT_EQ(m.notes.size(), 1u);
  EXPECT_EQ(m.contacts->slot_name(m.notes[0].slot), "slide");
  EXPECT_TRUE(says(m.notes[0], "0 or 9.74889 N at slide")) << m.notes[0].detail;
  EXPECT_TRUE(says(m.notes[0], "took the smallest"));
  EXPECT_TRUE(m.stepper.active().empty());
  // The end flies off with b: rod free, gravity alone.
  EXPECT_NEAR(m.stepper.acceleration()[1], -9.81, 1e-12);
}

TEST(Uniqueness, RodsWithOneSolutionAreNotNamed) {
  for (const double rate : {1.0, 5.0}) EXPECT_TRUE(Machine(rod(30, rate, 0.5, 3)).notes.empty()) << rate;
}

// Numbers of PV-9 for mu = (0.1, 0.3): r'' anywhere in [-1.7658, -0.5886] with lambda_1 + 2 lambda_2 = 29.43.
TEST(Uniqueness, PantographWithDifferentFrictionIsNamedOnceWithItsInterval) {
  Machine m(pantograph(0.1, 0.3));
  m.run(0.3);
  ASSERT_EQ(m.notes.size(), 1u) << "once for as long as it lasts";
  EXPECT_TRUE(says(m.notes[0], "near, far")) << m.notes[0].detail;
  EXPECT_TRUE(says(m.notes[0], "slip of near may accelerate by anything from -1.7658 to -0.5886 m/s^2"))
      << m.notes[0].detail;
  const double second = m.stepper.acceleration()[1];
  EXPECT_GE(second, -1.7658 - 1e-9);
  EXPECT_LE(second, -0.5886 + 1e-9);
  ASSERT_EQ(m.stepper.active().size(), 2u);
  const double lambda[2] = {m.stepper.contact_dynamics().force(0, m.stepper.lambda())[0],
                            m.stepper.contact_dynamics().force(1, m.stepper.lambda())[0]};
  EXPECT_NEAR(lambda[0] + 2 * lambda[1], 29.43, 1e-9);
  // r'' of these forces.
  EXPECT_NEAR(second, -(0.1 * lambda[0] + 0.3 * 2 * lambda[1]) / 5, 1e-9);
}

TEST(Uniqueness, PantographWithEqualFrictionIsNotNamed) {
  Machine m(pantograph(0.2, 0.2));
  m.run(0.3);
  EXPECT_TRUE(m.notes.empty());
  EXPECT_NEAR(m.stepper.acceleration()[1], -1.1772, 1e-9);
}

// A block on two feet slides: normal forces are determined. Held by friction at both feet, the tangential forces are
// not, but nothing moves by that.
TEST(Uniqueness, ForcesThatAccelerateAlikeAreNotNamed) {
  for (const double speed : {0.0, 1.0}) {
    Machine m(fmt::format(R"(
clatter: 1
gravity: [0, -10]
bodies:
  block: {{type: planar, mass: 3, inertia: 0.02, position: [0, 0.05], velocity: [{}, 0]}}
shapes:
  box: {{on: block, type: polygon, points: [[-0.2, -0.05], [0.2, -0.05], [0.2, 0.05], [-0.2, 0.05]]}}
  floor: {{on: ground, type: line}}
contacts:
  feet: {{between: [box, floor], law: {{type: rigid, friction: 0.3}}}}
simulate: {{end: 1}}
)",
                          speed));
    m.run(0.2);
    EXPECT_TRUE(m.notes.empty()) << speed;
  }
}

// Ends of the family by hand: lambda = (29.43, 0) + t (-2, 1) up to t = 29.43 / 2; from any point of it.
TEST(Uniqueness, FamilyIsBoundedByForcesThatVanish) {
  const double M_1 = 5, mu[2] = {0.1, 0.3};
  ContactProblem p;
  p.A = (Mat(2, 2) << 1, 2, 2, 4).finished() / M_1;
  p.b = (Vec(2) << -29.43, -58.86).finished() / M_1;
  p.cones = {Cone::ray(0), Cone::ray(1)};
  // Columns i (sin, r cos) - mu_i i (cos, -r sin) at phi = 0, r = 1; M = M_1.
  Mat D(2, 2);
  for (int i = 0; i < 2; ++i) D.col(i) = (i + 1) * Eigen::Vector2d(-mu[i], 1);
  const Mat Q = D.transpose() * D / M_1;
  // A of the example is without the friction that D carries only along r, where W has nothing: W^T M^-1 D as given.
  for (const double share : {0.0, 0.3, 1.0}) {
    Vec r = Eigen::Vector2d(share * 29.43, 0.5 * (1 - share) * 29.43);
    const Ambiguity found = find_ambiguity(p, Q, r);
    ASSERT_EQ(found.kind, Ambiguity::Kind::family) << share;
    ASSERT_EQ(found.n.size(), 2);
    const Vec low = r + found.low * found.n, high = r + found.high * found.n;
    EXPECT_NEAR(std::min(low[0], high[0]), 0, 1e-9);
    EXPECT_NEAR(std::max(low[0], high[0]), 29.43, 1e-9);
    EXPECT_NEAR(std::max(low[1], high[1]), 14.715, 1e-9);
  }
}

}  // namespace
}  // namespace clatter::contact
