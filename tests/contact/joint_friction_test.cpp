// Friction in joints, event by event and smoothed, against closed forms (P-22 to P-24, AF-14, AF-21).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "contact/event_driven.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  explicit Machine(const std::string& text, bool joint_coordinates = false, bool smooth = false,
                   double tolerance = 1e-11)
      : system(compile(text, joint_coordinates)),
        contacts(ContactSystem::compile(system, smooth)),
        engine(system),
        stepper(contacts, engine, settings(tolerance)) {
    State start = system->initial;
    make_consistent(engine, start);
    stepper.start(start);
    energy0 = stepper.dynamics().stored_energy(stepper.state());
  }
  static std::shared_ptr<const System> compile(const std::string& text, bool joint_coordinates) {
    Model m = load_model_text("clatter: 1\n" + text, "friction.yaml");
    m.joint_coordinates = joint_coordinates;
    return System::compile(std::move(m));
  }
  static IntegratorSettings settings(double tolerance) {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = tolerance;
    s.absolute_tolerance = tolerance;
    return s;
  }
  // Runs to t, noting the times of changes of one kind.
  std::vector<double> run(double t, const std::string& what = "") {
    std::vector<double> times;
    while (stepper.state().t < t) {
      stepper.step(t);
      for (const ContactChange& c : stepper.changes())
        if (c.what == what) times.push_back(stepper.state().t);
    }
    return times;
  }
  // Value and rate of a joint's component.
  MeasureValue<double> component(const std::string& joint, const std::string& name) {
    engine.observe(stepper.contact_dynamics().engine_state(stepper.state()), nullptr);
    for (const System::JointComponentIndex& c : system->joint_components)
      if (system->model.joints[static_cast<std::size_t>(c.joint)].name == joint && c.name == name)
        return engine.measure(c.measure);
    throw std::logic_error("no component " + joint + "." + name);
  }
  double acceleration(const std::string& joint, const std::string& name) {
    const Vec a = stepper.acceleration();
    engine.observe(stepper.contact_dynamics().engine_state(stepper.state()), &a);
    for (const System::JointComponentIndex& c : system->joint_components)
      if (system->model.joints[static_cast<std::size_t>(c.joint)].name == joint && c.name == name)
        return engine.measure(c.measure).bias;
    throw std::logic_error("no component");
  }
  // What the ledger does not account for.
  double unaccounted() { return stepper.dynamics().stored_energy(stepper.state()) - energy0 - stepper.work().sum(); }
  Mode mode(int row = 0) const {
    for (const ActiveFriction& f : stepper.active_frictions())
      if (f.index == row) return f.mode;
    return Mode::open;
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  double energy0 = 0;
};

double root(const std::function<double(double)>& f, double a, double b) {
  for (int i = 0; i < 200; ++i) {
    const double m = 0.5 * (a + b);
    ((f(a) < 0) == (f(m) < 0) ? a : b) = m;
  }
  return 0.5 * (a + b);
}

// Tolerances of 1e-9 where nothing else is said: a hundred times that of the integrator, over a few periods.
constexpr double kTolerance = 1e-9;

class Coordinates : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(All, Coordinates, testing::Bool(),
                         [](const auto& which) { return which.param ? "joint" : "absolute"; });

