// Newton's method for crowds: against the other solvers, against the laws, and where those crawl (Y-29).
#include "impulse/crowd_newton.hpp"

#include <fmt/format.h>

#include "crowd/poured.hpp"
#include "crowd/problems.hpp"

namespace clatter::contact {
namespace {

constexpr double kTight = 1e-11;  // m/s, rates in the problems are near 1

CrowdProblem by_newton(CrowdProblem p, bool exact, double tolerance = kTight) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdNewton newton(sweeps, false);
  EXPECT_TRUE(newton.solve(p, exact, tolerance, 200).converged);
  // From anywhere without help under the relaxed law; Coulomb's may take sweeps in between.
  if (!exact) {
    EXPECT_EQ(newton.counts().fallbacks, 0);
  }
  return p;
}

CrowdProblem swept(CrowdProblem p, bool exact, int most = 200000) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  sweeps.solve(p, exact, 0.1 * kTight, most);
  return p;
}

// Balls of 5 cm on each other, with what gravity changes in a millisecond; the last `top` times as heavy. Each is
// pushed aside a little, so that friction has something to do.
CrowdProblem column(int n, double top) {
  CrowdProblem p;
  p.bodies.assign(CrowdProblem::grounds, {});
  p.inverse_inertia.assign(CrowdProblem::grounds, Mat3::Zero());
  for (int i = 0; i < n; ++i) {
    CrowdBody b;
    b.inverse_mass = 1 / (i + 1 == n ? top : 1.0);
    b.inverse_inertia = b.inverse_mass / (0.4 * 0.05 * 0.05);
    b.v[0] = 1e-3 * std::sin(1.0 + i);
    b.v[2] = -0.00981;
    p.bodies.push_back(b);
    p.inverse_inertia.push_back(b.inverse_inertia * Mat3::Identity());
    CrowdRow row{};
    row.side1 = CrowdProblem::grounds + i;
    row.side2 = i == 0 ? 0 : CrowdProblem::grounds + i - 1;
    row.n[2] = 1;
    row.c1[2] = -0.05;
    row.c2[2] = i == 0 ? 0 : 0.05;
    row.mu = 0.5;
    p.set_response(row);
    p.rows.push_back(row);
  }
  p.free_rows = n;
  return p;
}

TEST(CrowdNewton, FindsTheVelocitiesOfTheSweepsUnderTheRelaxedLaw) {
  // The relaxed problem is convex: velocities are unique although impulses are not (T-10). Residual to velocity: the
  // problems' conditioning, a few hundred.
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const CrowdProblem p = random_problem(seed, 6, 15, seed % 2 == 0, seed % 3 == 0);
    const CrowdProblem a = swept(p, false), b = by_newton(p, false);
    EXPECT_LT(b.residual(false).rate, kTight) << seed;
    EXPECT_LT(largest_difference(a, b), 1e-8) << seed;
    EXPECT_GT(largest_difference(b, p), 0.1) << "nothing happened in problem " << seed;
  }
}

TEST(CrowdNewton, MeetsCoulombsLawExactly) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const CrowdProblem x = by_newton(random_problem(seed, 5, 9, seed % 2 == 0, seed % 3 == 0), true);
    const CrowdResidual r = x.residual(true);
    EXPECT_LT(r.rate, kTight) << seed;
    EXPECT_LE(r.cone, 1e-15) << seed;
    for (const CrowdRow& row : x.rows) {
      const Vec3 u = x.rate(row), n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]);
      const double un = n.dot(u) + row.b;
      const Vec3 ut = u - n.dot(u) * n;
      EXPECT_GE(un, -2 * kTight);  // the natural map mixes it with the slip
      EXPECT_LE(std::abs(un * row.pn), 10 * kTight);
      if (ut.norm() > 1e-6 && row.pn > 1e-6) {
        EXPECT_NEAR(pt.norm(), row.mu * row.pn, 1e-9);
        EXPECT_NEAR(pt.dot(ut), -pt.norm() * ut.norm(), 1e-9);
      }
    }
  }
}

TEST(CrowdNewton, MeetsTheOptimalityOfTheRelaxedLaw) {
  // Y-28: impulses in the cone, rates in its dual, and at right angles.
  for (unsigned seed = 20; seed < 30; ++seed) {
    const CrowdProblem x = by_newton(random_problem(seed, 30, 90, false, false), false);
    for (const CrowdRow& row : x.rows) {
      const Vec3 u = x.rate(row), n(row.n[0], row.n[1], row.n[2]);
      const double dn = n.dot(u) + row.b;
      EXPECT_GE(dn, row.mu * (u - n.dot(u) * n).norm() - 10 * kTight);
      EXPECT_NEAR(impulse(row).dot(u) + row.pn * row.b, 0, 10 * kTight);
    }
  }
}

