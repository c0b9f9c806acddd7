// Time stepping over rigid contacts: Moreau-Jean and non-smooth generalized-alpha against closed forms.
//
// Bounds for quantities behind an event are multiples of h that follow from the largest acceleration at the event: an
// event is placed within one step, so a velocity is wrong by at most h times the jump of the acceleration there, a
// position by that times the time since.
#include "contact/time_stepping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "contact/models.hpp"

namespace clatter::contact {
namespace {

constexpr double pi = std::numbers::pi;

template <class Scheme>
class TimeStepping : public ::testing::Test {};
using Schemes = ::testing::Types<Moreau, Alpha>;
TYPED_TEST_SUITE(TimeStepping, Schemes);

double remainder(Bench& b) { return b.energy() - b.dynamics().stored_energy(b.begin()) - b.stepper().work().sum(); }

// PV-10: slope 30 degrees, g = 10.
Model incline(double mu, double speed) {
  ModelMaker m(Vec3(0, -10, 0));
  const double slope = pi / 6;
  const Vec3 up(std::cos(slope), std::sin(slope), 0), normal(-std::sin(slope), std::cos(slope), 0);
  const int block = m.rectangle(m.planar_body(1, 0.01, 0.05 * normal, speed * up, slope), 0.2, 0.1);
  m.contact(block, m.line(-1, slope), 0, mu);
  return m.model;
}

struct AlongSlope {
  double x, v;
  explicit AlongSlope(const State& s)
      : x(s.q[0] * std::cos(pi / 6) + s.q[1] * std::sin(pi / 6)),
        v(s.v[0] * std::cos(pi / 6) + s.v[1] * std::sin(pi / 6)) {}
};

TYPED_TEST(TimeStepping, BlockThrownUpAnInclineStopsAndSlidesBack) {
  const double stop = 0.297086290, down = 3.267949192, rest = 1 - stop;  // PV-10
  for (const double h : {1e-2, 5e-3, 2.5e-3, 1.25e-3}) {
    Bench b(incline(0.2, 2), h, TypeParam{});
    const double x0 = AlongSlope(b.state()).x;
    double stopped = 0;
    b.run(1, [&] {
      if (stopped == 0 && AlongSlope(b.state()).v <= 1e-9) stopped = b.state().t;
    });
    EXPECT_LT(std::abs(stopped - stop), h);
    // The acceleration jumps by 2 mu g cos(slope) < 3.5 at the stop.
    const AlongSlope end(b.state());
    EXPECT_LT(std::abs(end.v + down * rest), 3.5 * h);
    EXPECT_LT(std::abs(end.x - x0 - (stop - 0.5 * down * rest * rest)), 3.5 * h);
    EXPECT_LT(b.stepper().certificate().penetration, 1e-12);
  }
}

TYPED_TEST(TimeStepping, BlockOnASteepEnoughRoughInclineDoesNotCreep) {
  Bench b(incline(0.6, 2), 2e-3, TypeParam{});  // tan 30 deg = 0.577 < 0.6
  b.run(1);
  const Vec q = b.state().q;
  b.run(3);
  // Rounding of positions of size 0.3, 1000 steps.
  EXPECT_LT((b.state().q - q).norm() / 2, 1e-12);
  ASSERT_EQ(b.stepper().contact_samples().size(), 2u);
  double N = 0, T = 0;
  for (const ContactSample& c : b.stepper().contact_samples()) {
    EXPECT_EQ(c.mode, Mode::stick);
    N += c.force[0];
    T += c.force[1];
  }
  EXPECT_NEAR(N, 10 * std::cos(pi / 6), 1e-9);
  EXPECT_NEAR(std::abs(T), 10 * std::sin(pi / 6), 1e-9);
}

Model dropped_ball(double restitution) {
  ModelMaker m(Vec3(0, -10, 0));
  const int ball = m.circle(m.planar_body(1, 0.004, Vec3(0, 1.1, 0), Vec3::Zero()), 0.1);
  m.contact(ball, m.line(-1), restitution, 0.3);
  return m.model;
}

TYPED_TEST(TimeStepping, BouncingBallHitsAtItsTimesToFirstOrder) {
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
    Bench b(dropped_ball(0.5), h, TypeParam{});
    double t = std::sqrt(0.2), speed = 10 * t, last = 0;
    int impacts = 0;
    b.run(1.3, [&] {
      const double v = b.state().v[1];
      if (last < -1e-3 && v >= 0 && impacts < 4) {
        ++impacts;
        // Each impact is up to a step late and changes its speed by up to g h, the flight after it by 2 h.
        EXPECT_LT(std::abs(b.state().t - t), (2 * impacts - 1) * h) << impacts;
        speed *= 0.5;
        t += 0.2 * speed;
      }
      last = v;
    });
    EXPECT_EQ(impacts, 4);
    // It rests after its accumulation point at 3 sqrt(0.2) = 1.34 s, and stays on the floor.
    b.run(2);
    EXPECT_NEAR(b.state().q[1], 0.1, 1e-14);
    EXPECT_LT(b.state().v.norm(), 1e-13);
  }
}

TYPED_TEST(TimeStepping, ElasticBallKeepsItsEnergyWhateverTheStep) {
  for (const double h : {1e-2, 3e-3}) {
    Bench b(dropped_ball(1), h, TypeParam{});
    const double E = b.energy();
    double lowest = 1;
    b.run(10, [&] { lowest = std::min(lowest, b.state().q[1]); });
    EXPECT_NEAR(b.energy(), E, 1e-11 * E);  // rounding of 1000 steps and more
    EXPECT_GT(lowest, 0.1 - 1e-14);
  }
}

// PV-14, on a table that a drive accelerates. Blocks narrow upwards, so that no corner stands on a corner.
Model tower(const std::vector<double>& mu, double a0, bool joint_coordinates) {
  std::string text = "clatter: 1\ntitle: tower\ngravity: [0, -10, 0]\ncoordinates: ";
  text += joint_coordinates ? "joint" : "absolute";
  text += "\nbodies:\n  table: {type: planar, mass: 5 kg, inertia: 1}\njoints:\n  rail: {type: prismatic, between: ";
  text += "[ground, table], axis: x, drive: " + std::to_string(a0 / 2) + "*t^2}\nsimulate: {end: 1 s}\n";
  ModelMaker m(load_model_text(text, "tower"));
  int below = m.line(0);
  for (std::size_t i = 0; i < mu.size(); ++i) {
    const double k = static_cast<double>(i);
    const int block =
        m.rectangle(m.planar_body(1, 1.0 / 12, Vec3(0, 0.05 + 0.1 * k, 0), Vec3::Zero()), 1 - 0.02 * k, 0.1);
    m.contact(block, below, 0, mu[i]);
    below = block;
  }
  return m.model;
}

template <class Scheme>
void expect_tower(const std::vector<double>& mu, double a0, const std::vector<double>& expected) {
  for (const bool joint : {true, false}) {
    Bench b(tower(mu, a0, joint), 1e-3, Scheme{});
    b.run(0.1);
    const Eigen::Index first = b.state().v.size() - 3 * static_cast<Eigen::Index>(mu.size());
    for (std::size_t i = 0; i < mu.size(); ++i)
      // Constant accelerations from the first step on: met to the tolerance of the contact problem.
      EXPECT_NEAR(b.state().v[first + 3 * static_cast<Eigen::Index>(i)] / 0.1, expected[i], 1e-7) << i << " " << joint;
    EXPECT_LT(std::abs(remainder(b)), 1e-4);
  }
}

TYPED_TEST(TimeStepping, TowerOfThreeBlocksOnAnAcceleratedTable) {
  expect_tower<TypeParam>({0.5, 0.3, 0.6}, 4, {4, 3, 3});
}
TYPED_TEST(TimeStepping, TowerOfTenBlocksOnAnAcceleratedTable) {
  expect_tower<TypeParam>({0.25, 0.4, 0.2, 0.35, 0.15, 0.3, 0.1, 0.25, 0.4, 0.2}, 3,
                          {3, 3, 3, 3, 2.5, 2.5, 1, 1, 1, 1});
}

TYPED_TEST(TimeStepping, StackAtRestDoesNotMove) {
  Bench b(tower(std::vector<double>(10, 0.5), 0, true), 2e-3, TypeParam{});
  const Vec q = b.state().q;
  b.step(2);
  // Which of the corners that depend on each other carry may change, but nothing closes, opens, slips or stops to.
  std::size_t changes = 0;
  b.run(2, [&] { changes += b.stepper().changes().size(); });
  EXPECT_EQ(changes, 0u);
  EXPECT_LT((b.state().q - q).norm(), 1e-10);
  EXPECT_LT(b.state().v.norm(), 1e-10);
}

// PV-20 with eps_T = nu = 1: states after the third impact.
TYPED_TEST(TimeStepping, SuperballFollowsTheReversibleImpactMap) {
  for (const double h : {1e-2, 1e-3}) {
    ModelMaker m(Vec3::Zero());
    const int ball = m.circle(m.planar_body(1, 0.004, Vec3(0, 0.9, 0), Vec3(1, -1, 0)), 0.1);
    for (const int wall : {m.line(-1), m.line(-1, pi, Vec3(0, 1, 0))}) {
      RigidContact& law = m.contact(ball, wall, 1, 1);
      law.tangential_restitution = 1;
      law.reversibility = 1;
    }
    Bench b(m.model, h, TypeParam{});
    b.run(2.8);
    EXPECT_NEAR(b.state().v[0], -333.0 / 343, 1e-11);
    EXPECT_NEAR(b.state().v[2], 1300.0 / 343, 1e-9);
    EXPECT_NEAR(b.energy(), 1, 1e-12);
  }
}

TYPED_TEST(TimeStepping, SphereThatSlidesEndsRollingWithFiveSeventhsOfItsSpeed) {
  const double v0 = std::hypot(1, 0.5), stop = 2 * v0 / (7 * 3.0);  // mu g = 3
  const double distance = v0 * stop - 1.5 * stop * stop + (0.5 - stop) * 5 * v0 / 7;
  for (const double h : {1e-2, 5e-3, 2.5e-3}) {
    ModelMaker m(Vec3(0, 0, -10));
    const int ball = m.sphere(m.spatial_body(1, Vec3::Constant(0.004), Vec3(0, 0, 0.1), Vec3(1, 0.5, 0)), 0.1);
    m.contact(ball, m.plane(-1), 0, 0.3);
    Bench b(m.model, h, TypeParam{});
    b.run(0.5);
    EXPECT_NEAR(b.state().v[0], 5.0 / 7, 1e-11);
    EXPECT_NEAR(b.state().v[1], 2.5 / 7, 1e-11);
    EXPECT_LT(std::abs(std::hypot(b.state().q[0], b.state().q[1]) - distance), 3 * h * h);
    for (const ContactSample& c : b.stepper().contact_samples()) EXPECT_EQ(c.mode, Mode::stick);
  }
}

TYPED_TEST(TimeStepping, BoxRestsOnAPlane) {
  ModelMaker m(Vec3(0, 0, -10));
  const int box = m.box(m.spatial_body(1, Vec3::Constant(0.01), Vec3(0, 0, 0.1), Vec3::Zero()), Vec3(0.4, 0.3, 0.2));
  m.contact(box, m.plane(-1), 0.2, 0.5);
  Bench b(m.model, 2e-3, TypeParam{});
  const Vec q = b.state().q;
  b.run(2);
  EXPECT_LT((b.state().q - q).norm(), 1e-12);
  double N = 0;
  for (const ContactSample& c : b.stepper().contact_samples()) N += c.force[0];
  EXPECT_NEAR(N, 10, 1e-8);
}

TYPED_TEST(TimeStepping, TossedBoxesNeverGainEnergyAndComeToRest) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int toss = 0; toss < 6; ++toss) {
    ModelMaker m(Vec3(0, 0, -10));
    const Quat turned = Quat(1, u(random), u(random), u(random)).normalized();
    const int body = m.spatial_body(1, Vec3(0.01, 0.02, 0.015), Vec3(0, 0, 0.6), Vec3(u(random), u(random), u(random)),
                                    5 * Vec3(u(random), u(random), u(random)), turned);
    m.contact(m.box(body, Vec3(0.4, 0.3, 0.2)), m.plane(-1), 0.3 * (toss % 3), 0.3);
    Bench b(m.model, 1e-3, TypeParam{});
    const double E0 = b.energy();
    double before = E0, gain = 0;
    b.run(6, [&] {
      const double E = b.energy();
      gain = std::max(gain, E - before);
      before = E;
    });
    // A spinning body's own error of integration in a step, of third order in h |w|; no impact may add to it.
    EXPECT_LT(gain, 1e-5 * E0) << toss;
    EXPECT_LT(b.state().v.norm(), 1e-10) << toss;
    EXPECT_LT(b.stepper().certificate().penetration, 1e-12) << toss;
    EXPECT_LT(std::abs(remainder(b)), 1e-3 * E0) << toss;
  }
}