// J theta'' = -k theta -+ T: half periods of pi/omega, the amplitude falls by 2 T/k in each, and theta rests as soon as
// it stops with |theta| <= T/k.
TEST_P(Coordinates, TorsionOscillatorLosesTwiceTheDeadBandEachHalfPeriodAndStopsInIt) {
  const double k = 8, T = 0.5, J = 0.5, theta0 = 0.66, omega = std::sqrt(k / J), band = T / k;
  Machine m(R"(
bodies: {disc: {type: planar, mass: 2, inertia: 0.5, position: [0, 0], orientation: 0.66 rad}}
joints: {pin: {type: revolute, between: [ground, disc], friction: {torque: 0.5 N*m}}}
forces: {spring: {type: torsion-spring, joint: pin, stiffness: 8}}
)",
            GetParam());
  const int swings = static_cast<int>(std::ceil((theta0 - band) / (2 * band)));
  for (int n = 1; n <= swings; ++n) {
    const double t = n * M_PI / omega;
    m.run(t);
    EXPECT_NEAR(m.component("pin", "angle").e, (n % 2 == 0 ? 1 : -1) * (theta0 - 2 * n * band), kTolerance) << n;
    m.run(t + 1e-6);
    EXPECT_EQ(m.mode(), n == swings ? Mode::stick : Mode::slide) << n;
  }
  m.run(10);
  EXPECT_NEAR(std::abs(m.component("pin", "angle").e), std::abs(theta0 - 2 * swings * band), kTolerance);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
  // All that is lost went into the joint's channel.
  const double lost = m.stepper.work()[m.stepper.contact_dynamics().joint_channel(0)];
  EXPECT_NEAR(lost, m.stepper.dynamics().stored_energy(m.stepper.state()) - m.energy0, kTolerance);
}

// m g l (cos b - cos a) = T (a + b) between turning points a and b of a half swing; it stays where m g l sin a <= T.
TEST_P(Coordinates, PendulumTurnsAtTheAnglesOfItsEnergyBalanceAndHangsWhereFrictionHoldsIt) {
  const double g = 9.81, weight = 3 * g * 0.4, T = 1.2;
  Machine m(R"(
gravity: [0, -9.81, 0]
bodies: {rod: {type: planar, mass: 3, inertia: 0.2, frames: {top: [0, 0.4]}}}
joints: {pin: {type: revolute, between: [ground, rod.top], angle: 2 rad, friction: {torque: 1.2 N*m}}}
)",
            GetParam());
  std::vector<double> turns{2};
  while (weight * std::sin(turns.back()) > T) {
    // b is negative where it does not even pass the bottom; b = -a solves the equation too, before it moves.
    const double a = turns.back();
    const auto balance = [&](double b) { return weight * (std::cos(b) - std::cos(a)) - T * (a + b); };
    turns.push_back(std::abs(root(balance, -a + 1e-6, a)));
  }
  std::vector<double> found;
  while (m.mode() == Mode::slide && m.stepper.state().t < 60) {
    m.stepper.step(60);
    for (const ContactChange& c : m.stepper.changes())
      if (c.what == "slides back" || c.what == "sticks") found.push_back(std::abs(m.component("pin", "angle").e));
  }
  ASSERT_EQ(found.size(), turns.size() - 1);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], turns[i + 1], kTolerance) << i;
  EXPECT_NEAR(m.unaccounted(), 0, 1e-8);  // of 20 J
  m.run(m.stepper.state().t + 5);
  EXPECT_NEAR(std::abs(m.component("pin", "angle").e), turns.back(), kTolerance);
}

// A double pendulum with friction in both pins: the two choices of coordinates are the same motion.
TEST(JointFriction, IsTheSameInJointAndInAbsoluteCoordinates) {
  const std::string text = R"(
gravity: [0, -9.81, 0]
bodies:
  upper: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3], end: [0, -0.3]}}
  lower: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3]}}
joints:
  first: {type: revolute, between: [ground, upper.top], angle: 1.2 rad, friction: {torque: 0.4 + 0.2*exp(-v/0.2)}}
  second: {type: revolute, between: [upper.end, lower.top], angle: 0.4 rad, friction: {torque: 0.7 N*m}}
)";
  Machine a(text, false), b(text, true);
  for (const double t : {0.5, 1.0, 2.0, 4.0}) {
    a.run(t);
    b.run(t);
    for (const char* joint : {"first", "second"})
      EXPECT_NEAR(a.component(joint, "angle").e, b.component(joint, "angle").e, 1e-8) << joint << " at " << t;
    for (int row = 0; row < 2; ++row) EXPECT_EQ(a.mode(row), b.mode(row)) << t;
  }
  EXPECT_NEAR(a.unaccounted(), 0, 1e-8);
  EXPECT_NEAR(b.unaccounted(), 0, 1e-8);
}