TEST(CrowdNewton, DoublesItsDigitsAtTheEndOfARound) {
  // The last iteration of a round squares what the one before left, times a constant of the problem, until rounding.
  int squared = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    CrowdProblem p = random_problem(seed, 40, 120, false, false);
    WorkerPool pool(1);
    CrowdSweeps sweeps(pool);
    CrowdNewton newton(sweeps, false);
    // A first round alone, from nothing, to its own end.
    ASSERT_TRUE(newton.solve(p, false, kTight, 200).converged);
    EXPECT_LT(newton.counts().newton, 100) << seed;
    const auto missing = newton.last_round();
    for (std::size_t k = 1; k < missing.size(); ++k)
      if (missing[k - 1] < 1e-4 && missing[k - 1] > 1e-7) {
        ++squared;
        EXPECT_LT(missing[k], 1e3 * missing[k - 1] * missing[k - 1] + 1e-10) << seed;
      }
  }
  EXPECT_GT(squared, 0) << "no round was seen near its end";
}

TEST(CrowdNewton, CarriesAColumnOfAHundredBalls) {
  // A load through a chain of contacts travels one contact a sweep and comes back as often as there are balls, squared.
  for (const bool exact : {false, true}) {
    const CrowdProblem p = column(100, 1), x = by_newton(p, exact, 1e-12);
    EXPECT_LT(x.residual(exact).rate, 1e-12);
    // The lowest contact carries the weight of all: what nothing else could. 1e-12 m/s through the smallest response of
    // a column, (pi / 200)^2 a kilogram.
    EXPECT_NEAR(x.rows[0].pn, 100 * 0.00981, 1e-8);
    EXPECT_NEAR(x.rows[99].pn, 0.00981, 1e-8);
  }
  EXPECT_GT(swept(column(100, 1), true, 60).residual(true).rate, 1e-5) << "sweeps do it as well: no test";
}

TEST(CrowdNewton, CarriesAHeavyBallOnLightOnes) {
  // Mass ratio 1e4: sweeps move the heavy one by a ten-thousandth of what is missing.
  for (const bool exact : {false, true}) {
    const CrowdProblem p = column(20, 1e4), x = by_newton(p, exact, 1e-12);
    EXPECT_LT(x.residual(exact).rate, 1e-12);
    EXPECT_NEAR(x.rows[0].pn, (1e4 + 19) * 0.00981, 1e-6);
  }
  EXPECT_GT(swept(column(20, 1e4), true, 1000).residual(true).rate, 1e-5) << "sweeps do it as well: no test";
}

TEST(CrowdNewton, StartsFromWhatItKnows) {
  const CrowdProblem p = random_problem(3, 40, 120, false, false);
  CrowdProblem x = by_newton(p, false);
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdNewton newton(sweeps, false);
  EXPECT_TRUE(newton.solve(x, false, 10 * kTight, 200).converged);
  EXPECT_EQ(newton.counts().newton, 0) << "a solved problem needs no iteration";
  for (CrowdBody& b : x.bodies) b.v[0] += b.inverse_mass > 0 ? 1e-6 : 0;
  EXPECT_TRUE(newton.solve(x, false, kTight, 200).converged);
  EXPECT_LE(newton.counts().newton, 12) << "nor many, one that is near";
}

TEST(CrowdNewton, IslandsDoNotFeelEachOther) {
  // Two problems as one: each has the bits it has alone.
  const CrowdProblem a = random_problem(5, 8, 20, false, true), b = random_problem(6, 7, 18, false, true);
  CrowdProblem both = a;
  const int more = static_cast<int>(a.bodies.size()) - CrowdProblem::grounds;
  for (std::size_t i = CrowdProblem::grounds; i < b.bodies.size(); ++i) {
    both.bodies.push_back(b.bodies[i]);
    both.inverse_inertia.push_back(b.inverse_inertia[i]);
  }
  for (CrowdRow row : b.rows) {
    for (std::int32_t* side : {&row.side1, &row.side2})
      if (*side >= CrowdProblem::grounds) *side += more;
    both.rows.push_back(row);
  }
  both.free_rows = static_cast<int>(both.rows.size());
  const CrowdProblem x = by_newton(both, true), xa = by_newton(a, true), xb = by_newton(b, true);
  for (std::size_t i = 0; i < x.rows.size(); ++i) {
    const CrowdRow& alone = i < xa.rows.size() ? xa.rows[i] : xb.rows[i - xa.rows.size()];
    EXPECT_NEAR(x.rows[i].pn, alone.pn, 1e-10);
  }
}