std::string rod(bool joint) {
  return std::string("clatter: 1\ntitle: rod\ngravity: [0, -10, 0]\ncoordinates: ") + (joint ? "joint" : "absolute") +
         "\nbodies:\n  rod: {type: planar, mass: 1 kg, inertia: 0.08333333333333333, frames: {root: {at: [0, 0.5]}}}\n"
         "joints:\n  pin: {type: revolute, between: [ground, rod.root], axis: z, angle: 1}\nsimulate: {end: 1 s}\n";
}

// Rod of length 1 released at 1 rad; its tip meets a wall at x = 0.
Model pendulum(bool joint, double restitution) {
  ModelMaker m(load_model_text(rod(joint), "rod"));
  const int tip = m.circle(0, 0);
  m.model.shapes.back().at.placement.position = Vec3(0, -0.5, 0);
  m.contact(tip, m.line(-1, -pi / 2), restitution, 0);
  return m.model;
}

TYPED_TEST(TimeStepping, PendulumBouncesOffAWallInBothKindsOfCoordinates) {
  const double before = std::sqrt(30 * (1 - std::cos(1.0)));  // energy: w^2 / 6 = 5 (1 - cos 1)
  for (const bool joint : {true, false})
    for (const double h : {4e-3, 2e-3, 1e-3}) {
      Bench b(pendulum(joint, 0.5), h, TypeParam{});
      double last = 0, after = 0;
      b.run(0.8, [&] {
        const double w = b.state().v[joint ? 0 : 2];
        if (last < 0 && w > 0) after = w;
        last = w;
      });
      EXPECT_LT(std::abs(after - 0.5 * before), h);
      EXPECT_LT(b.stepper().certificate().penetration, 1e-12);
      EXPECT_LT(std::abs(remainder(b)), 50 * h * h);
      Vec phi(b.dynamics().sizes().nh), rate(b.dynamics().sizes().nc());
      b.dynamics().constraints(b.state(), phi, rate);
      if (phi.size() > 0) {
        EXPECT_LT(phi.lpNorm<Eigen::Infinity>(), 1e-12);
        EXPECT_LT(rate.lpNorm<Eigen::Infinity>(), 1e-12);
      }
    }
}

