// Impacts that accumulate: closed forms of their ends, rest after them, and the same moments whatever the tolerance.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  explicit Machine(const std::string& text, double tolerance = 1e-8, Scheme scheme = Scheme::dopri5, double step = 0)
      : system(System::compile(load_model_text(text, "machine.yaml"))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings(tolerance, scheme, step)) {
    stepper.start(system->initial);
  }
  static IntegratorSettings settings(double tolerance, Scheme scheme, double step) {
    IntegratorSettings s;
    s.scheme = scheme;
    s.step = step;
    s.relative_tolerance = tolerance;
    s.absolute_tolerance = 0.01 * tolerance;
    return s;
  }
  // Runs to t; times of the last `closes` of each contact, by name, and of the impacts of all in `moments`.
  void run(double t, long most = 100000) {
    for (long step = 0; stepper.state().t < t; ++step) {
      ASSERT_LT(step, most) << "at t = " << stepper.state().t;
      stepper.step(t);
      bool impact = false;
      for (const ContactChange& c : stepper.changes()) {
        if (c.what == "closes") closed[contacts->slot_name(c.slot)] = stepper.state().t;
        impact = impact || (c.what == "impact" && c.detail.starts_with("gap rate"));
      }
      moments += impact ? 1 : 0;
    }
  }
  double normal_force(const std::string& name) {
    const Vec& lambda = stepper.lambda();
    for (std::size_t i = 0; i < stepper.active().size(); ++i)
      if (contacts->slot_name(stepper.active()[i].slot) == name)
        return stepper.contact_dynamics().force(static_cast<int>(i), lambda)[0];
    return 0;
  }
  double energy_remainder() {
    return stepper.contact_dynamics().stored_energy(stepper.state()) -
           stepper.contact_dynamics().stored_energy(system->initial) - stepper.work().sum();
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  std::map<std::string, double> closed;
  long moments = 0;
};

// Balls side by side above a floor (or a table on it) with gravity 10 m/s^2; lengths in units of `size`.
struct Ball {
  double fall, restitution;
};
std::string balls(const std::vector<Ball>& list, double size = 1, bool table = false,
                  const std::string& coordinates = "joint") {
  const double top = table ? 0.2 : 0;
  std::string text = fmt::format("clatter: 1\ngravity: [0, -10]\ncoordinates: {}\nbodies:\n", coordinates);
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("  ball{}: {{type: planar, mass: 2, inertia: {:.17g}, position: [{:.17g}, {:.17g}]}}\n", i + 1,
                        0.008 * size * size, 0.3 * static_cast<double>(i) * size, (top + 0.1 + list[i].fall) * size);
  if (table)
    text += fmt::format("  table: {{type: planar, mass: 5, inertia: {:.17g}, position: [{:.17g}, {:.17g}]}}\n",
                        0.5 * size * size, 0.3 * size, 0.1 * size);
  text += "shapes:\n  floor: {on: ground, type: line}\n";
  if (table)
    text +=
        fmt::format("  board: {{on: table, type: polygon, points: [[{0}, {1}], [{2}, {1}], [{2}, {3}], [{0}, {3}]]}}\n",
                    -1.5 * size, -0.1 * size, 1.5 * size, 0.1 * size);
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("  hull{0}: {{on: ball{0}, type: circle, radius: {1}}}\n", i + 1, 0.1 * size);
  text += "contacts:\n";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("  bounce{0}: {{between: [hull{0}, {1}], law: {{type: rigid, restitution: {2}}}}}\n", i + 1,
                        table ? "board" : "floor", list[i].restitution);
  if (table) text += "  feet: {between: [board, floor], law: {type: rigid, restitution: 0}}\n";
  return text + "simulate: {end: 1}\n";
}

// t_0 + 2 v_0 e / (g (1 - e)).
double accumulation(const Ball& ball, double size = 1) {
  const double t0 = std::sqrt(2 * ball.fall * size / 10), v0 = 10 * t0;
  return t0 + 2 * v0 * ball.restitution / (10 * (1 - ball.restitution));
}