// A wheel on its axle carries its weight whatever it does: omega falls at mu r m g / J, and then it stands.
TEST_P(Coordinates, WheelOnAnAxleStopsAtTheTimeOfItsBearingFriction) {
  Machine m(R"(
gravity: [0, -9.81, 0]
bodies: {wheel: {type: planar, mass: 4, inertia: 0.3, position: [0, 0], angular_velocity: 2 rad/s}}
joints: {axle: {type: revolute, between: [ground, wheel], friction: {coefficient: 0.2, radius: 25 mm}}}
)",
            GetParam());
  const double alpha = 0.2 * 0.025 * 4 * 9.81 / 0.3;
  const std::vector<double> sticks = m.run(5 * 2 / alpha, "sticks");
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], 2 / alpha, kTolerance);
  EXPECT_NEAR(m.component("axle", "angle").e, std::remainder(0.5 * 4 / alpha, 2 * M_PI), kTolerance);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// A rod that turns about a pin at distance l of its mass centre without other loads: N = m l sqrt(omega^4 + alpha^2),
// J alpha = -mu r N, J about the pin, so alpha = -kappa omega^2 with kappa = c / sqrt(1 - c^2), c = mu r m l / J, and
// omega = omega_0 / (1 + kappa omega_0 t). Friction takes part in its own load.
TEST(JointFriction, FeedsBackOnItsOwnLoad) {
  const double m0 = 2, l = 0.5, J = 0.04 + m0 * l * l, mu = 0.8, r = 0.3, c = mu * r * m0 * l / J;
  const double kappa = c / std::sqrt(1 - c * c), omega0 = 3;
  Machine m(R"(
bodies: {rod: {type: planar, mass: 2, inertia: 0.04, position: [0.5, 0], velocity: [0, 1.5], angular_velocity: 3 rad/s}}
joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0], friction: {coefficient: 0.8, radius: 0.3 m}}}
)");
  for (const double t : {0.1, 1.0, 5.0}) {
    m.run(t);
    EXPECT_NEAR(m.component("pin", "angle").de, omega0 / (1 + kappa * omega0 * t), kTolerance) << t;
  }
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// c = mu r m l / J >= 1: no deceleration satisfies the equations.
TEST(JointFriction, ThatLoadsItselfWithoutEndJamsAndTheJointIsNamed) {
  try {
    Machine m(R"(
bodies: {rod: {type: planar, mass: 2, inertia: 0.04, position: [0.5, 0], velocity: [0, 1.5], angular_velocity: 3 rad/s}}
joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0], friction: {coefficient: 0.8, radius: 0.7 m}}}
)");
    m.run(1);
    FAIL() << "no diagnosis";
  } catch (const SolveError& e) {
    EXPECT_NE(std::string(e.what()).find("pin"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("jam"), std::string::npos) << e.what();
  }
}

// The rail holds the slider down as well as up: a = -mu |F_y - m g| / m whichever sign the reaction has.
class Slider : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Lifts, Slider, testing::Values(0.0, 12.0, 19.62, 50.0));

