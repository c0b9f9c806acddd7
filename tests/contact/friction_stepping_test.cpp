// Friction rows in time stepping: joints and contact moments against the closed forms that event-driven motion meets
// exactly, with errors that fall at least in proportion to the step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "contact/models.hpp"

namespace clatter::contact {
namespace {

struct Result {
  State s;
  double unaccounted = 0, energy0 = 0;
  FrictionSample friction;  // the first row at the end
};

template <class Scheme>
Result run(const std::string& text, double h, double t, bool joint_coordinates = false) {
  Model model = load_model_text("clatter: 1\n" + text, "friction.yaml");
  model.joint_coordinates = joint_coordinates;
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  ContactDynamics dynamics(ContactSystem::compile(system), engine);
  IntegratorSettings settings;
  settings.step = h;
  Scheme scheme(dynamics, settings);
  State start = system->initial;
  make_consistent(engine, start);
  scheme.start(start);
  Result out;
  out.energy0 = dynamics.stored_energy(start);
  while (scheme.state().t < t * (1 - 1e-12)) scheme.step(t);
  out.s = scheme.state();
  out.unaccounted = dynamics.stored_energy(out.s) - out.energy0 - scheme.work().sum();
  if (!scheme.friction_samples().empty()) out.friction = scheme.friction_samples().front();
  return out;
}

template <class T>
class SteppingFriction : public testing::Test {};
using Schemes = testing::Types<MoreauStepper, NonsmoothAlpha>;
TYPED_TEST_SUITE(SteppingFriction, Schemes);

// Errors at two steps; the smaller one must be at most `part` of the larger, or below `floor`.
template <class F>
void expect_order(F&& error, double h, double part, double floor = 1e-10) {
  const double coarse = error(h), fine = error(h / 8);
  EXPECT_LT(fine, std::max(part * coarse, floor)) << "coarse " << coarse << " fine " << fine;
}

// As in joint_friction_test: theta_n = (-1)^n (theta_0 - 2 n T / k) at rest after the last half swing.
TYPED_TEST(SteppingFriction, TorsionOscillatorComesToRestWhereTheClosedFormSays) {
  const std::string text = R"(
bodies: {disc: {type: planar, mass: 2, inertia: 0.5, position: [0, 0], orientation: 0.66 rad}}
joints: {pin: {type: revolute, between: [ground, disc], friction: {torque: 0.5 N*m}}}
forces: {spring: {type: torsion-spring, joint: pin, stiffness: 8}}
)";
  for (const bool joint : {false, true}) {
    expect_order(
        [&](double h) {
          const Result r = run<TypeParam>(text, h, 5, joint);
          EXPECT_EQ(r.friction.mode, Mode::stick);
          const double angle = r.s.q[r.s.q.size() - 1];
          return std::abs(std::abs(angle) - 0.035);
        },
        4e-3, 0.25);
  }
}

// The limit belongs to the reaction of the same step: a wheel's bearing, exactly linear, to the step's rounding.
TYPED_TEST(SteppingFriction, WheelOnAnAxleIsSlowedByTheReactionOfTheSameStep) {
  const std::string text = R"(
gravity: [0, -9.81, 0]
bodies: {wheel: {type: planar, mass: 4, inertia: 0.3, position: [0, 0], angular_velocity: 2 rad/s}}
joints: {axle: {type: revolute, between: [ground, wheel], friction: {coefficient: 0.2, radius: 25 mm}}}
)";
  const double alpha = 0.2 * 0.025 * 4 * 9.81 / 0.3;
  const Result r = run<TypeParam>(text, 1e-2, 1);
  EXPECT_NEAR(r.s.v[2], 2 - alpha, 1e-8);
  EXPECT_NEAR(r.friction.limit, 0.2 * 4 * 9.81, 1e-6);
  const Result rest = run<TypeParam>(text, 1e-2, 4);
  EXPECT_NEAR(rest.s.v[2], 0, 1e-10);
  EXPECT_EQ(rest.friction.mode, Mode::stick);
  EXPECT_NEAR(rest.unaccounted, 0, 1e-5);  // of 0.6 J: the step that stops is of first order
}

// Friction that feeds back on its own load: omega = omega_0 / (1 + kappa omega_0 t), see joint_friction_test.
TYPED_TEST(SteppingFriction, FeedsBackOnItsOwnLoad) {
  const double c = 0.8 * 0.3 * 2 * 0.5 / 0.54, kappa = c / std::sqrt(1 - c * c);
  expect_order(
      [&](double h) {
        const Result r = run<TypeParam>(R"(
bodies: {rod: {type: planar, mass: 2, inertia: 0.04, position: [0.5, 0], velocity: [0, 1.5], angular_velocity: 3 rad/s}}
joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0], friction: {coefficient: 0.8, radius: 0.3 m}}}
)",
                                        h, 1);
        return std::abs(r.s.v[2] - 3 / (1 + kappa * 3));
      },
      1e-2, 0.2);
}

