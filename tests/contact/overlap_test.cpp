// Overlaps at the start: the smallest correction in the metric of M, and what is refused.
#include "contact/overlap.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "contact/models.hpp"

namespace clatter::contact {
namespace {

struct Start {
  explicit Start(const Model& model)
      : system(System::compile(model)), contacts(ContactSystem::compile(system)), engine(system), s(system->initial) {
    make_consistent(engine, s);
  }
  StartOverlap clear() { return take_back_overlap(contacts, engine, s); }
  double deepest() {
    Contacts places(contacts, engine);
    places.detect(s, 0);
    double most = 0;
    for (const int slot : places.near()) most = std::max(most, -places[slot].gap);
    return most;
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  State s;
};

Model balls(const std::vector<double>& mass, double distance, double size = 1) {
  ModelMaker m(Vec3(0, -10 * size, 0));
  std::vector<int> shapes;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const int body = m.planar_body(mass[i], 0.01 * size * size, Vec3(distance * static_cast<double>(i) * size, 0, 0),
                                   Vec3(0, size, 0));
    shapes.push_back(m.circle(body, 0.1 * size));
    if (i > 0) m.contact(shapes[i - 1], shapes[i], 0, 0.3);
  }
  return m.model;
}

TEST(StartOverlap, OfTwoBallsIsSharedAgainstTheirMasses) {
  for (const double size : {1.0, 1000.0}) {
    Start start(balls({1, 3}, 0.199, size));
    const StartOverlap o = start.clear();
    EXPECT_EQ(o.places, 1);
    EXPECT_NEAR(o.depth, 1e-3 * size, 1e-12 * size);
    EXPECT_NEAR(o.moved, 0.75e-3 * size, 1e-12 * size);
    EXPECT_NEAR(start.s.q[0], -0.75e-3 * size, 1e-12 * size);
    EXPECT_NEAR(start.s.q[3], (0.199 + 0.25e-3) * size, 1e-12 * size);
    EXPECT_EQ(start.s.v, start.system->initial.v);
    EXPECT_LT(start.deepest(), 1e-12 * size);
  }
}

TEST(StartOverlap, OfARowOfBallsIsTakenBackTogether) {
  // Equal masses, three overlaps d in a row of four: the ends move by 1.5 d, those between by d / 2.
  Start start(balls({1, 1, 1, 1}, 0.199));
  const StartOverlap o = start.clear();
  EXPECT_EQ(o.places, 3);
  const double expected[] = {-1.5e-3, -0.5e-3, 0.5e-3, 1.5e-3};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(start.s.q[3 * i] - 0.199 * i, expected[i], 1e-11);
  EXPECT_NE(o.text().find("deepest of 3 places"), std::string::npos) << o.text();
}

TEST(StartOverlap, WithinRoundingIsNoneAndBeyondATenthIsRefused) {
  Start fine(balls({1, 1}, 0.2 - 1e-11));
  const Vec q = fine.s.q;
  EXPECT_EQ(fine.clear().places, 0);
  EXPECT_EQ(fine.s.q, q);
  Start most(balls({1, 1}, 0.2 - 0.0099));
  EXPECT_EQ(most.clear().places, 1);
  Start deep(balls({1, 1}, 0.2 - 0.0101));
  EXPECT_THROW(deep.clear(), InputError);
  Model fixed = balls({1, 1}, 0.199);
  fixed.initial.adjust_positions = false;
  EXPECT_THROW(Start(fixed).clear(), InputError);
}

// A rod in a pin leans into a wall by 1 mm: it turns back about the pin, in both kinds of coordinates, and its rate
// keeps the joint.
TEST(StartOverlap, OfAJointedBodyKeepsItsJoint) {
  for (const char* coordinates : {"joint", "absolute"}) {
    SCOPED_TRACE(coordinates);
    Start start(load_model_text(std::string("clatter: 1\ncoordinates: ") + coordinates + R"(
gravity: [0, -10, 0]
bodies:
  rod: {type: planar, mass: 1, inertia: 1/12, frames: {root: {at: [0, 0.5]}}}
joints:
  pin: {type: revolute, between: [ground, rod.root], axis: z, angle: -0.001, rate: 2}
shapes:
  tip: {on: rod, at: [0, -0.5], type: circle, radius: 0.05}
  wall: {on: ground, at: [-0.05, 0], rotate: -90 deg, type: line}
contacts: {leans: {between: [tip, wall], law: {type: rigid}}}
simulate: {end: 1}
)",
                                "rod.yaml"));
    const double before = start.deepest();
    EXPECT_NEAR(before, 1e-3, 1e-6);
    EXPECT_EQ(start.clear().places, 1);
    EXPECT_LT(start.deepest(), 1e-12);
    start.engine.prepare_response(start.s);
    const LinkMotion& m = start.engine.links().motion[0];
    // The problem of a correction is solved to 1e-6 of the overlap; rates turn with the angle, to its square.
    EXPECT_LT((m.p - Vec3(0, -0.5, 0)).norm(), 1e-9);
    EXPECT_NEAR(m.w.z(), 2, 2e-6);
    EXPECT_NEAR(m.v.x(), 0.5 * m.w.z(), 1e-9);
  }
}

TEST(StartOverlap, ThatJointsHoldIsRefused) {
  Start start(load_model_text(R"(clatter: 1
coordinates: absolute
bodies:
  one: {type: planar, mass: 1, inertia: 1, frames: {end: {at: [0.199, 0]}}}
  two: {type: planar, mass: 1, inertia: 1, position: [0.199, 0]}
joints:
  stem: {type: fixed, between: [one.end, two]}
shapes:
  left: {on: one, type: circle, radius: 0.1}
  right: {on: two, type: circle, radius: 0.1}
contacts: {stuck: {between: [left, right], law: {type: rigid}}}
simulate: {end: 1}
)",
                              "stuck.yaml"));
  try {
    start.clear();
    FAIL() << "nothing was said";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("`left` and `right` overlap by 0.001 m"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace clatter::contact
