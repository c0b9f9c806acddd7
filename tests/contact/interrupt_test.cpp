// A first wish to stop is answered within a step of time stepping that lasts, with the last accepted state kept.
#include <gtest/gtest.h>

#include <atomic>

#include "base/interrupt.hpp"
#include "contact/nonsmooth_alpha.hpp"
#include "contact/time_stepping.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

// Asks for a stop at its n-th evaluation of the motion, as a user would in the middle of a step.
class Impatient : public ContactDynamics {
 public:
  Impatient(std::shared_ptr<const ContactSystem> contacts, Engine& engine, std::atomic<bool>& wish)
      : ContactDynamics(std::move(contacts), engine), wish_(wish) {}
  void accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) override {
    ContactDynamics::accelerations(s, a, lambda, zdot);
    count();
  }
  void residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) override {
    ContactDynamics::residual(s, a, lambda, r, zdot);
    count();
  }
  bool armed = false;
  long evaluations = 0;

 private:
  void count() {
    if (armed && ++evaluations == 1) wish_ = true;
  }
  std::atomic<bool>& wish_;
};

// A box that turns by more than half a turn in a step: every attempt fails, and is halved.
constexpr const char* kSpinning = R"(
clatter: 1
gravity: [0, 0, -10]
bodies:
  box: {mass: 1, inertia: [0.1, 0.2, 0.3], position: [0, 0, 1], angular_velocity: [300, 200, 100]}
shapes:
  ball: {on: box, type: sphere, radius: 0.1}
  floor: {on: ground, type: plane}
contacts:
  hit: {between: [ball, floor], law: {type: rigid, restitution: 0.5}}
)";

template <class Stepper>
void leaves(const char* what) {
  const auto system = System::compile(load_model_text(kSpinning, "spinning.yaml"));
  Engine engine(system);
  std::atomic<bool> wish = false;
  Impatient dynamics(ContactSystem::compile(system), engine, wish);
  IntegratorSettings settings;
  settings.step = 0.1;
  Stepper stepper(dynamics, settings);
  stepper.start(system->initial);
  const State before = stepper.state();
  dynamics.armed = true;
  const InterruptScope scope(&wish);
  EXPECT_THROW(stepper.step(1), Interrupted) << what;
  // The attempt at hand is the last: the next one, or its next iteration, sees the wish.
  EXPECT_EQ(dynamics.evaluations, 1) << what;
  EXPECT_EQ(stepper.state().t, before.t);
  EXPECT_EQ(stepper.state().q, before.q);
  EXPECT_EQ(stepper.state().v, before.v);
}

TEST(Interrupt, AMoreauStepThatIsHalvedAgainAndAgainEndsWithTheAttemptAtHand) { leaves<MoreauStepper>("moreau"); }

TEST(Interrupt, AStepOfGeneralizedAlphaWithContactsEndsWithTheIterationAtHand) {
  leaves<NonsmoothAlpha>("generalized-alpha");
}

}  // namespace
}  // namespace clatter::contact
