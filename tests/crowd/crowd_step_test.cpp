// Steps of crowds: free flight, landing, sliding, ropes, piles, mixed with joints (Y-13, Y-14, Y-28, Y-32, YV-1 to
// YV-4).
#include <fmt/format.h>

#include "base/error.hpp"
#include "crowd/problems.hpp"
#include "source_root.hpp"

namespace clatter::contact {
namespace {

std::string particle(double step, const char* friction) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.8 m/s^2]
bodies: {{p: {{type: particle, mass: 1 kg, position: [0, 0, 3.001], velocity: [3 m/s, 0, 0]}}}}
shapes: {{floor: {{on: ground, type: plane}}, tip: {{on: p, type: sphere, radius: 1 mm}}}}
contacts: {{slide: {{between: [tip, floor], law: {{type: rigid, friction: 0.3}}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, friction_model: {}, step: {} s, end: 1.2 s}}
)",
                     friction, step);
}

TEST(CrowdStep, FliesAsSemiImplicitEulerDoes) {
  // YV-2: y_n = 3 - g/2 dt^2 n (n + 1), to rounding.
  const double h = 0.01;
  Crowd c(particle(h, "exact"));
  for (int n = 1; n <= 70; ++n) {
    c.stepper->step(10);
    EXPECT_NEAR(c.q()[2], 3.001 - 4.9 * h * h * n * (n + 1), 1e-12);
  }
}

TEST(CrowdStep, ThrownParticleStopsToFirstOrderInTheStep) {
  // YV-1: |x - 2.430612| <= 1.6 dt, and the prototype's own ends under the relaxed law, given to five digits.
  const std::pair<double, double> published[] = {{0.1, 2.28218}, {0.01, 2.41561}, {1e-3, 2.42911}};
  for (const auto& [h, x] : published) {
    Crowd relaxed(particle(h, "relaxed"));
    relaxed.run(3);
    EXPECT_NEAR(relaxed.q()[0], 2.430612, 1.6 * h);
    EXPECT_NEAR(relaxed.q()[0], x, 1e-5) << h;
    EXPECT_GE(relaxed.q()[2], 1e-3 - 1e-12);
    Crowd exact(particle(h, "exact"));
    exact.run(3);
    EXPECT_NEAR(exact.q()[0], 2.430612, 1.6 * h);
    EXPECT_EQ(exact.v()[0], 0);
  }
}

TEST(CrowdStep, HalvingTheStepHalvesTheErrorInFlight) {
  // YV-2: ratio 2 +- 0.2 of the largest error of y(t) against the parabola, up to the landing.
  const auto error = [](double h) {
    Crowd c(particle(h, "exact"));
    double most = 0;
    while (c.stepper->state().t < 0.75) {
      c.stepper->step(10);
      const double t = c.stepper->state().t;
      most = std::max(most, std::abs(c.q()[2] - (3.001 - 4.9 * t * t)));
    }
    return most;
  };
  for (const double h : {0.01, 0.005, 0.0025}) EXPECT_NEAR(error(h) / error(h / 2), 2, 0.2);
}

TEST(CrowdStep, RelaxedSlidingThatStartsOnTheGroundIsThrownUp) {
  // T-6 ("34 mm"): the optimum of one contact lifts off with mu v / (1 + mu^2) = 0.8257 m/s, less what gravity takes in
  // a step: 34.8 mm, and half a step's flight more in this scheme. With Coulomb's law nothing.
  const auto highest = [](const char* friction) {
    Crowd c(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.8 m/s^2]
bodies: {{p: {{type: particle, mass: 1 kg, position: [0, 0, 1 mm], velocity: [3 m/s, 0, 0]}}}}
shapes: {{floor: {{on: ground, type: plane}}, tip: {{on: p, type: sphere, radius: 1 mm}}}}
contacts: {{slide: {{between: [tip, floor], law: {{type: rigid, friction: 0.3}}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, friction_model: {}, step: 1 ms, end: 0.4 s}}
)",
                        friction));
    double most = 0;
    for (int i = 0; i < 300; ++i) {
      c.stepper->step(10);
      most = std::max(most, c.q()[2] - 1e-3);
    }
    return most;
  };
  EXPECT_NEAR(highest("relaxed"), 0.0348, 6e-4);
  EXPECT_LT(highest("exact"), 1e-14);
}