TEST_P(Slider, OnARailFeelsTheSizeOfABilateralReaction) {
  const double lift = GetParam(), N = std::abs(lift - 2 * 9.81);
  Machine m("gravity: [0, -9.81, 0]\nparameters: {lift: " + std::to_string(lift) + R"(}
bodies: {block: {type: planar, mass: 2, inertia: 0.1, position: [0, 0], velocity: [3, 0]}}
joints: {rail: {type: prismatic, between: [ground, block], at: [0, 0], axis: x, friction: {coefficient: 0.3, length: 10 cm}}}
forces: {pull: {type: force, on: block, components: [0, lift]}}
)");
  const double a = 0.3 * N / 2;
  m.run(0.5);
  EXPECT_NEAR(m.component("rail", "displacement").de, 3 - 0.5 * a, kTolerance);
  m.run(40);
  EXPECT_NEAR(m.component("rail", "displacement").de, N > 1e-9 ? std::max(0.0, 3 - 40 * a) : 3, kTolerance);
  EXPECT_EQ(m.mode(), N > 1e-9 ? Mode::stick : Mode::slide);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// A force F along the guide at the lever arm e: the moment F e is carried by a pair F e / L at the ends of the guide,
// so |friction| <= mu 2 F e / L. It locks for mu > L / (2 e), whatever F; below it slides with a = F (1 - 2 mu e / L) /
// m.
TEST(JointFriction, GuideLocksItselfBeyondTheCriticalLeverArm) {
  const auto guide = [](double mu, double F) {
    return "parameters: {mu: " + std::to_string(mu) + ", F: " + std::to_string(F) + R"(}
bodies: {block: {type: planar, mass: 2, inertia: 0.1, position: [0, 0], frames: {arm: [0, 0.3]}}}
joints: {guide: {type: prismatic, between: [ground, block], axis: x, friction: {coefficient: mu, length: 0.2 m}}}
forces: {push: {type: force, on: block.arm, components: [F, 0]}}
)";
  };
  const double critical = 0.2 / (2 * 0.3);
  for (const double F : {1.0, 1e4}) {
    Machine locked(guide(critical * 1.001, F));
    locked.run(0.5);
    EXPECT_EQ(locked.mode(), Mode::stick) << F;
    EXPECT_NEAR(locked.component("guide", "displacement").e, 0, 1e-12 * F);
    Machine slides(guide(critical * 0.9, F));
    slides.run(0.5);
    EXPECT_EQ(slides.mode(), Mode::slide) << F;
    EXPECT_NEAR(slides.component("guide", "displacement").e, 0.5 * 0.25 * F * 0.1 / 2, 1e-9 * F);
  }
}

// AF-21: bushings l - a apart, the load F_N a distance a beyond the lower one: F_C = mu (l + a)/(l - a) |F_N|.
TEST(JointFriction, TelescopeIsHeldBackAsItsTwoBushingsAreLoaded) {
  const double l = 1.5, a = 0.4, mu = 0.1, F = 30;
  Machine m(R"(
bodies: {tube: {mass: 5, inertia: [1, 1, 0.1], position: [0, 0, 0], velocity: [0, 0, 4], frames: {end: [0, 0, -0.95]}}}
joints: {telescope: {type: prismatic, between: [ground, tube], at: [0, 0, 0], axis: z, friction: {coefficient: 0.1, length: 1.1 m}}}
forces: {side: {type: force, on: tube.end, components: [18, -24, 0]}}
)");
  m.run(0.3);
  EXPECT_NEAR(m.component("telescope", "displacement").de, 4 - 0.3 * mu * (l + a) / (l - a) * F / 5, kTolerance);
}

// PV-24: a rod of 2 m slides with one end on a line that holds it from both sides, mu = 0.5, inclined by 30 degrees and
// turning at 1 rad/s. Ten published digits; the last of the third is cut in the specification, not rounded.
TEST(JointFriction, CouplesTheMultipliersOfPV24) {
  Machine m(R"(
gravity: [0, -9.81, 0]
parameters: {phi: 30 deg}
bodies:
  rod:
    {type: planar, mass: 1, inertia: 1/3, position: [-cos(phi), sin(phi)], orientation: -phi, angular_velocity: -1,
     velocity: [3, cos(phi)], frames: {end: [1, 0]}}
joints:
  line: {type: point-on-curve, between: [ground, rod.end], curve: {line: true}, friction: {coefficient: 0.5}}
)");
  const Vec& a = m.stepper.acceleration();
  EXPECT_NEAR(a[0], -1.790053492, 1e-9);
  EXPECT_NEAR(a[1], -6.229893016, 1e-9);
  EXPECT_NEAR(-a[2], -6.616310550738, 1e-9);
  EXPECT_NEAR(m.stepper.lambda()[0], 3.580106983733729, 1e-12);
}

