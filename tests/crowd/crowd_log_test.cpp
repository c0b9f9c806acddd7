// The event log of crowds: pairs of small entries and ropes by name, as pairs tell theirs.
#include <fmt/format.h>

#include "contact/time_stepping.hpp"
#include "crowd/problems.hpp"

namespace clatter::contact {
namespace {

struct Logged {
  double t;
  std::string element, what;
};

// Events of steps up to `end`.
template <class Steps>
std::vector<Logged> log_of(Steps& stepper, double end) {
  std::vector<Logged> out;
  std::vector<StepEvent> events;
  while (stepper.state().t < end * (1 - 1e-12)) {
    const bool changed = stepper.step(end).changed;
    events.clear();
    stepper.describe_step(events);
    EXPECT_EQ(changed, !events.empty());
    for (const StepEvent& e : events) out.push_back({stepper.state().t, e.element, e.what});
  }
  return out;
}

std::string falling(const char* solver) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  ball: {{mass: 1 kg, shape: {{sphere: 10 cm}}, position: [0, 0, 0.3], velocity: [1 m/s, 0, 0]}}
  box: {{mass: 1 kg, shape: {{box: [20 cm, 20 cm, 20 cm]}}, position: [0, 2, 0.1], velocity: [1 m/s, 0, 0]}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{touch: {{between: [[ball, box], floor], law: {{type: rigid, friction: 0.3, restitution: 0.15}}}}}}
simulate: {{method: time-stepping, contact_solver: {}, step: 1 ms, end: 1 s}}
)",
                     solver);
}

TEST(CrowdLog, TellsWhatPairsTell) {
  // A ball lands at sqrt(2 s / g) and bounces; a box slides to its stop at v / (mu g) = 0.339789 s. The first of each
  // kind of event is told by the machinery for pairs too. Times differ by the schemes' first order: two steps. How
  // often the ball bounces after the first time is another matter: a crowd takes for an impact what closes a gap at the
  // speed of the step's begin, without what gravity adds in the step.
  Crowd crowd(falling("gauss-seidel"));
  const std::vector<Logged> ours = log_of(*crowd.stepper, 1);
  const auto system = System::compile(load_model_text(falling("newton"), "pair.yaml"));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  ContactDynamics dynamics(contacts, engine);
  IntegratorSettings settings;
  settings.step = 1e-3;
  MoreauStepper pair(dynamics, settings);
  pair.start(system->initial);
  const std::vector<Logged> theirs = log_of(pair, 1);
  const auto times = [](const std::vector<Logged>& log, const std::string& element, const std::string& what) {
    std::vector<double> out;
    for (const Logged& e : log)
      if (e.element.starts_with(element) && e.what == what && (out.empty() || e.t > out.back() + 5e-3))
        out.push_back(e.t);
    return out;
  };
  for (const auto& [element, what] :
       {std::pair("touch.ball.floor", "impact"), std::pair("touch.box.floor", "sticks")}) {
    const std::vector<double> a = times(ours, element, what), b = times(theirs, element, what);
    ASSERT_FALSE(a.empty() || b.empty()) << element << " " << what;
    EXPECT_NEAR(a[0], b[0], 2e-3) << element << " " << what;
  }
  EXPECT_NEAR(times(ours, "touch.ball.floor", "impact")[0], std::sqrt(2 * 0.2 / 9.81), 2e-3);
  EXPECT_NEAR(times(ours, "touch.box.floor", "sticks")[0], 1 / (0.3 * 9.81), 2e-3);
}

TEST(CrowdLog, TellsWhenARopeIsTaut) {
  // From a fall of 0.5 m: sqrt(2 s / g).
  Crowd c(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies: {weight: {mass: 1 kg, shape: {sphere: 5 cm}, position: [0, 0, -0.5]}}
contacts: {tie: {rope: [ground, weight], length: 1 m, law: {type: rigid}}}
simulate: {method: time-stepping, step: 1 ms, end: 1 s}
)");
  const std::vector<Logged> log = log_of(*c.stepper, 1);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].element, "tie");
  EXPECT_EQ(log[0].what, "impact");
  EXPECT_NEAR(log[0].t, std::sqrt(2 * 0.5 / 9.81), 2e-3);
  EXPECT_EQ(log[1].what, "closes");
}

std::string balls(int n) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies: {{grain: {{bodies: {{b: {{shape: {{sphere: 5 cm}}, density: 1000 kg/m^3}}}}}}}}
instances: {{row: {{of: grain, repeat: {{i: {}, seed: 2}}, at: [20 cm * i, 1 cm * u, 10 cm + 2 cm * w]}}}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{touch: {{between: ["row_*.b", floor], law: {{type: rigid, friction: 0.3}}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 1 s}}
)",
                     n);
}

TEST(CrowdLog, FollowsEntriesOfUpToFortyPairs) {
  for (const int n : {40, 41}) {
    Crowd c(balls(n));
    int impacts = 0;
    for (const Logged& e : log_of(*c.stepper, 0.3)) impacts += e.what == "impact" ? 1 : 0;
    EXPECT_EQ(impacts, n == 40 ? 40 : 0);
    EXPECT_EQ(c.stepper->counts().impacts, n);
  }
}

TEST(CrowdLog, GoesOnFromACheckpointWithTheSameEvents) {
  Crowd whole(balls(30)), part(balls(30));
  whole.run(0.1);
  whole.stepper->refresh();
  std::vector<double> memory(whole.stepper->memory_size());
  whole.stepper->save(memory);
  part.stepper->refresh();
  part.stepper->restore(memory);
  const std::vector<Logged> a = log_of(*whole.stepper, 0.4), b = log_of(*part.stepper, 0.4);
  ASSERT_GT(a.size(), 5u);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].t, b[i].t);
    EXPECT_EQ(a[i].element, b[i].element);
    EXPECT_EQ(a[i].what, b[i].what);
  }
}

}  // namespace
}  // namespace clatter::contact