TEST(CrowdStep, RestitutionReversesTheRateOfApproach) {
  Crowd c(R"(
clatter: 1
bodies: {p: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 0.2], velocity: [0, 0, -2 m/s]}}
shapes: {floor: {on: ground, type: plane}}
contacts: {bounce: {between: [p, floor], law: {type: rigid, restitution: 0.5}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 0.1 s}
)");
  c.run(0.1);
  EXPECT_NEAR(c.v()[2], 1, 1e-12);
}

const char* kMixed = R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
coordinates: {}
bodies:
  arm: {{mass: 2 kg, inertia: [0.02, 0.02, 0.02], position: [0.5, 0, 1]}}
  ball: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [0.3, 0, 1.3]}}
joints:
  hinge: {{type: revolute, axis: y, between: [{{on: ground, at: [0, 0, 1]}}, {{on: arm, at: [-0.5, 0, 0]}}]}}
shapes:
  plate: {{on: arm, type: box, size: [1, 0.4, 0.1]}}
  floor: {{on: ground, type: plane}}
contacts:
  touch: {{among: [plate, ball, floor], law: {{type: rigid, friction: 0.4}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, contact_tolerance: 1e-12 m/s, contact_iterations: 5000, step: 1 ms, end: 1 s}}
)";

TEST(CrowdStep, BodiesOnJointsAndFreeOnesMeet) {
  // The same in joint coordinates (a tree) and absolute ones (constraint rows): equal to what the projection onto the
  // joint and the tolerance of the sweeps leave.
  Crowd joint(fmt::format(fmt::runtime(kMixed), "joint")), absolute(fmt::format(fmt::runtime(kMixed), "absolute"));
  for (Crowd* c : {&joint, &absolute}) c->run(0.45);
  EXPECT_GT(joint.stepper->counts().closes, 0) << "they never met";
  const auto ball = [](Crowd& c) {
    c.engine.observe(c.stepper->state(), nullptr);
    return c.engine.frame_state(c.system->bodies[1].frame).p;
  };
  // The scheme differs in first order: rotation about the hinge is one of the tree, of constraint rows otherwise.
  EXPECT_LT((ball(joint) - ball(absolute)).norm(), 2e-3);
  // Sweeps stop where they change rates by 1e-12 m/s; the law is then met to what a hundred more would still change.
  EXPECT_LT(joint.stepper->residual().rate, 1e-10);
  EXPECT_LT(absolute.stepper->residual().rate, 1e-10);
}

TEST(CrowdStep, RatesAreThoseOfTheGaps) {
  // T-3: n . u against differences of the gap, ropes included (T-1: positive apart).
  Crowd c(R"(
clatter: 1
bodies:
  a: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 0], velocity: [0.3, -0.2, 0.1], angular_velocity: [3, 2, 1]}
  b: {mass: 1 kg, inertia: [1, 2, 2.5], position: [0.6, 0.1, 0], velocity: [-0.2, 0.3, 0.4], angular_velocity: [-1, 2, 3]}
contacts:
  rope: {rope: [a, {on: b, at: [0.1, 0.2, 0.3]}], length: 10 m, law: {type: rigid}}
simulate: {method: time-stepping, step: 1 us, end: 1 s}
)");
  std::vector<double> gap;
  for (int i = 0; i < 3; ++i) {
    c.stepper->step(1);
    gap.push_back(c.stepper->entries()[0].gap);
  }
  const Vec3 pa(0, 0, 0), pb = Vec3(0.6, 0.1, 0) + Vec3(0.1, 0.2, 0.3);
  const Vec3 va(0.3, -0.2, 0.1), vb = Vec3(-0.2, 0.3, 0.4) + Vec3(-1, 2, 3).cross(Vec3(0.1, 0.2, 0.3));
  const double rate = -(pa - pb).normalized().dot(va - vb);
  EXPECT_NEAR((gap[2] - gap[0]) / 2e-6, rate, 1e-4);
}

