// Event-driven motion with rigid contacts against closed forms.
#include "contact/event_driven.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

ContactShape shape(const std::string& name, int body, ContactShape::Kind kind) {
  ContactShape s;
  s.name = name;
  s.at.body = body;
  s.kind = kind;
  return s;
}

Contact contact(const std::string& name, int first, int second, double restitution, double mu,
                RigidContact::Impact impact = RigidContact::Impact::poisson) {
  Contact c;
  c.name = name;
  c.first = first;
  c.second = second;
  RigidContact law;
  law.restitution = restitution;
  law.friction.mu = mu;
  law.impact = impact;
  c.law = law;
  return c;
}

struct Machine {
  explicit Machine(Model model, double tolerance = 1e-11)
      : system(System::compile(std::move(model))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings(tolerance)) {
    stepper.start(system->initial);
  }
  static IntegratorSettings settings(double tolerance) {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = tolerance;
    s.absolute_tolerance = tolerance;
    return s;
  }
  // Runs to t, noting the times of all changes of one kind.
  std::vector<double> run(double t, const std::string& what = "") {
    std::vector<double> times;
    while (stepper.state().t < t) {
      stepper.step(t);
      for (const ContactChange& c : stepper.changes())
        if (c.what == what) times.push_back(stepper.state().t);
    }
    return times;
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
};

Model ball(double height, double speed, double restitution) {
  Model m = load_model_text(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.01, position: [0, 1, 0]}
simulate: {end: 1}
)",
                            "ball.yaml");
  m.bodies[0].pose->position = Vec3(0, height, 0);
  m.bodies[0].velocity = Vec3(0, speed, 0);
  ContactShape circle = shape("hull", 0, ContactShape::Kind::circle);
  circle.radius = 0.1;
  m.shapes = {circle, shape("floor", -1, ContactShape::Kind::line)};
  m.contacts = {contact("bounce", 0, 1, restitution, 0)};
  return m;
}

// Closed form: t_0 = sqrt(2 h / g), then flights 2 e^k v_0 / g; accumulation at t_0 + 2 v_0 e / (g (1 - e)).
TEST(EventDriven, BallBouncesAtTheTimesOfTheGeometricSeriesAndComesToRestAtItsAccumulationPoint) {
  const double e = 0.5, h = 0.8, g = 10, t0 = std::sqrt(2 * h / g), v0 = g * t0;
  Machine m(ball(h + 0.1, 0, e));
  std::vector<double> impacts = m.run(1.3, "impact");
  ASSERT_GE(impacts.size(), 20u);
  double t = t0, v = v0;
  for (int k = 0; k < 15; ++k) {
    EXPECT_NEAR(impacts[static_cast<std::size_t>(k)], t, 1e-9) << k;
    v *= e;
    t += 2 * v / g;
  }
  EXPECT_NEAR(impacts.back(), t0 + 2 * v0 * e / (g * (1 - e)), 1e-8);
  ASSERT_EQ(m.stepper.active().size(), 1u);
  EXPECT_NEAR(m.stepper.state().q[1], 0.1, 1e-12);
  EXPECT_NEAR(m.stepper.contact_dynamics().force(0, m.stepper.lambda())[0], 20, 1e-9);  // its weight
  // All energy above the floor is gone, and the impacts' channel holds it.
  const Vec& W = m.stepper.work();
  EXPECT_NEAR(W[m.stepper.contact_dynamics().impact_channel(0)], -2 * g * h, 1e-8);
}

Model block(double slope, double speed, double mu) {
  Model m = load_model_text(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  block: {type: planar, mass: 3, inertia: 0.02, position: [0, 0, 0]}
simulate: {end: 1}
)",
                            "block.yaml");
  // Gravity turned instead of the plane.
  m.gravity = Vec3(-10 * std::sin(slope), -10 * std::cos(slope), 0);
  m.bodies[0].velocity = Vec3(speed, 0, 0);
  ContactShape box = shape("box", 0, ContactShape::Kind::polygon);
  box.points = {Vec3(-0.2, 0, 0), Vec3(0.2, 0, 0), Vec3(0.2, 0.01, 0), Vec3(-0.2, 0.01, 0)};
  m.shapes = {box, shape("floor", -1, ContactShape::Kind::line)};
  m.contacts = {contact("feet", 0, 1, 0, mu)};
  return m;
}

// PV-10: stops at v / (g (sin + mu cos)) = 0.297086290 s after 0.297086290 m, then slides back with 3.267949192 m/s^2.
TEST(EventDriven, BlockThrownUpAnInclineStopsAndSlidesBack) {
  Machine m(block(M_PI / 6, 2, 0.2));
  const std::vector<double> turned = m.run(0.5, "slides back");
  ASSERT_FALSE(turned.empty());
  EXPECT_NEAR(turned[0], 0.297086290, 1e-9);
  EXPECT_NEAR(m.stepper.acceleration()[0], -3.267949192, 1e-9);
  const double dt = 0.5 - 2 / 6.732050807568877;
  EXPECT_NEAR(m.stepper.state().q[0], 2 * 2 / (2 * 6.732050807568877) - 0.5 * 3.267949192431123 * dt * dt, 1e-9);
}

TEST(EventDriven, BlockSticksOnAnInclineThatFrictionCanHold) {
  Machine m(block(M_PI / 6, 2, 0.6));
  m.run(2);
  ASSERT_EQ(m.stepper.active().size(), 2u);
  EXPECT_EQ(m.stepper.active()[0].mode, Mode::stick);
  EXPECT_LT(m.stepper.state().v.norm(), 1e-12);  // rounding of rates of order one, projected anew at each step
  // The two feet share the tangential load: in sum m g sin.
  double T = 0, N = 0;
  for (int i = 0; i < 2; ++i) {
    const Vec3 r = m.stepper.contact_dynamics().force(i, m.stepper.lambda());
    N += r[0];
    T += r[1];
  }
  EXPECT_NEAR(N, 30 * std::cos(M_PI / 6), 1e-9);
  EXPECT_NEAR(T, 15, 1e-9);
}

}  // namespace
}  // namespace clatter::contact
