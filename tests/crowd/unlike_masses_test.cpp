// Heavy bodies on light ones: where sweeps and gradients need rounds by the ratio of masses, crowds go on by a method
// that does not, and what is not solved is counted and named.
#include <fmt/format.h>

#include "crowd/problems.hpp"
#include "impulse/crowd_part.hpp"

namespace clatter::contact {
namespace {

struct Stack {
  int light = 4;
  double ratio = 100;
  bool planar = false;
  double size = 0.1;  // edge of a box, m
  std::string simulate = "contact_solver: gauss-seidel";
  int others = 0;  // boxes beside it
};

// Boxes of 1 kg on the floor, one upon the other, and one of `ratio` kg on top; steps by what a box falls in its size.
std::string stack_of(const Stack& s) {
  const double h = 2e-3 * std::sqrt(s.size / 0.1), a = s.size;
  std::string bodies;
  const auto box = [&](const std::string& name, double mass, double x, double y) {
    bodies += s.planar
                  ? fmt::format("  {}: {{type: planar, mass: {}, shape: {{box: [{}, {}, {}]}}, position: [{}, {}]}}\n",
                                name, mass, a, a, a, x, y)
                  : fmt::format("  {}: {{mass: {}, shape: {{box: [{}, {}, {}]}}, position: [{}, 0, {}]}}\n", name, mass,
                                a, a, a, x, y);
  };
  for (int i = 0; i < s.light; ++i) box(fmt::format("light{}", i + 1), 1, 0, a * (i + 0.5));
  box("heavy", s.ratio, 0, a * (s.light + 0.5));
  for (int i = 0; i < s.others; ++i) box(fmt::format("other{}", i + 1), 1, 2 * a * (i + 1), 0.5 * a);
  return fmt::format(R"(
clatter: 1
gravity: [0, {}-9.81 m/s^2]
bodies:
{}shapes: {{floor: {{on: ground, type: {}}}}}
contacts: {{pile: {{among: ["*", floor], law: {{type: rigid, friction: 0.5}}}}}}
simulate: {{method: time-stepping, {}{}step: {} s, end: 10 s}}
)",
                     s.planar ? "" : "0, ", bodies, s.planar ? "line" : "plane", s.simulate,
                     s.simulate.empty() ? "" : ", ", h);
}

// It stands: nothing deeper than a ten-thousandth of a box, nowhere farther from its place than that times the boxes
// under it, and no step left unsolved.
void expect_to_stand(const Stack& s, double end) {
  Crowd c(stack_of(s));
  const Vec start = c.q();
  c.run(end * std::sqrt(s.size / 0.1));
  const std::string what = fmt::format("{} boxes under {} kg, {}", s.light, s.ratio, s.planar ? "planar" : "spatial");
  EXPECT_LT(c.stepper->certificate().penetration, 1e-4 * s.size) << what;
  EXPECT_LT((c.q() - start).lpNorm<Eigen::Infinity>(), 1e-4 * std::max(s.size, 0.1) * (s.light + 1)) << what;
  EXPECT_EQ(c.stepper->unsolved().steps, 0) << what << " off by " << c.stepper->unsolved().residual;
}

TEST(UnlikeMasses, BoxesStandUnderOneAHundredAndTenThousandTimesHeavier) {
  for (const bool planar : {true, false})
    for (const double ratio : {100.0, 1e4}) expect_to_stand({4, ratio, planar}, 1);
}

TEST(UnlikeMasses, TallColumnsStandUnderAHeavyBox) {
  for (const bool planar : {true, false})
    for (const int light : {10, 20}) expect_to_stand({light, 1e4, planar}, planar ? 0.4 : 0.1);
}

TEST(UnlikeMasses, TheSmallAndTheLargeStandAlike) {
  // A tenth of a millimetre and ten metres: lengths, and times by their roots.
  for (const double size : {1e-4, 10.0}) {
    Stack s{4, 1e4, false, size};
    Crowd c(stack_of(s));
    const double z = c.q()[4 * 7 + 2];
    c.run(std::sqrt(size / 0.1));
    EXPECT_LT(c.stepper->certificate().penetration, 1e-4 * size) << size;
    EXPECT_NEAR(c.q()[4 * 7 + 2], z, 5e-4 * size) << size;
    EXPECT_EQ(c.stepper->unsolved().steps, 0) << size;
  }
}

TEST(UnlikeMasses, ACrowdOfMoreThanAHundredHoldsSuchAStackWithoutAKeyword) {
  for (const bool planar : {true, false}) expect_to_stand({4, 1e4, planar, 0.1, "", 100}, 0.2);
}

std::string two_balls(double ratio, const char* simulate) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  light: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [0, 0, 10 cm]}}
  heavy: {{mass: {} kg, shape: {{sphere: 10 cm}}, position: [0, 0, 30 cm]}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{pile: {{among: [light, heavy, floor], law: {{type: rigid, friction: 0.5}}}}}}