// --- orders ----------------------------------------------------------------------------------------------------------

// Disc of radius 0.1 in a bowl of radius 0.5, rolling from 1 rad.
Model bowl(double mu) {
  ModelMaker m(Vec3(0, -10, 0));
  const double rho = 0.4;
  const int disc = m.circle(m.planar_body(1, 0.005, rho * Vec3(std::sin(1.0), -std::cos(1.0), 0), Vec3::Zero()), 0.1);
  m.shape(-1, ContactShape::Kind::circle).radius = 0.5;
  m.model.shapes.back().hollow = true;
  m.contact(disc, m.last_shape(), 0, mu);
  return m.model;
}

// Angle of a pendulum phi'' = -k sin phi from rest at phi0, by RK4 with steps of 1e-4 (error below 1e-13).
double pendulum_angle(double k, double phi0, double t) {
  const int n = static_cast<int>(std::lround(t / 1e-4));
  const double h = t / n;
  double x = phi0, v = 0;
  for (int i = 0; i < n; ++i) {
    const auto a = [&](double y) { return -k * std::sin(y); };
    const double k1x = v, k1v = a(x), k2x = v + h / 2 * k1v, k2v = a(x + h / 2 * k1x), k3x = v + h / 2 * k2v,
                 k3v = a(x + h / 2 * k2x), k4x = v + h * k3v, k4v = a(x + h * k3x);
    x += h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x);
    v += h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v);
  }
  return x;
}

