// What a step of an event-driven motion costs: no memory from the heap, few iterations of implicit schemes.
#include <gtest/gtest.h>

#include "contact/allocations.hpp"
#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  Machine(const std::string& text, const IntegratorSettings& settings)
      : system(System::compile(load_model_text(text, "machine.yaml"))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings) {
    stepper.start(system->initial);
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
};

IntegratorSettings settings(Scheme scheme, double step) {
  IntegratorSettings s;
  s.scheme = scheme;
  s.step = step;
  s.relative_tolerance = s.absolute_tolerance = 1e-9;
  return s;
}

// A box on its four corners, pulled by a spring: eight rows more than it has freedoms; a ball far above it is watched.
std::string box(double pull) {
  return R"(
clatter: 1
gravity: [0, 0, -10]
bodies:
  box: {mass: 2, inertia: [0.02, 0.03, 0.04], position: [0, 0, 0.1]}
  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [0, 0, 50], velocity: [0, 0, 1]}
forces:
  pull: {type: force, on: box, components: [)" +
         std::to_string(pull) + R"( - 2*box.position.x, 0.3*sin(5*t), 0]}
shapes:
  block: {on: box, type: box, size: [0.4, 0.3, 0.2]}
  hull: {on: ball, type: sphere, radius: 0.1}
  floor: {on: ground, type: plane}
contacts:
  feet: {between: [block, floor], law: {type: rigid, friction: 0.3}}
  far: {between: [hull, block], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)";
}

TEST(EventDrivenStep, TakesNoMemoryFromTheHeapAlsoWithRedundantContacts) {
  for (const double pull : {1.0, 9.0}) {  // sticks, slides
    Machine m(box(pull), settings(Scheme::dopri5, 1e-3));
    ASSERT_EQ(m.stepper.active().size(), 4u);
    EXPECT_EQ(m.stepper.active()[0].mode, pull < 6 ? Mode::stick : Mode::slide);
    for (int i = 0; i < 5; ++i) m.stepper.step(1);
    const long before = allocations;
    for (int i = 0; i < 10; ++i) ASSERT_FALSE(m.stepper.step(1).at_event);
    EXPECT_EQ(allocations - before, 0) << pull;
  }
}

// A rod whose end slides (PV-6, first row of numbers). The force of a sliding contact does not act along its gradient:
// an iteration matrix with the gradient in its place contracts by mu G_NT / G_NN = 0.2 only, at least seven iterations
// to 1e-5 of the first increment. With the true directions it is Newton's method with a matrix of an earlier step:
// hardly more than without friction, where the motion along the floor is free.
TEST(EventDrivenStep, OfImplicitSchemesIsHardlySlowerWithSlidingFriction) {
  const auto iterations = [](double mu, Scheme scheme) {
    Machine m(R"(
clatter: 1
gravity: [0, -9.81]
bodies:
  rod:
    type: planar
    mass: 1
    inertia: 0.33333333333333333
    position: [-0.86602540378443865, 0.5]
    angle: -30 deg
    angular_velocity: -1
    velocity: [3, 0.86602540378443865]
    frames: {end: [1, 0]}
shapes:
  tip: {on: rod.end, type: circle, radius: 0}
  floor: {on: ground, type: line}
contacts:
  slide: {between: [tip, floor], law: {type: rigid, friction: )" +
                  std::to_string(mu) + "}}\nsimulate: {end: 1}\n",
              settings(scheme, 2e-3));
    EXPECT_EQ(m.stepper.active().size(), 1u);
    long sum = 0, steps = 0;
    while (m.stepper.state().t < 0.2) {
      sum += m.stepper.step(0.2).newton_iterations;
      ++steps;
    }
    EXPECT_EQ(m.stepper.active().size(), 1u);
    return static_cast<double>(sum) / static_cast<double>(steps);
  };
  for (const Scheme scheme : {Scheme::generalized_alpha, Scheme::radau5}) {
    const double without = iterations(0, scheme), with = iterations(0.5, scheme);
    EXPECT_LT(with, without + 1.2) << static_cast<int>(scheme);
  }
}

}  // namespace
}  // namespace clatter::contact