simulate: {{method: time-stepping, {}, step: 1 ms, end: 10 s}}
)",
                     ratio, simulate);
}

TEST(UnlikeMasses, ABallCarriesAnotherAMillionTimesHeavier) {
  for (const char* solver : {"gauss-seidel", "apgd", "barzilai-borwein", "semismooth-newton"})
    for (const char* law : {"exact", "relaxed"})
      for (const double ratio : {1e2, 1e4, 1e6}) {
        Crowd c(two_balls(ratio, fmt::format("contact_solver: {}, friction_model: {}", solver, law).c_str()));
        c.run(2);
        EXPECT_LT(c.stepper->certificate().penetration, 1e-5) << solver << ' ' << law << ' ' << ratio;
        EXPECT_NEAR(c.q()[9], 0.3, 2e-5) << solver << ' ' << law << ' ' << ratio;
        EXPECT_EQ(c.stepper->unsolved().steps, 0) << solver << ' ' << law << ' ' << ratio;
      }
}

TEST(UnlikeMasses, AFixedNumberOfSweepsIsTakenAndWhatIsMissingCountedByName) {
  Crowd c(two_balls(1e4, "contact_solver: gauss-seidel, contact_iterations: 10"));
  c.run(0.5);
  EXPECT_EQ(c.stepper->escalations(), 0);
  const UnsolvedSteps& unsolved = c.stepper->unsolved();
  EXPECT_GT(unsolved.steps, 50);
  EXPECT_GT(unsolved.residual, 10 * unsolved.tolerance);
  // Between a thousandth, at rest, and a fifth of g h = 9.81e-3 m/s.
  EXPECT_GT(unsolved.tolerance, 9.8e-6);
  EXPECT_LT(unsolved.tolerance, 1.97e-3);
  ASSERT_EQ(unsolved.contact, 0);
  const auto name = [&](int shape) { return c.contacts->shapes[static_cast<std::size_t>(shape)].name; };
  EXPECT_NE(name(unsolved.shape1) + name(unsolved.shape2), "");
  EXPECT_TRUE(name(unsolved.shape1) == "light" || name(unsolved.shape2) == "light");
  // Kept over a checkpoint.
  Crowd again(two_balls(1e4, "contact_solver: gauss-seidel, contact_iterations: 10"));
  std::vector<double> memory(c.stepper->memory_size());
  c.stepper->save(memory);
  again.stepper->restore(memory);
  EXPECT_EQ(again.stepper->unsolved().steps, unsolved.steps);
  EXPECT_EQ(again.stepper->unsolved().residual, unsolved.residual);
  EXPECT_EQ(again.stepper->unsolved().shape1, unsolved.shape1);
}

TEST(UnlikeMasses, EnoughSweepsAreNotCounted) {
  Crowd c(two_balls(10, "contact_solver: gauss-seidel, contact_iterations: 2000"));
  c.run(0.5);
  EXPECT_EQ(c.stepper->unsolved().steps, 0);
}