// Orders between steps h, h/2, h/4; the error of the finest must be what is claimed, too.
template <class Error>
double order_of(Error&& error) {
  const double e1 = error(5e-3), e2 = error(2.5e-3), e3 = error(1.25e-3);
  return std::min(std::log2(e1 / e2), std::log2(e2 / e3));
}

TYPED_TEST(TimeStepping, IsOfSecondOrderInLastingContactOnACurvedPath) {
  // Rolling: 3/2 m rho phi'' = -m g sin phi, rho = 0.4; without friction m rho phi'' = -m g sin phi.
  for (const double mu : {2.0, 0.0}) {
    const double k = 10 / 0.4 / (mu > 0 ? 1.5 : 1.0), exact = pendulum_angle(k, 1, 1);
    const double order = order_of([&](double h) {
      Bench b(bowl(mu), h, TypeParam{});
      b.run(1);
      EXPECT_LT(b.stepper().certificate().penetration, 1e-12);
      return std::abs(std::atan2(b.state().q[0], -b.state().q[1]) - exact);
    });
    EXPECT_GT(order, 1.8) << mu;
  }
}

TYPED_TEST(TimeStepping, IsOfSecondOrderAwayFromContact) {
  for (const bool joint : {true, false}) {
    ModelMaker m(load_model_text(rod(joint), "rod"));
    const double exact = pendulum_angle(15, 1, 1);
    const double order = order_of([&](double h) {
      Bench b(m.model, h, TypeParam{});
      b.run(1);
      return std::abs((joint ? b.state().q[0] : b.state().q[2]) - exact);
    });
    EXPECT_GT(order, 1.8) << joint;
  }
}