// A block on a carrier that is driven to and fro, x = A sin(Omega t): it slips from m A Omega^2 sin(Omega t) = F on,
// its own velocity then falls at F / m until the carrier's is met again; from there on it sticks or slips by the same
// law.
TEST_P(Coordinates, BlockOnADrivenCarrierSlipsAndSticksAtTheTimesOfItsVelocities) {
  const double A = 0.1, Omega = 8, F = 9, mass = 2;
  Machine m(R"(
parameters: {A: 0.1, Omega: 8 1/s}
bodies:
  carrier: {type: planar, mass: 5, inertia: 0.1, position: [0, 0]}
  block: {type: planar, mass: 2, inertia: 0.1, position: [0, 0], velocity: [0.8, 0]}
joints:
  drive: {type: prismatic, between: [ground, carrier], axis: x, drive: A*sin(Omega*t)}
  guide: {type: prismatic, between: [carrier, block], axis: x, friction: {force: 9 N}}
)",
            GetParam());
  EXPECT_EQ(m.mode(), Mode::stick);
  const double slip = std::asin(F / (mass * A * Omega * Omega)) / Omega;
  const std::vector<double> slides = m.run(slip + 0.01, "slides");
  ASSERT_EQ(slides.size(), 1u);
  EXPECT_NEAR(slides[0], slip, kTolerance);
  // Relative velocity positive: the carrier slows down faster than friction can slow the block.
  const double v0 = A * Omega * std::cos(Omega * slip);
  const auto relative = [&](double t) { return v0 - F / mass * (t - slip) - A * Omega * std::cos(Omega * t); };
  const double stop = root(relative, slip + 0.1, 0.8);
  const double displaced = [&] {
    const double s = stop - slip;
    return v0 * s - 0.5 * F / mass * s * s - A * (std::sin(Omega * stop) - std::sin(Omega * slip));
  }();
  const bool holds = mass * A * Omega * Omega * std::abs(std::sin(Omega * stop)) <= F;
  const std::vector<double> stops = m.run(stop + 1e-3, holds ? "sticks" : "slides back");
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_NEAR(stops[0], stop, kTolerance);
  EXPECT_NEAR(m.component("guide", "displacement").e, displaced, 1e-5);  // a millisecond later
  m.run(4);
  EXPECT_NEAR(m.unaccounted(), 0, 1e-8);
}

// Slip on the surface of a cylinder with J / r^2 = m: friction opposes the helical slip, whose direction stays, and
// both motions stop together after |slip| / (mu N / m).
TEST(JointFriction, CylinderSlipsAlongAHelixThatKeepsItsDirection) {
  Machine m(R"(
gravity: [0, -9.81, 0]
bodies: {sleeve: {mass: 2, inertia: [0.02, 0.02, 0.005], position: [0, 0, 0], velocity: [0, 0, 0.3], angular_velocity: [0, 0, 8]}}
joints: {rod: {type: cylindrical, between: [ground, sleeve], at: [0, 0, 0], axis: z, friction: {coefficient: 0.25, radius: 50 mm, length: 0.2 m}}}
)");
  const double slip = std::hypot(0.3, 0.05 * 8), stop = slip / (0.25 * 9.81);
  m.run(0.5 * stop);
  EXPECT_NEAR(m.component("rod", "displacement").de, 0.15, kTolerance);
  EXPECT_NEAR(m.component("rod", "angle").de, 4, kTolerance);
  const std::vector<double> sticks = m.run(2 * stop, "sticks");
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], stop, 1e-8);
  EXPECT_NEAR(m.component("rod", "displacement").e, 0.5 * 0.3 * stop, 1e-8);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// Thrust bearing and radial bearing together: T = mu (r R + r_c |A|), on a shaft inclined by 30 degrees.
TEST(JointFriction, ShaftCarriesItsWeightRadiallyAndOnItsCollar) {
  Machine m(R"(
gravity: [0, 0, -9.81]
bodies: {shaft: {mass: 3, inertia: [0.02, 0.02, 0.02], position: [0, 0, 0], angular_velocity: [2.5, 0, 4.330127018922193]}}
joints: {bearing: {type: revolute, between: [ground, shaft], at: [0, 0, 0], axis: [0.5, 0, 0.8660254037844386], friction: {coefficient: 0.1, radius: 20 mm, collar_radius: 30 mm}}}
)");
  const double T = 0.1 * 3 * 9.81 * (0.02 * 0.5 + 0.03 * std::sqrt(0.75));
  m.run(0.5);
  EXPECT_NEAR(m.component("bearing", "angle").de, 5 - 0.5 * T / 0.02, kTolerance);
}