TEST(UnlikeMasses, ThreadsDoNotChangeABit) {
  Stack one{6, 1e3}, two = one;
  one.simulate = "contact_solver: gauss-seidel, threads: 1";
  two.simulate = "contact_solver: gauss-seidel, threads: 2";
  Crowd a(stack_of(one)), b(stack_of(two));
  for (Crowd* c : {&a, &b}) c->run(0.3);
  EXPECT_GT(a.stepper->escalations(), 0);
  EXPECT_EQ((a.q() - b.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((a.v() - b.v()).lpNorm<Eigen::Infinity>(), 0);
}

// A floor full of balls that touch, more than are swept in one go, beside a column under a heavy ball that sweeps leave
// to Newton's method, and balls that fall on them.
TEST(UnlikeMasses, ThreadsDoNotChangeABitOfALargeCrowdWithAHeavyBall) {
  const auto crowd = [](int threads) {
    return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies: {{grain: {{bodies: {{ball: {{shape: {{sphere: 5 cm}}, mass: 1 kg}}}}}}}}
bodies:
  light1: {{mass: 1 kg, shape: {{sphere: 5 cm}}, position: [-1, 0, 5 cm]}}
  light2: {{mass: 1 kg, shape: {{sphere: 5 cm}}, position: [-1, 0, 15 cm]}}
  light3: {{mass: 1 kg, shape: {{sphere: 5 cm}}, position: [-1, 0, 25 cm]}}
  heavy: {{mass: 10000 kg, shape: {{sphere: 5 cm}}, position: [-1, 0, 35 cm]}}
instances:
  floor_of: {{of: grain, repeat: {{i: 40, j: 40}}, at: [0.1*i, 0.1*j, 5 cm]}}
  rain: {{of: grain, repeat: {{i: 5, j: 5, seed: 3}}, at: [0.5*i + 5 cm * u, 0.5*j + 5 cm * v, 16 cm + 3 cm * w]}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{touch: {{among: ["*", "*.ball", floor], law: {{type: rigid, friction: 0.5}}}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 10 s, threads: {}}}
)",
                       threads);
  };
  Crowd one(crowd(1)), two(crowd(2));
  for (Crowd* c : {&one, &two}) c->run(0.12);
  EXPECT_GT(one.stepper->rows(), 4000) << "swept in one go";
  EXPECT_GT(one.stepper->escalations(), 0);
  EXPECT_GT(one.stepper->counts().impacts, 10);
  EXPECT_EQ((one.q() - two.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((one.v() - two.v()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ(one.stepper->unsolved().steps, 0);
}

TEST(UnlikeMasses, GoOnFromACheckpointWithTheSameBits) {
  const std::string text = stack_of({6, 1e3});
  Crowd whole(text), part(text);
  whole.run(0.1);
  whole.stepper->refresh();
  std::vector<double> memory(whole.stepper->memory_size());
  whole.stepper->save(memory);
  part.stepper->refresh();
  part.stepper->restore(memory);
  for (Crowd* c : {&whole, &part}) c->run(0.2);
  EXPECT_EQ((whole.q() - part.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((whole.v() - part.v()).lpNorm<Eigen::Infinity>(), 0);
}

// n x n x n poured balls in a box and one of a thousand times their mass that falls on them.
std::string heap_under(int n, const char* radius, const char* at, const char* half) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies: {{grain: {{bodies: {{ball: {{shape: {{sphere: 5 cm}}, mass: 1 kg}}}}}}}}
bodies: {{heavy: {{mass: 1000 kg, shape: {{sphere: {1}}}, position: {2}}}}}
instances:
  heap: {{of: grain, repeat: {{i: {0}, j: {0}, k: {0}, seed: 5}}, at: [0.11*(i - ({0} - 1)/2) + 5 mm * u, 0.11*(j - ({0} - 1)/2) + 5 mm * v, 5.1 cm + 10.6 cm * k + 2 mm * w]}}
shapes:
  floor: {{on: ground, type: plane}}
  west: {{on: ground, type: plane, at: [-{3}, 0, 0], rotate: {{axis: y, angle: 90 deg}}}}
  east: {{on: ground, type: plane, at: [{3}, 0, 0], rotate: {{axis: y, angle: -90 deg}}}}
  south: {{on: ground, type: plane, at: [0, -{3}, 0], rotate: {{axis: x, angle: -90 deg}}}}
  north: {{on: ground, type: plane, at: [0, {3}, 0], rotate: {{axis: x, angle: 90 deg}}}}
contacts:
  pile: {{among: ["heap_*.ball", heavy], law: {{type: rigid, friction: 0.5}}}}
  walls: {{between: [["heap_*.ball", heavy], [floor, west, east, south, north]], law: {{type: rigid, friction: 0.5}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 10 s}}
)",
                     n, radius, at, half);
}

TEST(UnlikeMasses, AHeapCarriesAHeavyBall) {
  Crowd c(heap_under(3, "12 cm", "[1 cm, 0, 47 cm]", "18 cm"));
  c.run(0.3);
  EXPECT_GT(c.stepper->escalations(), 0);
  EXPECT_LT(c.stepper->certificate().penetration, 5e-6);
  EXPECT_EQ(c.stepper->unsolved().steps, 0) << c.stepper->unsolved().residual;
}

// The heavy ball goes down in 216 others; at 0.298 s Newton's method finds no way out of where it stands, and sweeps
// do.
TEST(UnlikeMasses, EveryStepOfALargerHeapUnderAHeavyBallIsSolved) {
  Crowd c(heap_under(6, "20 cm", "[1 cm, 0, 84.7 cm]", "34.5 cm"));
  c.run(0.4);
  EXPECT_GT(c.stepper->escalations(), 0);
  EXPECT_LT(c.stepper->certificate().penetration, 5e-6);
  EXPECT_EQ(c.stepper->unsolved().steps, 0) << c.stepper->unsolved().residual << " at " << c.stepper->unsolved().t;
}

TEST(CrowdPart, IsWhatItTakesAndGivesBack) {
  // The even rows of two problems side by side are one of them.
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  const CrowdProblem a = random_problem(3, 12, 30, false, false), b = random_problem(4, 12, 30, false, false);
  CrowdProblem both = a;
  const int moved = static_cast<int>(a.bodies.size()) - CrowdProblem::grounds;
  both.bodies.insert(both.bodies.end(), b.bodies.begin() + CrowdProblem::grounds, b.bodies.end());
  both.inverse_inertia.insert(both.inverse_inertia.end(), b.inverse_inertia.begin() + CrowdProblem::grounds,
                              b.inverse_inertia.end());
  both.rows.clear();
  std::vector<int> of_b;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    both.rows.push_back(a.rows[i]);
    CrowdRow row = b.rows[i];
    if (row.side1 >= CrowdProblem::grounds) row.side1 += moved;
    if (row.side2 >= CrowdProblem::grounds) row.side2 += moved;
    of_b.push_back(static_cast<int>(both.rows.size()));
    both.rows.push_back(row);
  }
  both.free_rows = static_cast<int>(both.rows.size());
  const CrowdProblem before = both;
  CrowdPart part;
  part.take(both, of_b);
  CrowdProblem alone = b;
  for (CrowdProblem* p : {&part.problem, &alone}) sweeps.solve(*p, true, 1e-12, 10000);
  part.put_back(both);
  for (std::size_t i = 0; i < b.rows.size(); ++i) {
    EXPECT_EQ(both.rows[2 * i + 1].pn, alone.rows[i].pn);
    EXPECT_EQ(both.rows[2 * i].pn, before.rows[2 * i].pn);
  }
  EXPECT_EQ(both.residual(true, 1, 2).rate, alone.residual(true, 0, 1).rate);
  for (std::size_t i = CrowdProblem::grounds; i < b.bodies.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(both.bodies[i + static_cast<std::size_t>(moved)].w[k], alone.bodies[i].w[k]);
      EXPECT_EQ(both.bodies[i].v[k], a.bodies[i].v[k]);
    }
}

}  // namespace
}  // namespace clatter::contact