TEST(CrowdStep, ChainsAreMirrorImagesUntilTheyMeet) {
  // YV-4 [A]: symmetry, first contact as in a run without discs and as the source has it, of the discs it names, energy
  // never rising.
  Model model = load_model(source_root() + "/models/yu/yv04_two_chains.yaml");
  Crowd c(model);
  const double m = 1, scale = 20 * m * 9.8 * 5;
  const double start = c.energy();
  double last = start, first = 0;
  for (int i = 0; i < 1300; ++i) {
    c.stepper->step(10);
    const double now = c.energy();
    EXPECT_LE(now, last + 1e-13 * scale) << "at " << c.stepper->state().t;
    last = now;
    if (c.stepper->entries()[0].touching > 0 && first == 0) first = c.stepper->state().t;
    EXPECT_FALSE(first == 0 && c.stepper->entries()[1].touching > 0) << "others met before the ends did";
    if (first == 0)
      for (int k = 0; k < 10; ++k) {
        EXPECT_NEAR(c.q()[3 * k], -c.q()[3 * (10 + k)], 1e-6);
        EXPECT_NEAR(c.q()[3 * k + 1], c.q()[3 * (10 + k) + 1], 1e-6);
      }
  }
  ASSERT_GT(first, 0) << "the chains did not meet";
  EXPECT_LT(last, start - 0.01 * scale) << "contacts took nothing";
  // Without discs: when does the smallest distance of two centres fall to two radii?
  auto without = std::make_shared<CrowdModel>(*model.crowd);
  without->contacts.clear();
  model.crowd = without;
  Crowd free(model);
  double meet = 0;
  while (meet == 0 && free.stepper->state().t < 1.2) {
    free.stepper->step(10);
    for (int k = 0; k < 10; ++k)
      for (int l = 10; l < 20; ++l) {
        const double distance =
            std::hypot(free.q()[3 * k] - free.q()[3 * l], free.q()[3 * k + 1] - free.q()[3 * l + 1]);
        if (distance < 0.3) meet = free.stepper->state().t;
      }
  }
  EXPECT_NEAR(first, meet, 1.5e-3);
  // Published; seen at the end of the step in which it happens.
  EXPECT_NEAR(first - 1e-3, 1.084, 1e-9);
}

std::string box_of_balls(int side, int layers, const char* more, double pitch = 11.5, double disorder = 1) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
parameters: {{d: {3} cm, s: {0}, e: {4} cm}}
assemblies: {{grain: {{bodies: {{ball: {{shape: {{sphere: 5 cm}}, density: 2000 kg/m^3}}}}}}}}
instances:
  heap: {{of: grain, repeat: {{i: {0}, j: {0}, k: {1}, seed: 12345}},
         at: [d*(i - 0.5*(s - 1)) + e*u, d*(j - 0.5*(s - 1)) + e*v, 6 cm + d*k + 0.4*e*w]}}
shapes:
  floor: {{on: ground, type: plane}}
  west: {{on: ground, type: plane, at: [-0.5*(d*s + 3 cm), 0, 0], rotate: {{axis: y, angle: 90 deg}}}}
  east: {{on: ground, type: plane, at: [0.5*(d*s + 3 cm), 0, 0], rotate: {{axis: y, angle: -90 deg}}}}
  south: {{on: ground, type: plane, at: [0, -0.5*(d*s + 3 cm), 0], rotate: {{axis: x, angle: -90 deg}}}}
  north: {{on: ground, type: plane, at: [0, 0.5*(d*s + 3 cm), 0], rotate: {{axis: x, angle: 90 deg}}}}
contacts:
  pile: {{among: ["heap_*.ball"], law: {{type: rigid, friction: 0.5}}}}
  walls: {{between: ["heap_*.ball", [floor, west, east, south, north]], law: {{type: rigid, friction: 0.5}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 3 s{2}}}
)",
                     side, layers, more, pitch, disorder);
}