// Flights are parabolas, located to rounding of the time; what rounding changes of a speed changes all that follows,
// 1 / (1 - e) times as much.
void accumulates(double e, double size) {
  const Ball ball{0.8, e};
  Machine m(balls({ball}, size));
  const double end = accumulation(ball, size);
  m.run(end + 0.3 * std::sqrt(size));
  ASSERT_EQ(m.closed.size(), 1u) << e;
  EXPECT_NEAR(m.closed["bounce1"], end, 1e-10 * end * std::max(1.0, 0.01 / (1 - e))) << e;
  EXPECT_NEAR(m.stepper.state().q[1], 0.1 * size, 1e-12 * size) << e;
  EXPECT_NEAR(m.stepper.state().v[1], 0, 1e-12 * size) << e;
  EXPECT_NEAR(m.normal_force("bounce1"), 20, 1e-10) << e;
  // Impacts end where they are 1e-12 of the radius of gyration high: e^(2n) = 1e-13, and one tells of those left.
  EXPECT_LT(static_cast<double>(m.moments), e > 0 ? 3 + 16 / -std::log(e) : 2) << e;
  EXPECT_NEAR(m.energy_remainder(), 0, 1e-10 * size) << e;
}

TEST(Accumulation, OfABallIsFoundForEveryRestitutionBelowOne) {
  for (const double e : {0.0, 0.1, 0.5, 0.9, 0.98, 0.99}) accumulates(e, 1);
  for (const double e : {0.5, 0.98}) accumulates(e, 1e-3);
}

TEST(Accumulation, OfABallIsFoundAfterFourteenThousandImpacts) { accumulates(0.999, 1); }

// Flights far below the tolerances are parabolas all the same: a scheme that begins each of them with first order ends
// them anywhere, and the series with them. Heights fall by e^2 from flight to flight down to the lowest that is
// resolved (instant.hpp), which is the closed form of the number of impacts; one more or less where rounding decides.
TEST(Accumulation, OfABallIsTheSameSeriesForEverySchemeAndTolerance) {
  struct Way {
    Scheme scheme;
    double step;  // of those without control, in parts of the first flight's time
  };
  const Way ways[] = {{Scheme::dopri5, 0}, {Scheme::radau5, 0}, {Scheme::bdf, 0},
                      {Scheme::adams, 0},  {Scheme::rk4, 0.1},  {Scheme::generalized_alpha, 0.1}};
  for (const double size : {1.0, 1e-3})
    for (const double e : {0.9, 0.98, 0.99, 0.999})
      for (const Way& way : ways)
        for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
          if (tolerance != 1e-8 && (e == 0.999 || way.step > 0)) continue;
          const Ball ball{0.8, e};
          Machine m(balls({ball}, size), tolerance, way.scheme, way.step * std::sqrt(size));
          const double end = accumulation(ball, size);
          m.run(end * (1 + 1e-6), 1000000);
          // The floor is touched at the origin: positions are no larger than the length scale.
          const double L = m.contacts->length_scale;
          const double lowest = L * (1e-12 + 16 * std::numeric_limits<double>::epsilon() / (1 - e * e));
          const double impacts = std::ceil(std::log(lowest / (0.8 * size)) / (2 * std::log(e)));
          const std::string which =
              fmt::format("e {} size {} scheme {} tolerance {}", e, size, static_cast<int>(way.scheme), tolerance);
          EXPECT_NEAR(static_cast<double>(m.moments), impacts, 1) << which;
          ASSERT_EQ(m.closed.count("bounce1"), 1u) << which;
          // One-step schemes are exact on parabolas; the others keep the tolerance in the high flights, and what
          // changes of a speed changes all that follows.
          const bool exact = way.scheme != Scheme::bdf && way.scheme != Scheme::adams;
          EXPECT_NEAR(m.closed["bounce1"], end, end * std::max(1e-9, (exact ? 1e-11 : 10 * tolerance) / (1 - e)))
              << which;
        }
}

TEST(Accumulation, OfABallNearlyElasticEndsWhereRoundingAddsMoreThanAnImpactTakes) {
  // 1 - e^2 = 2e-6 of 5e-11 m is 1e-16 m. Followed, its flights would be 160 000 a second.
  Machine m(balls({{5e-11, 1 - 1e-6}}));
  m.run(1.0, 200);
  EXPECT_NEAR(m.stepper.state().q[1], 0.1, 5e-11);
  EXPECT_LE(m.moments, 2);
}