std::string cube_of_balls(int side, const char* simulate) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
parameters: {{d: 10 cm, s: {0}, e: 0.1 mm}}
assemblies: {{grain: {{bodies: {{ball: {{shape: {{sphere: 5 cm}}, density: 2000 kg/m^3}}}}}}}}
instances:
  heap: {{of: grain, repeat: {{i: {0}, j: {0}, k: {0}, seed: 12345}},
         at: [d*(i - 0.5*(s - 1)) + e*u, d*(j - 0.5*(s - 1)) + e*v, 5.01 cm + d*k + 0.4*e*w]}}
shapes:
  floor: {{on: ground, type: plane}}
  west: {{on: ground, type: plane, at: [-0.5*(d*s + 0.3 mm), 0, 0], rotate: {{axis: y, angle: 90 deg}}}}
  east: {{on: ground, type: plane, at: [0.5*(d*s + 0.3 mm), 0, 0], rotate: {{axis: y, angle: -90 deg}}}}
  south: {{on: ground, type: plane, at: [0, -0.5*(d*s + 0.3 mm), 0], rotate: {{axis: x, angle: -90 deg}}}}
  north: {{on: ground, type: plane, at: [0, 0.5*(d*s + 0.3 mm), 0], rotate: {{axis: x, angle: 90 deg}}}}
contacts: {{pile: {{among: ["heap_*.ball", floor, west, east, south, north], law: {{type: rigid, friction: 0.5}}}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 3 s, contact_solver: semismooth-newton{1}}}
)",
                     side, simulate);
}

TEST(CrowdNewton, SolvesStepsOfAThousandBallsToRounding) {
  // 1e-10 of the velocity scale from the first touch on, by either law, and no step is left to sweeps. Under Coulomb's
  // law impulses run along what changes no velocity, at a rate of 1e-8 m/s and less, until some contact opens, slides
  // or sticks: sweeps stand still there for tens of thousands of rounds.
  for (const char* law : {"relaxed", "exact"}) {
    Crowd c(cube_of_balls(10, fmt::format(", friction_model: {}", law).c_str()));
    for (int i = 0; i < 6; ++i) c.stepper->step(10);
    EXPECT_GT(c.stepper->touching(), 1000);
    EXPECT_LT(c.stepper->worst_residual().rate, 1e-10 * c.contacts->velocity_scale) << law;
    EXPECT_EQ(c.stepper->newton_counts().fallbacks, 0) << law;
    EXPECT_GT(c.stepper->newton_counts().newton, 0) << law;
  }
}

TEST(CrowdNewton, SolvesEveryStepOfPouredGrainsToRounding) {
  // Balls, capsules and convex pieces from the fall to the heap, by either law, with and without moments, and boxes by
  // the relaxed one (faces that touch have many more impulses than velocities: under Coulomb's law single steps of
  // boxes end at some 1e-10 m/s): every step within 3e-9 of what gravity changes in it (the default), times the two of
  // a natural map that mixes slip and approach. Under Coulomb's law one step in 500 may end within 1e-6 of it: where a
  // grain is wedged between five others at gaps of 1e-12 m the method finds no descent.
  struct Case {
    const char* grain;
    const char* law;
  };
  const char *slides = "friction: 0.5", *rolls = "friction: 0.5, rolling_friction: 1 mm, drilling_friction: 1 mm";
  for (const Case& x : {Case{kBall, slides}, Case{kRod, slides}, Case{kBrick, slides}, Case{kPiece, slides},
                        Case{kBall, rolls}, Case{kRod, rolls}, Case{kPiece, rolls}})
    for (const char* model : {"exact", "relaxed"}) {
      if (x.grain == kBrick && std::string(model) == "exact") continue;
      std::string text = poured(x.grain, 4, x.law, fmt::format("friction_model: {}", model).c_str());
      const std::string sweeps = "gauss-seidel";
      text.replace(text.find(sweeps), sweeps.size(), "semismooth-newton");
      Crowd c(text);
      int beyond = 0;
      for (int step = 1; step <= 500; ++step) {
        c.stepper->step(0.5);
        beyond += c.stepper->last_certificate().complementarity * c.contacts->velocity_scale > 2 * 3e-9 * 9.81e-3;
      }
      EXPECT_GT(c.stepper->touching(), 30) << "no heap: " << x.grain;
      EXPECT_LE(beyond, std::string(model) == "exact" ? 1 : 0) << x.grain << x.law << model;
      EXPECT_LT(c.stepper->worst_residual().rate, 1e-6 * 9.81e-3) << x.grain << x.law << model;
    }
}

