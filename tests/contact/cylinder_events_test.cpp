// Event-driven motion of cylinders that land on something and come to rest.
//
// Nothing is known in closed form but what must hold: the energy is what the ledger says, nothing gets into anything,
// there is an end to the events, and at the end nothing moves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "contact/event_driven.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Landing {
  const char* name;
  const char* solid;
  const char* floor;
  double restitution;
};

struct Fall {
  explicit Fall(const std::string& text)
      : system(System::compile(load_model_text(text))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings()) {
    stepper.start(system->initial);
    start = energy();
  }
  static IntegratorSettings settings() {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = 1e-9;
    s.absolute_tolerance = 1e-11;
    s.max_step = 0.02;
    return s;
  }
  double energy() {
    const State s = stepper.state();
    return stepper.contact_dynamics().stored_energy(s) - stepper.work().sum();
  }
  void run(double end, int most_steps) {
    while (stepper.state().t < end && steps < most_steps) {
      stepper.step(end);
      ++steps;
      remainder = std::max(remainder, std::abs(energy() - start));
    }
  }

  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  double start = 0, remainder = 0;
  int steps = 0;
};

class CylinderLands : public ::testing::TestWithParam<Landing> {};

// They fall by 10 cm, tilted. With restitution they rock from side to side, and the end of that is a series of impacts
// of its own on each side. 1e-7 of the 0.4 J: the step tolerance of 1e-9 over some hundred steps, where a flat coin's
// deepest point runs round its rim within nothing.
TEST_P(CylinderLands, AndComesToRestAfterAFiniteNumberOfEvents) {
  const Landing& c = GetParam();
  Fall fall(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  body: {{mass: 0.4 kg, shape: {{cylinder: {}}}, position: [0, 0.7 mm, 10 cm], orientation: {{axis: [0.2, 1, 0.1], angle: 25 deg}}}}
shapes:
  floor: {{on: ground, type: {}}}
contacts:
  rub: {{between: [body, floor], law: {{type: rigid, friction: 0.4, restitution: {}}}}}
simulate: {{method: event-driven, end: 0.8 s}}
)",
                        c.solid, c.floor, c.restitution));
  fall.run(0.8, 5000);
  EXPECT_EQ(fall.stepper.state().t, 0.8) << "events without end";
  EXPECT_LT(fall.remainder, 2e-7);
  EXPECT_LT(fall.stepper.certificate().penetration, 1e-11);
  EXPECT_LT(fall.stepper.state().v.norm(), 1e-8);
  EXPECT_GE(fall.stepper.active().size(), 2u) << "it lies on its side, or stands";
}

const char *const kCoin = "{radius: 4 cm, length: 1 cm}", *const kLog = "{radius: 1.5 cm, length: 12 cm}",
                  *const kDrum = "{radius: 3 cm, length: 6 cm}";
const char *const kPlane = "plane", *const kBox = "box, size: [0.3, 0.25, 0.1], at: [0, 0, -0.05]";
INSTANTIATE_TEST_SUITE_P(
    , CylinderLands,
    ::testing::Values(Landing{"CoinOnPlane", kCoin, kPlane, 0}, Landing{"LogOnPlane", kLog, kPlane, 0},
                      Landing{"DrumOnPlane", kDrum, kPlane, 0}, Landing{"CoinOnBox", kCoin, kBox, 0},
                      Landing{"LogOnBox", kLog, kBox, 0}, Landing{"DrumOnBox", kDrum, kBox, 0},
                      Landing{"CoinBouncesOnPlane", kCoin, kPlane, 0.3},
                      Landing{"LogBouncesOnPlane", kLog, kPlane, 0.3},
                      Landing{"DrumBouncesOnPlane", kDrum, kPlane, 0.3}, Landing{"CoinBouncesOnBox", kCoin, kBox, 0.3},
                      Landing{"LogBouncesOnBox", kLog, kBox, 0.3}, Landing{"DrumBouncesOnBox", kDrum, kBox, 0.3}),
    [](const auto& one) { return std::string(one.param.name); });

// A drum that meets the edge of a table tips over it and falls: no event is missed on the way past edge and side.
TEST(CylinderFalls, OverTheEdgeOfATableWithoutGettingIn) {
  for (const char* solid : {kCoin, kLog, kDrum}) {
    Fall fall(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  body: {{mass: 0.4 kg, shape: {{cylinder: {}}}, position: [0, 0.7 mm, 10 cm], orientation: {{axis: [0.2, 1, 0.1], angle: 25 deg}}}}
shapes:
  table: {{on: ground, type: box, size: [0.3, 0.25, 0.1], at: [-0.17, 0, -0.05]}}
contacts:
  rub: {{between: [body, table], law: {{type: rigid, friction: 0.4, restitution: 0.3}}}}
simulate: {{method: event-driven, end: 0.8 s}}
)",
                          solid));
    fall.run(0.8, 5000);
    EXPECT_EQ(fall.stepper.state().t, 0.8) << solid;
    EXPECT_GT(fall.stepper.counts().impacts, 0) << solid;
    EXPECT_LT(fall.remainder, 1e-8) << solid;
    EXPECT_LT(fall.stepper.certificate().penetration, 1e-11) << solid;
    EXPECT_LT(fall.stepper.state().q[2], -0.5) << solid;
  }
}

}  // namespace
}  // namespace clatter::contact