TYPED_TEST(TimeStepping, IsOfFirstOrderThroughImpacts) {
  // After its impact the rod swings back as w^2 = w0^2 - 30 (1 - cos phi): reference by the same integration, turned
  // round at the wall.
  Bench fine(pendulum(true, 0.5), 1e-5, TypeParam{});
  fine.run(0.8);
  for (const double h : {8e-3, 4e-3, 2e-3, 1e-3}) {
    Bench b(pendulum(true, 0.5), h, TypeParam{});
    b.run(0.8);
    // The impact comes up to a step late; 5.6 rad/s is the jump of the velocity.
    EXPECT_LT(std::abs(b.state().q[0] - fine.state().q[0]), 5.6 * h);
  }
}

// --- what a run needs ------------------------------------------------------------------------------------------------

TYPED_TEST(TimeStepping, ARestoredRunRepeatsTheDigits) {
  const Model model = dropped_ball(0.7);
  Bench a(model, 3e-3, TypeParam{});
  a.run(0.9);
  std::vector<double> memory(a.stepper().memory_size());
  a.stepper().save(memory);
  a.run(2);
  Bench b(model, 3e-3, TypeParam{});
  b.stepper().restore(memory);
  b.stepper().refresh();
  b.run(2);
  EXPECT_EQ(a.state().q, b.state().q);
  EXPECT_EQ(a.state().v, b.state().v);
  EXPECT_EQ(a.stepper().work(), b.stepper().work());
  EXPECT_EQ(a.stepper().certificate().energy, b.stepper().certificate().energy);
}