TEST(CrowdNewton, KnowsBodiesInJoints) {
  // A plate on a hinge that a ball falls on: a block of the rank of its contacts, in joint coordinates (a tree) and
  // absolute ones (constraint rows). Under the relaxed law, whose velocities are unique, sweeps to 1e-12 m/s move the
  // same way.
  const auto model = [](const char* coordinates, const char* solver) {
    return fmt::format(R"(
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
simulate: {{method: time-stepping, contact_solver: {}, friction_model: relaxed, contact_tolerance: 1e-12 m/s, contact_iterations: 5000, step: 1 ms, end: 1 s}}
)",
                       coordinates, solver);
  };
  for (const char* coordinates : {"joint", "absolute"}) {
    Crowd newton(model(coordinates, "semismooth-newton")), sweeps(model(coordinates, "gauss-seidel"));
    for (Crowd* c : {&newton, &sweeps}) c->run(0.45);
    EXPECT_GT(newton.stepper->counts().closes, 0) << "they never met";
    EXPECT_LT(newton.stepper->worst_residual().rate, 1e-11) << coordinates;
    EXPECT_LT((newton.q() - sweeps.q()).lpNorm<Eigen::Infinity>(), 1e-8) << coordinates;
  }
}

// A hinged chain of five links with a side branch of two, which falls between two balls and folds onto itself.
std::string falling_tree(const char* coordinates, const char* solver, const char* law) {
  std::string bodies, joints, shapes;
  const auto link = [&](const std::string& name, const std::string& before, const char* joint, const Vec3& p) {
    bodies += fmt::format("  {}: {{mass: 0.5 kg, inertia: [2e-3, 2e-3, 5e-4], position: [{}, {}, {}]}}\n", name, p.x(),
                          p.y(), p.z());
    joints += fmt::format("  to_{0}: {{type: {1}, between: [{{on: {2}}}, {{on: {0}, at: [-0.1, 0, 0]}}]}}\n", name,
                          joint, before);
    shapes += fmt::format(
        "  {0}_skin: {{on: {0}, type: capsule, radius: 4 cm, length: 10 cm, rotate: {{axis: y, angle: 90 deg}}}}\n",
        name);
  };
  const char *hinge = "revolute, axis: y", *ball = "spherical";
  link("l0", "ground, at: [-0.1, 0, 0.6]", hinge, Vec3(0, 0, 0.6));
  for (int i = 1; i < 5; ++i)
    link(fmt::format("l{}", i), fmt::format("l{}, at: [0.1, 0, 0]", i - 1), i % 2 == 1 ? ball : hinge,
         Vec3(0.2 * i, 0, 0.6));
  link("b0", "l1, at: [0, 0.1, 0]", ball, Vec3(0.3, 0.1, 0.6));
  link("b1", "b0, at: [0.1, 0, 0]", hinge, Vec3(0.5, 0.1, 0.6));
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
coordinates: {}
bodies:
{}  above: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [0.35, 0.02, 0.8]}}
  below: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [0.65, 0.02, 0.1]}}
joints:
{}shapes:
{}  floor: {{on: ground, type: plane}}
contacts: {{touch: {{among: ["*_skin", above, below, floor], law: {{type: rigid, friction: 0.4}}}}}}
simulate: {{method: time-stepping, contact_solver: {}, friction_model: {}, contact_tolerance: 1e-12 m/s, contact_iterations: 20000, step: 1 ms, end: 1 s}}
)",
                     coordinates, bodies, joints, shapes, solver, law);
}

TEST(CrowdNewton, MovesJointedTreesAsSweepsDo) {
  // Links of one tree that touch each other answer in fewer directions than three: rates that no impulse changes must
  // vanish by themselves, or no solver has an end and each stops elsewhere. Velocities of the relaxed law are unique;
  // Coulomb's are here too. What 1e-12 m/s a step leaves is passed on from impact to impact, some 1e3 times.
  for (const char* law : {"relaxed", "exact"})
    for (const char* coordinates : {"joint", "absolute"}) {
      Crowd newton(falling_tree(coordinates, "semismooth-newton", law)),
          sweeps(falling_tree(coordinates, "gauss-seidel", law));
      int inside = 0;
      for (int i = 0; i < 700; ++i)
        for (Crowd* c : {&newton, &sweeps}) {
          c->stepper->step(10);
          inside += c->stepper->touching();
        }
      EXPECT_GT(inside, 1000) << "they hardly met";
      EXPECT_LT(newton.stepper->worst_residual().rate, 2e-12) << law << coordinates;
      EXPECT_LT((newton.q() - sweeps.q()).lpNorm<Eigen::Infinity>(), 1e-7) << law << coordinates;
    }
}

TEST(CrowdNewton, ThreadsDoNotChangeABit) {
  const auto moved = [](int threads) {
    Crowd c(cube_of_balls(5, fmt::format(", threads: {}", threads).c_str()));
    for (int i = 0; i < 6; ++i) c.stepper->step(10);
    return Vec(c.v());
  };
  const Vec one = moved(1), two = moved(2);
  EXPECT_GT(one.lpNorm<Eigen::Infinity>(), 1e-6) << "nothing moves";
  EXPECT_EQ((one - two).lpNorm<Eigen::Infinity>(), 0);
}

}  // namespace
}  // namespace clatter::contact