// c = mu r m l / J > 1: no deceleration satisfies the equations, but an impulse does. Moreau's scheme, which knows
// impulses only, stops the joint within one step; the other one, which needs forces, names it.
TYPED_TEST(SteppingFriction, ThatLoadsItselfWithoutEndLocksTheJointAtOnceOrIsNamed) {
  const std::string text = R"(
bodies: {rod: {type: planar, mass: 2, inertia: 0.04, position: [0.5, 0], velocity: [0, 1.5], angular_velocity: 3 rad/s}}
joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0], friction: {coefficient: 3, radius: 0.7 m}}}
)";
  if (std::is_same_v<TypeParam, MoreauStepper>) {
    const Result r = run<TypeParam>(text, 1e-3, 1e-2);
    EXPECT_LT(r.s.v.norm(), 1e-9);
    EXPECT_LT(std::abs(r.s.q[2]), 3 * 1e-3);  // half a step at the first speed
    return;
  }
  try {
    run<TypeParam>(text, 1e-3, 1);
    FAIL() << "no diagnosis";
  } catch (const SolveError& e) {
    EXPECT_NE(std::string(e.what()).find("pin"), std::string::npos) << e.what();
  }
}

// A guide locks beyond the critical lever arm, and slides below it with F (1 - 2 mu e / L) / m.
TYPED_TEST(SteppingFriction, GuideLocksItselfBeyondTheCriticalLeverArm) {
  const auto guide = [](double mu) {
    return fmt::format("parameters: {{mu: {:.17g}}}\n", mu) + R"(
bodies: {block: {type: planar, mass: 2, inertia: 0.1, position: [0, 0], frames: {arm: [0, 0.3]}}}
joints: {guide: {type: prismatic, between: [ground, block], axis: x, friction: {coefficient: mu, length: 0.2 m}}}
forces: {push: {type: force, on: block.arm, components: [100, 0]}}
)";
  };
  const Result locked = run<TypeParam>(guide(0.34), 1e-2, 0.5), slides = run<TypeParam>(guide(0.3), 1e-2, 0.5);
  EXPECT_NEAR(locked.s.q[0], 0, 1e-12);
  EXPECT_NEAR(slides.s.v[0], 0.5 * 100 * 0.1 / 2, 1e-7);
}

// Rolling and drilling: g rho / (R (1 + k)) and delta m g / J.
TYPED_TEST(SteppingFriction, RollingAndDrillingSlowABall) {
  const double a = 9.81 * 0.002 / (0.1 * 1.4), alpha = 0.003 * 2 * 9.81 / 0.008;
  const std::string text = R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.1], velocity: [0.3, 0.4, 0], angular_velocity: [-4, 3, 10]}}
shapes: {hull: {on: ball, type: sphere, radius: 0.1}, floor: {on: ground, type: plane}}
contacts: {track: {between: [hull, floor], law: {type: rigid, friction: 0.3, rolling_friction: 2 mm, drilling_friction: 3 mm}}}
)";
  expect_order(
      [&](double h) {
        const Result r = run<TypeParam>(text, h, 0.5);
        // Body axes turn with the ball; the spin about the world's z is the angular velocity's part along it.
        const Quat q(r.s.q[3], r.s.q[4], r.s.q[5], r.s.q[6]);
        return std::max(std::abs(r.s.v.head<2>().norm() - 0.5 + 0.5 * a),
                        0.1 * std::abs((q * Vec3(r.s.v.segment<3>(3))).z() - 10 + 0.5 * alpha));
      },
      4e-3, 0.2);
  const Result rest = run<TypeParam>(text, 2e-3, 4);
  EXPECT_LT(rest.s.v.norm(), 1e-8);
}

// Steps saved in the middle go on with the same digits.
TYPED_TEST(SteppingFriction, SurvivesSaveAndRestore) {
  const std::string text = R"(clatter: 1
gravity: [0, -9.81, 0]
bodies:
  upper: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3], end: [0, -0.3]}}
  lower: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3]}}
joints:
  first: {type: revolute, between: [ground, upper.top], angle: 1.2 rad, friction: {torque: 0.4 N*m}}
  second: {type: revolute, between: [upper.end, lower.top], angle: 0.4 rad, friction: {coefficient: 0.4, radius: 20 mm}}
)";
  const auto system = System::compile(load_model_text(text, "friction.yaml"));
  IntegratorSettings settings;
  settings.step = 2e-3;
  Engine engine_a(system), engine_b(system);
  const auto contacts = ContactSystem::compile(system);
  ContactDynamics da(contacts, engine_a), db(contacts, engine_b);
  TypeParam a(da, settings), b(db, settings);
  State start = system->initial;
  make_consistent(engine_a, start);
  a.start(start);
  b.start(start);
  while (a.state().t < 0.6) a.step(0.6);
  a.refresh();
  std::vector<double> memory(a.memory_size());
  a.save(memory);
  b.restore(memory);
  while (a.state().t < 1.2) a.step(1.2);
  while (b.state().t < 1.2) b.step(1.2);
  for (Eigen::Index i = 0; i < a.state().q.size(); ++i) EXPECT_EQ(a.state().q[i], b.state().q[i]);
}

}  // namespace
}  // namespace clatter::contact
