// Energy and momentum of crowds, step by step, at tight tolerances and where sweeps end far too early (Y-28, Y-32).
#include <fmt/format.h>

#include <cmath>

#include "crowd/poured.hpp"

namespace clatter::contact {
namespace {

TEST(CrowdEnergy, NeverRisesHoweverEarlySweepsEnd) {
  for (const char* grain : {kBall, kBrick, kRod, kPiece})
    for (const int sweeps : {2, 30}) {
      Crowd c(poured(grain, 4, "friction: 0.5", fmt::format("contact_iterations: {}", sweeps).c_str()));
      const Balance b = balance(c, 0.8);
      EXPECT_LE(b.rise, kRounding) << grain << ", sweeps: " << sweeps;
      EXPECT_LE(b.momentum, kMomentum) << grain << ", sweeps: " << sweeps;
      EXPECT_GT(c.stepper->touching(), 36) << "no pile: " << grain;
    }
}

TEST(CrowdEnergy, NeverRisesUnderTheRelaxedLawByAnySolver) {
  for (const char* solver : {"gauss-seidel", "apgd", "barzilai-borwein"}) {
    std::string text = poured(kBall, 3, "friction: 0.5", "friction_model: relaxed, contact_iterations: 8");
    text.replace(text.find("gauss-seidel"), 12, solver);
    Crowd c(text);
    const Balance b = balance(c, 0.6);
    EXPECT_LE(b.rise, kRounding) << solver;
    EXPECT_LE(b.momentum, kMomentum) << solver;
  }
}

TEST(CrowdEnergy, OfBouncesNeverRisesInTheStaggeredSense) {
  // Newton's restitution in many contacts at once may bring energy in (Kane's paradox is one of them): that part of the
  // impulses is not given. E alone rises by h m g v where something turns around, and falls as much in flight. What
  // neither flies nor bounces is held to E: where a body that rises from its support by u < g h is caught in the same
  // step, the staggered energy rises by m u (g h - u) / 2, at most m (g h)^2 / 8.
  for (const double e : {0.5, 1.0}) {
    Crowd c(poured(kBall, 3, fmt::format("friction: 0.3, restitution: {}", e).c_str(), "contact_iterations: 10"));
    double mass = 0;
    for (const Link& link : c.system->tree.links) mass += link.mass;
    const double caught = mass * std::pow(9.81 * 1e-3, 2) / 8 / c.energy();
    const Balance b = balance(c, 1, true);
    EXPECT_LE(b.rise, caught) << e;
    EXPECT_LE(b.momentum, kMomentum) << e;
    c.engine.observe(c.stepper->state(), nullptr);
    EXPECT_GT(c.stepper->counts().impacts, 50) << "it does not bounce: " << e;
  }
}

TEST(CrowdEnergy, OfABallThatBouncesFullyIsKept) {
  // Restitution 1: the staggered energy is an invariant of flight and of bounces alike, to rounding of 10^4 steps.
  Crowd c(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies: {b: {mass: 1 kg, shape: {sphere: 5 cm}, position: [0, 0, 0.55]}}
shapes: {floor: {on: ground, type: plane}}
contacts: {bounce: {between: [b, floor], law: {type: rigid, restitution: 1}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 10 s}
)");
  const auto kept = [&] { return c.energy() - 0.5 * 1e-3 * 9.81 * c.v()[2]; };
  const double start = kept();
  c.run(10);
  EXPECT_GT(c.stepper->counts().impacts, 10);
  EXPECT_NEAR(kept(), start, 1e-10 * start);
}

TEST(CrowdEnergy, OfATumblingBodyStays) {
  // Free of torque, three moments, spun about the middle one: the midpoint rule keeps the energy of turning and the
  // size of the angular momentum to rounding of 2000 steps; Euler's method would add a part of 1e-2.
  Crowd c(R"(
clatter: 1
bodies: {b: {mass: 1 kg, inertia: [1e-3, 2e-3, 2.5e-3], position: [0, 0, 1], angular_velocity: [0.3, 20, 0.2]}}
shapes: {skin: {on: b, type: sphere, radius: 1 cm}, floor: {on: ground, type: plane}}
contacts: {touch: {between: [skin, floor], law: {type: rigid}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 2 s}
)");
  const Vec3 I(1e-3, 2e-3, 2.5e-3);
  const auto momentum = [&] { return I.cwiseProduct(c.v().segment<3>(3)).norm(); };
  const double energy = c.energy(), L = momentum();
  double turned = 0;
  for (int i = 0; i < 2000; ++i) {
    c.stepper->step(10);
    turned = std::max(turned, std::abs(c.v()[3]));
  }
  EXPECT_GT(turned, 10) << "it does not tumble";
  EXPECT_NEAR(c.energy(), energy, 1e-11 * energy);
  EXPECT_NEAR(momentum(), L, 1e-11 * L);
}

TEST(CrowdEnergy, PenetrationOfAPileAtRestIsATenThousandthOfItsGrains) {
  // Balls that nothing holds would roll on for ever without rolling friction.
  for (const char* grain : {kBall, kBrick, kRod, kPiece}) {
    Crowd c(poured(grain, 3, "friction: 0.5, rolling_friction: 1 mm, drilling_friction: 1 mm",
                   "contact_iterations: 400, contact_tolerance: 1e-6 m/s"));
    const Balance b = balance(c, 2);
    EXPECT_LE(b.rise, kRounding) << grain;
    EXPECT_LE(b.momentum, kMomentum) << grain;
    double size = 1;
    for (const ShapeInstance& s : c.contacts->shapes)
      if (s.link >= 0) size = std::min(size, s.geometry.bound);
    EXPECT_LT(c.stepper->penetration(), 1e-4 * size) << grain;
    c.engine.observe(c.stepper->state(), nullptr);
    for (const LinkMotion& m : c.engine.links().motion) EXPECT_LT(m.v.norm(), 1e-3) << grain;
  }
}

}  // namespace
}  // namespace clatter::contact