// A plate on a plane joint, held down by nothing but its weight: slides as a block does, and its turning is braked at
// the given radius.
TEST(JointFriction, PlateOnAPlaneSlidesAndTurnsByItsOwnTwoLimits) {
  Machine m(R"(
gravity: [0, 0, -9.81]
bodies: {plate: {mass: 3, inertia: [0.1, 0.1, 0.2], position: [0, 0, 0], velocity: [1.2, -0.9, 0], angular_velocity: [0, 0, 5]}}
joints: {table: {type: planar, between: [ground, plate], friction: {coefficient: 0.3, radius: 10 cm}}}
)");
  const double a = 0.3 * 9.81, alpha = 0.3 * 0.1 * 3 * 9.81 / 0.2;
  m.run(0.25);
  EXPECT_NEAR(m.component("table", "x").de, 0.8 * (1.5 - 0.25 * a), kTolerance);
  EXPECT_NEAR(m.component("table", "y").de, -0.6 * (1.5 - 0.25 * a), kTolerance);
  EXPECT_NEAR(m.component("table", "rz").de, 5 - 0.25 * alpha, kTolerance);
  const std::vector<double> sticks = m.run(4, "sticks");
  ASSERT_EQ(sticks.size(), 2u);
  EXPECT_NEAR(sticks[0], 1.5 / a, 1e-8);
  EXPECT_NEAR(sticks[1], 5 / alpha, 1e-8);
}

// Smoothed: the same wheel, with what is lost while its slip is below the velocity of the law; above it friction is the
// same.
TEST_P(Coordinates, SmoothedFrictionSlowsTheWheelAsLongAsItTurnsFastEnough) {
  Machine m(R"(
gravity: [0, -9.81, 0]
bodies: {wheel: {type: planar, mass: 4, inertia: 0.3, position: [0, 0], angular_velocity: 2 rad/s}}
joints: {axle: {type: revolute, between: [ground, wheel], friction: {coefficient: 0.2, radius: 25 mm, velocity: 1 mm/s}}}
)",
            GetParam(), true);
  const double alpha = 0.2 * 0.025 * 4 * 9.81 / 0.3;
  m.run(1);
  EXPECT_NEAR(m.component("axle", "angle").de, 2 - alpha, kTolerance);
  m.run(2 / alpha + 1);
  EXPECT_LT(std::abs(m.component("axle", "angle").de), 1e-6);
  EXPECT_NEAR(m.unaccounted(), 0, 1e-8);
}

// Saved and restored in the middle of sticking and sliding, the run repeats its digits.
TEST(JointFriction, SurvivesSaveAndRestore) {
  const std::string text = R"(
gravity: [0, -9.81, 0]
bodies:
  upper: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3], end: [0, -0.3]}}
  lower: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3]}}
joints:
  first: {type: revolute, between: [ground, upper.top], angle: 1.2 rad, friction: {torque: 0.4 N*m}}
  second: {type: revolute, between: [upper.end, lower.top], angle: 0.4 rad, friction: {coefficient: 0.4, radius: 20 mm}}
)";
  Machine a(text), b(text);
  a.run(0.6);
  a.stepper.refresh();
  std::vector<double> memory(a.stepper.memory_size());
  a.stepper.save(memory);
  b.stepper.restore(memory);
  a.run(1.5);
  b.run(1.5);
  for (Eigen::Index i = 0; i < a.stepper.state().q.size(); ++i) {
    EXPECT_EQ(a.stepper.state().q[i], b.stepper.state().q[i]);
    EXPECT_EQ(a.stepper.state().v[i], b.stepper.state().v[i]);
  }
}

}  // namespace
}  // namespace clatter::contact