TEST(CrowdStep, PouredBallsComeToRestOnTheirWeight) {
  Crowd c(box_of_balls(4, 8, ", contact_solver: gauss-seidel"));
  const double mass = 128 * 2000 * 4.0 / 3 * 3.14159265358979 * 0.05 * 0.05 * 0.05;
  double last = c.energy();
  const double start = last;
  for (int i = 0; i < 3000; ++i) {
    c.stepper->step(10);
    const double now = c.energy();
    EXPECT_LE(now, last + 1e-13 * start) << "at " << c.stepper->state().t;
    last = now;
  }
  c.engine.observe(c.stepper->state(), nullptr);
  EXPECT_LT(c.engine.kinetic(), 1e-6 * start);
  EXPECT_LT(c.stepper->penetration(), 1e-4 * 0.05) << "at rest";
  EXPECT_LT(c.stepper->certificate().penetration, 0.01 * 0.05) << "on the way";
  // What the walls and the floor carry is the weight; the balls' forces on each other are theirs alone.
  EXPECT_NEAR(c.stepper->entries()[1].force.z(), mass * 9.81, 1e-3 * mass * 9.81);
  EXPECT_LT(c.stepper->entries()[1].force.head<2>().norm(), 1e-3 * mass * 9.81);
}

TEST(CrowdStep, MomentumChangesByWhatTheWallsAndTheWeightGive) {
  Crowd c(box_of_balls(3, 4, ", contact_solver: gauss-seidel"));
  c.run(0.2);
  const double m = 2000 * 4.0 / 3 * 3.14159265358979323846 * 0.05 * 0.05 * 0.05;
  const auto momentum = [&] {
    Vec3 p = Vec3::Zero();
    for (Eigen::Index i = 0; i < c.v().size(); i += 6) p += m * c.v().segment<3>(i);
    return p;
  };
  for (int i = 0; i < 50; ++i) {
    const Vec3 before = momentum();
    const double t = c.stepper->state().t;
    c.stepper->step(10);
    const double h = c.stepper->state().t - t;
    const Vec3 given = h * (c.stepper->entries()[1].force + Vec3(0, 0, -9.81 * 36 * m));
    EXPECT_LT((momentum() - before - given).norm(), 1e-10 * 36 * m);
  }
}