TYPED_TEST(TimeStepping, LedgerSplitsFrictionAndImpacts) {
  // A block that is dropped by 0.2 and slides on: impact takes m g 0.2 without restitution, friction the rest.
  ModelMaker m(Vec3(0, -10, 0));
  const int block = m.rectangle(m.planar_body(1, 0.01, Vec3(0, 0.25, 0), Vec3(2, 0, 0)), 0.4, 0.1);
  RigidContact& law = m.contact(block, m.line(-1), 0, 0.2);
  law.impact_friction = 0;
  Bench b(m.model, 1e-3, TypeParam{});
  b.run(3);
  EXPECT_LT(b.state().v.norm(), 1e-12);
  const Vec& W = b.stepper().work();
  EXPECT_NEAR(W[b.dynamics().impact_channel(0)], -2, 0.05);
  EXPECT_NEAR(W[b.dynamics().friction_channel(0)], -2, 0.05);
  EXPECT_LT(std::abs(remainder(b)), 1e-4);
}

TEST(MoreauStepper, TakesStiffSpringsImplicitly) {
  // A mass on a floor that a spring of 1e8 N/m swings sideways: explicit methods need h < 2e-4.
  const std::string text =
      "clatter: 1\ntitle: stiff\ngravity: [0, -10, 0]\nbodies:\n  block: {type: planar, mass: 1 kg, inertia: 1, "
      "position: [0.001, 0]}\nforces:\n  spring: {type: spring-damper, quantity: block.position.x, stiffness: 1e8 "
      "N/m}\nsimulate: {end: 1 s}\n";
  ModelMaker m(load_model_text(text, "stiff"));
  m.contact(m.circle(0, 0), m.line(-1), 0, 0);
  Bench b(m.model, 1e-3, Moreau{0.5, true});
  const double E0 = b.energy();
  double most = 0;
  b.run(1, [&] { most = std::max(most, b.energy()); });
  EXPECT_LT(most, E0 * (1 + 1e-9));
  EXPECT_NEAR(b.state().q[1], 0, 1e-13);
}

TEST(MoreauStepper, WallOfTwentyFiveBlocksStands) {
  // 10 to 40 contacts a block: sweeps over blocks instead of dense methods.
  ModelMaker m(Vec3(0, -10, 0));
  const int floor = m.line(-1);
  std::vector<int> shapes;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const int s = m.rectangle(
          m.planar_body(2, 0.01, Vec3(0.201 * (j + 0.25 * (i % 2)), 0.05 + 0.1 * i, 0), Vec3::Zero()), 0.2, 0.1);
      if (i == 0) m.contact(s, floor, 0, 0.6);
      for (int k = std::max(0, (i - 1) * 5); i > 0 && k < i * 5; ++k)
        m.contact(s, shapes[static_cast<std::size_t>(k)], 0, 0.6);
      shapes.push_back(s);
    }
  Bench b(m.model, 2e-3, Moreau{});
  const Vec q = b.state().q;
  b.run(1);
  EXPECT_LT((b.state().q - q).lpNorm<Eigen::Infinity>(), 1e-6);  // kProxTolerance times g h, summed over 500 steps
  EXPECT_LT(b.stepper().certificate().complementarity, 1e-5);
}

}  // namespace
}  // namespace clatter::contact