TEST(Accumulation, OfSeveralBallsComesToEachAtItsTime) {
  const std::vector<std::vector<Ball>> sets = {{{0.8, 0.8}, {0.3, 0.7}},
                                               {{0.8, 0.5}, {0.2, 0.8}, {0.05, 0.9}, {0.4, 0.7}, {0.8, 0.5}}};
  for (const std::vector<Ball>& set : sets)
    for (const bool table : {false, true})
      for (const char* coordinates : {"joint", "absolute"}) {
        Machine m(balls(set, 1, table, coordinates));
        double last = 0;
        for (const Ball& ball : set) last = std::max(last, accumulation(ball));
        m.run(last + 0.2);
        for (std::size_t i = 0; i < set.size(); ++i) {
          const std::string name = fmt::format("bounce{}", i + 1);
          // On the table a ball nearer than 1e-9 L takes part in the impact of another: its flight is cut there.
          EXPECT_NEAR(m.closed[name], accumulation(set[i]), table ? 1e-8 : 1e-9)
              << name << (table ? " on a table" : "");
          EXPECT_NEAR(m.normal_force(name), 20, 1e-9) << name;
        }
      }
}

// A rod that falls on one end and then clatters from end to end.
TEST(Accumulation, OfBothEndsOfARodLeavesItLying) {
  for (const double e : {0.3, 0.6, 0.8}) {
    const auto text = fmt::format(R"(
clatter: 1
gravity: [0, -10]
bodies:
  rod: {{type: planar, mass: 3, inertia: 0.25, position: [0, 0.3], angle: 0.2}}
shapes:
  left: {{on: rod, at: [-0.5, 0], type: circle, radius: 0.02}}
  right: {{on: rod, at: [0.5, 0], type: circle, radius: 0.02}}
  floor: {{on: ground, type: line}}
contacts:
  left: {{between: [left, floor], law: {{type: rigid, restitution: {0}}}}}
  right: {{between: [right, floor], law: {{type: rigid, restitution: {0}}}}}
simulate: {{end: 1}}
)",
                                  e);
    long moments = 0;
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      Machine m(text, tolerance);
      m.run(6, 20000);
      EXPECT_NEAR(m.stepper.state().q[2], 0, 1e-9) << e;
      EXPECT_NEAR(m.normal_force("left"), 15, 1e-8) << e;
      EXPECT_NEAR(m.normal_force("right"), 15, 1e-8) << e;
      EXPECT_LT(m.moments, 600) << e;
      if (moments == 0) moments = m.moments;
      EXPECT_EQ(m.moments, moments) << e << " " << tolerance;
    }
  }
}

// Beads above each other with gaps, on a floor.
std::string column(int beads, double restitution, const std::string& coordinates) {
  std::string text = fmt::format("clatter: 1\ngravity: [0, -9.81]\ncoordinates: {}\nbodies:\n", coordinates);
  for (int i = 0; i < beads; ++i)
    text += fmt::format("  bead{}: {{type: planar, mass: 1, inertia: 0.00125, position: [0, {:.12g}]}}\n", i + 1,
                        0.06 + 0.11 * i);
  text += "shapes:\n  floor: {on: ground, type: line}\n";
  for (int i = 0; i < beads; ++i)
    text += fmt::format("  round{0}: {{on: bead{0}, type: circle, radius: 0.05}}\n", i + 1);
  text += fmt::format("contacts:\n  hit1: {{between: [round1, floor], law: {{type: rigid, restitution: {}}}}}\n",
                      restitution);
  for (int i = 1; i < beads; ++i)
    text += fmt::format("  hit{0}: {{between: [round{0}, round{1}], law: {{type: rigid, restitution: {2}}}}}\n", i + 1,
                        i, restitution);
  return text + "simulate: {end: 1}\n";
}

// An independent program with exact parabolas and the same law of impact takes 1452 moments for ten beads, and the same
// number when the gaps change by 1e-11 of a metre. What closes last may be told at the moment before or after.
TEST(Accumulation, OfAColumnOfBeadsTakesTheSameMomentsAtEveryTolerance) {
  std::vector<long> moments;
  for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
    Machine m(column(10, 0.9, tolerance == 1e-8 ? "absolute" : "joint"), tolerance);
    m.run(0.6, 20000);
    moments.push_back(m.moments);
    for (int i = 1; i <= 10; ++i) EXPECT_NEAR(m.normal_force(fmt::format("hit{}", i)), 9.81 * (11 - i), 1e-8) << i;
    EXPECT_NEAR(m.energy_remainder(), 0, 1e-9);
  }
  EXPECT_EQ(moments, std::vector<long>(3, moments.front()));
  EXPECT_NEAR(static_cast<double>(moments.front()), 1452, 10);
}

}  // namespace
}  // namespace clatter::contact