// Both to the last bit, after some steps with more rows than are swept in one go.
void expect_same_bits(const std::string& one_thread, const std::string& two_threads, int steps) {
  Crowd one(one_thread), two(two_threads);
  for (int i = 0; i < steps; ++i) {
    one.stepper->step(10);
    two.stepper->step(10);
  }
  EXPECT_GT(one.stepper->rows(), 4000) << "too few contacts for blocks";
  EXPECT_EQ((one.q() - two.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((one.v() - two.v()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_GT(one.v().lpNorm<Eigen::Infinity>(), 1e-3) << "nothing moves";
}

TEST(CrowdStep, ThreadsDoNotChangeABitOfBalls) {
  expect_same_bits(box_of_balls(12, 12, ", contact_iterations: 10, threads: 1", 10, 1e-3),
                   box_of_balls(12, 12, ", contact_iterations: 10, threads: 2", 10, 1e-3), 25);
}

TEST(CrowdStep, ThreadsDoNotChangeABitOfBricksAndPieces) {
  // Towers of bricks with a layer of octahedra on top, all a little turned, that fall by a hair.
  const auto towers = [](int threads) {
    return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies:
  brick: {{bodies: {{b: {{shape: {{box: [20 cm, 10 cm, 6 cm]}}, density: 1800 kg/m^3}}}}}}
  piece: {{bodies: {{b: {{mass: 0.5 kg, inertia: [5e-4, 5e-4, 4e-4]}}}}, shapes: {{skin: {{on: b, type: polytope, points:
          [[0.05, 0, 0], [-0.05, 0, 0], [0, 0.045, 0], [0, -0.045, 0], [0, 0, 0.04], [0, 0, -0.04]]}}}}}}
instances:
  towers: {{of: brick, repeat: {{i: 12, j: 12, k: 8, seed: 5}}, at: [0.21*i, 0.11*j, 3 cm + 6.002 cm * k],
           rotate: {{axis: z, angle: 1 deg * u}}}}
  top: {{of: piece, repeat: {{i: 12, j: 12, seed: 6}}, at: [0.21*i, 0.11*j, 52.1 cm], rotate: {{axis: x, angle: 20 deg * u}}}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{touch: {{among: ["towers_*.b", "top_*.skin", floor], law: {{type: rigid, friction: 0.5}}}}}}
simulate: {{method: time-stepping, contact_iterations: 6, step: 1 ms, end: 1 s, threads: {}}}
)",
                       threads);
  };
  expect_same_bits(towers(1), towers(2), 8);
}

TEST(CrowdStep, GoesOnFromACheckpointWithTheSameBits) {
  const std::string text = box_of_balls(3, 4, ", contact_solver: gauss-seidel");
  Crowd whole(text), part(text);
  whole.run(0.3);
  whole.stepper->refresh();
  std::vector<double> memory(whole.stepper->memory_size());
  whole.stepper->save(memory);
  ASSERT_GT(whole.stepper->touching(), 0);
  part.stepper->refresh();
  part.stepper->restore(memory);
  for (Crowd* c : {&whole, &part}) c->run(0.5);
  EXPECT_EQ((whole.q() - part.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((whole.v() - part.v()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ(whole.stepper->counts().closes, part.stepper->counts().closes);
}

TEST(CrowdStep, NewtonAndSweepsAgreeOnTheSamePile) {
  // The exact stepper is of another order (theta = 1/2); at rest both carry the same weight at the same heights.
  const std::string text = R"(
clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies:
  a: {planar: true, mass: 1 kg, shape: {box: [20 cm, 10 cm, 10 cm]}, position: [0, 5 cm]}
  b: {planar: true, mass: 2 kg, shape: {box: [20 cm, 10 cm, 10 cm]}, position: [4 cm, 15.5 cm]}
shapes: {floor: {on: ground, type: line}}
contacts: {touch: {among: [a, b, floor], law: {type: rigid, friction: 0.5}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 1 s}
)";
  Crowd c(text);
  c.run(1);
  EXPECT_NEAR(c.q()[1], 0.05, 1e-6);
  EXPECT_NEAR(c.q()[4], 0.15, 1e-6);
  EXPECT_NEAR(c.q()[3], 0.04, 1e-6);
  EXPECT_NEAR(c.stepper->entries()[0].normal_force, (3 + 2) * 9.81, 1e-3);
}

TEST(CrowdStep, SaysWhatOverlapsAtTheStart) {
  const std::string text = R"(
clatter: 1
bodies:
  a: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 0]}
  b: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0.15, 0, 0]}
contacts: {touch: {among: [a, b], law: {type: rigid}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 1 s}
)";
  try {
    Crowd c(text);
    FAIL() << "nothing was said";
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("overlap by 0.05 m"), std::string::npos) << what;
    EXPECT_NE(what.find("`a` and `b`"), std::string::npos) << what;
    EXPECT_NE(what.find("crowd.yaml:6"), std::string::npos) << what;
  }
}

TEST(CrowdStep, RefusesWhatTheSolversDoNotKnow) {
  const auto refused = [](const std::string& law, const std::string& simulate, const char* expected) {
    try {
      load_model_text(
          "clatter: 1\nbodies: {a: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 1]}}\n"
          "shapes: {floor: {on: ground, type: plane}}\n"
          "contacts: {touch: {between: [a, floor], law: " +
              law + "}}\nsimulate: {method: time-stepping, step: 1 ms, " + simulate + "}\n",
          "crowd.yaml");
      ADD_FAILURE() << "nothing was said about " << expected;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
    }
  };
  refused("{type: rigid}", "friction_model: relaxed", "goes with time-stepping by the solvers for crowds");
  refused("{type: rigid}", "contact_solver: gauss-seidel, contact_iterations: 0", "whole number");
  refused("{type: rigid}", "contact_solver: gaus-seidel", "gauss-seidel");
  try {
    load_model_text(
        "clatter: 1\nbodies: {a: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 1]}}\n"
        "contacts: {tie: {rope: [ground, a], law: {type: rigid, rolling_friction: 1 mm}}}\n"
        "simulate: {method: time-stepping, step: 1 ms}\n",
        "crowd.yaml");
    ADD_FAILURE() << "a rope on which something rolls was taken";
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("nothing rolls or drills"), std::string::npos) << what;
    EXPECT_NE(what.find("crowd.yaml:3:"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace clatter::contact
