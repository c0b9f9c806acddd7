// A stick whose tip strikes the floor, as a crowd: an impact is one impact wherever in a step it falls, by the same law
// as of pairs (tests/contact/strike_test.cpp).
//
// Without gravity and without spin before the impact the attitude at the impact is that of the start, and velocities
// after it are those of the law to rounding, whatever the step. With both, an event is placed within one step: attitude
// and speed at it are wrong by O(h), and so is all that follows.
#include "contact/strikes.hpp"
#include "crowd/poured.hpp"

namespace clatter::contact {
namespace {

constexpr CrowdSolver kSolvers[] = {CrowdSolver::gauss_seidel, CrowdSolver::newton};

// Pairs as entries of a crowd, solved to rounding.
Model as_crowd(Model model, double step, CrowdSolver solver = CrowdSolver::gauss_seidel) {
  auto crowd = std::make_shared<CrowdModel>();
  for (const Contact& c : model.contacts) {
    CrowdContact entry;
    entry.name = c.name;
    entry.first = {c.first};
    entry.second = {c.second};
    entry.law = std::get<RigidContact>(c.law);
    crowd->contacts.push_back(entry);
  }
  model.contacts.clear();
  crowd->solver = solver;
  crowd->tolerance = 1e-11;
  if (solver == CrowdSolver::gauss_seidel) crowd->iterations = 5000;
  model.crowd = crowd;
  model.simulate.step = step;
  return model;
}

TEST(CrowdStrike, IsOneImpactWhateverThePhaseAndTheStep) {
  for (const CrowdSolver solver : kSolvers)
    for (const double e : {0.0, 0.5, 1.0})
      for (const double mu : {0.0, 0.1, 0.3})
        for (const double h : {10e-6, 9.3e-6, 2.5e-6}) {
          Throw t;
          t.restitution = e;
          t.mu = mu;
          const Vec law = after_impact(t);
          for (const double phase : {0.0, 1e-9, 0.2, 0.5, 0.7, 1 - 1e-9}) {
            t.height = 2 * h * (3 + phase);
            Crowd c(as_crowd(stick(t), h, solver));
            c.run(8 * h);
            EXPECT_LT((c.v() - law).norm(), 1e-9)
                << static_cast<int>(solver) << " " << e << " " << mu << " " << h << " " << phase;
          }
        }
}

// Tangential restitution, by every solver: what the law says, which pairs follow too.
TEST(CrowdStrike, GivesTangentialSpeedBackAsTheLawSays) {
  for (const CrowdSolver solver :
       {CrowdSolver::gauss_seidel, CrowdSolver::newton, CrowdSolver::apgd, CrowdSolver::barzilai_borwein})
    for (const double e : {0.0, 0.5})
      for (const double tangential : {0.3, 1.0})
        for (const double mu : {0.1, 0.6}) {
          const double h = 9.3e-6;
          Throw t;
          t.restitution = e;
          t.tangential = tangential;
          t.mu = mu;
          const Vec law = after_impact(t);
          t.tangential = 0;
          if (mu > 0.5) {
            ASSERT_GT((after_impact(t) - law).norm(), 1e-3) << "nothing given back";
          }
          t.tangential = tangential;
          for (const double phase : {0.0, 0.4, 0.9}) {
            t.height = 2 * h * (3 + phase);
            Crowd c(as_crowd(stick(t), h, solver));
            c.run(8 * h);
            EXPECT_LT((c.v() - law).norm(), 1e-8)
                << static_cast<int>(solver) << " " << e << " " << tangential << " " << mu << " " << phase;
          }
        }
}

// Poisson's law, with and without tangential restitution: what pairs and events do, whatever the solver.
TEST(CrowdStrike, FollowsPoissonsLawWhereItIsNamed) {
  double differ = 0;  // of the two laws: where slip turns round
  for (const CrowdSolver solver : kSolvers)
    for (const double e : {0.3, 0.8})
      for (const double tangential : {0.0, 0.6})
        for (const double mu : {0.1, 0.3, 0.6}) {
          const double h = 9.3e-6;
          Throw t;
          t.restitution = e;
          t.tangential = tangential;
          t.mu = mu;
          const Vec moreau = after_impact(t);
          t.impact = RigidContact::Impact::poisson;
          const Vec law = after_impact(t);
          differ = std::max(differ, (law - moreau).norm());
          for (const double phase : {0.0, 0.4, 0.9}) {
            t.height = 2 * h * (3 + phase);
            Crowd c(as_crowd(stick(t), h, solver));
            c.run(8 * h);
            EXPECT_LT((c.v() - law).norm(), 1e-8)
                << static_cast<int>(solver) << " " << e << " " << tangential << " " << mu << " " << phase;
          }
        }
  EXPECT_GT(differ, 1e-3);
}

// Newton's cradle by Poisson's law with e = 1/2: one blow goes through balls that touch (closed form: compression to
// 1/5 m/s, half of the impulses again).
TEST(CrowdStrike, GoesThroughACradleByPoissonsLaw) {
  std::string text = "clatter: 1\nbodies:\n";
  for (int i = 0; i < 5; ++i)
    text += fmt::format("  ball{}: {{type: planar-particle, mass: 1 kg, position: [{}, 0], velocity: [{}, 0]}}\n", i,
                        0.1 * i - (i == 0 ? 1e-3 : 0), i == 0 ? 1 : 0);
  text += "shapes:\n";
  for (int i = 0; i < 5; ++i) text += fmt::format("  round{}: {{on: ball{}, type: circle, radius: 5 cm}}\n", i, i);
  text +=
      "contacts: {hit: {among: [round0, round1, round2, round3, round4], law: {type: rigid, restitution: 0.5, impact: "
      "poisson}}}\n"
      "simulate: {method: time-stepping, contact_solver: sweeps, contact_tolerance: 1e-12, contact_iterations: 20000, "
      "step: 0.1 ms, end: 1}\n";
  Crowd c(text);
  c.run(0.01);
  EXPECT_NEAR(c.v()[0], -0.2, 1e-9);
  for (int i = 1; i < 5; ++i) EXPECT_NEAR(c.v()[2 * i], 0.3, 1e-9) << i;
}

// A rough ball, J = 2/5 m r^2: the point that strikes reverses by e_T, u_T+ = -e_T u_T-, and 1/m + r^2/J = 7/2 / m is
// how it answers: v+ = v - 2/7 (1 + e_T) u_T, w+ = w + 5/7 (1 + e_T) u_T / r. With e = e_T = 1 it keeps its energy.
TEST(CrowdStrike, OfARoughBallReversesItsSpin) {
  for (const double back : {0.4, 1.0}) {
    Crowd c(fmt::format(R"(
clatter: 1
gravity: [0, 0, 0]
bodies:
  ball: {{mass: 1 kg, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0.12], velocity: [0.7, -0.2, -3], angular_velocity: [2, 5, 1]}}
shapes:
  skin: {{on: ball, type: sphere, radius: 0.1}}
  floor: {{on: ground, type: plane}}
contacts: {{strikes: {{between: [skin, floor], law: {{type: rigid, friction: 3, restitution: 1, tangential_restitution: {}, impact: moreau}}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, contact_tolerance: 1e-12, contact_iterations: 9000, step: 1 ms, end: 1}}
)",
                        back));
    const double before = c.energy();
    c.run(0.02);
    // u_T = v_T + w x (-r e_z): (0.7 - 5 r, -0.2 + 2 r).
    const double ux = 0.7 - 0.5, uy = -0.2 + 0.2, part = 2.0 / 7 * (1 + back);
    EXPECT_NEAR(c.v()[0], 0.7 - part * ux, 1e-9);
    EXPECT_NEAR(c.v()[1], -0.2 - part * uy, 1e-9);
    EXPECT_NEAR(c.v()[2], 3, 1e-9);
    const double after = c.energy();  // and the links where they are now
    EXPECT_NEAR(c.engine.links().motion[0].w.y(), 5 + 2.5 * part * ux / 0.1, 1e-8);
    if (back == 1) {
      EXPECT_NEAR(after, before, 1e-9 * before);
    }
  }
}

// The event-driven method, by the same law: sliding on and turning round, with gravity.
TEST(CrowdStrike, ConvergesWithTheStepForEveryPhase) {
  for (const double e : {0.0, 0.5, 1.0})
    for (const double mu : {0.0, 0.1, 0.3}) {
      double worst[3] = {0, 0, 0}, place[3] = {0, 0, 0};
      for (int k = 0; k < 8; ++k) {
        Throw t;
        t.restitution = e;
        t.mu = mu;
        t.rate = 1;
        t.gravity = 9.81;
        t.height = 0.02 + 1.37e-4 * k;
        EventRun exact(stick(t));
        exact.run(0.02);
        const double steps[] = {8e-4, 4e-4, 2e-4};
        for (int i = 0; i < 3; ++i) {
          Crowd c(as_crowd(stick(t), steps[i]));
          c.run(0.02);
          worst[i] = std::max(worst[i], (c.v() - exact.stepper.state().v).norm());
          place[i] = std::max(place[i], (c.q() - exact.stepper.state().q).norm());
        }
      }
      // Speeds of a few m/s and rad/s, accelerations up to 50: an event placed within h.
      for (int i = 0; i < 3; ++i) {
        EXPECT_LT(worst[i], 50 * 8e-4 / (1 << i)) << e << " " << mu;
        EXPECT_LT(place[i], 10 * 8e-4 / (1 << i)) << e << " " << mu;
      }
      EXPECT_LT(worst[2], 0.5 * worst[0] + 1e-9) << e << " " << mu;
    }
}

TEST(CrowdStrike, IsTheSameInMillimetres) {
  Throw t;
  t.gravity = 9.81;
  Crowd metres(as_crowd(stick(t), 1e-4));
  t.size = 1000;
  Crowd millimetres(as_crowd(stick(t), 1e-4));
  for (Crowd* c : {&metres, &millimetres}) c->run(0.02);
  EXPECT_NEAR(millimetres.v()[2], metres.v()[2], 1e-8);
  EXPECT_NEAR(millimetres.q()[1] / 1000, metres.q()[1], 1e-8);
}

// A bar that falls flat: both tips at once, e = 0, and nothing turns.
TEST(CrowdStrike, OfBothTipsAtOnceStopsABarThatFallsFlat) {
  for (const double phase : {0.0, 0.3, 0.6, 0.9}) {
    Throw t;
    const double h = 1e-4;
    t.velocity = Vec3(0.3, -2, 0);
    t.gravity = 9.81;
    t.height = 2 * h * (5 + phase);
    Crowd c(as_crowd(stick(t, 0, true), h));
    c.run(10 * h);
    // Slides on: dv = mu (2 + g t), the weight's part within a step of its place.
    EXPECT_NEAR(c.v()[0], 0.3 - 0.1 * (2 + 9.81 * 10 * h), 3e-4) << phase;
    EXPECT_NEAR(c.v()[1], 0, 1e-10);
    EXPECT_NEAR(c.v()[2], 0, 1e-9);
    // Points are mended down to what the tolerance of the rates allows in a step.
    EXPECT_NEAR(c.q()[1], 0, 1e-12);
  }
}

// The blow on one tip sends the other against the floor within the same step: that is a second impact with all its
// speed, not one that the first step stops in part and the next throws back in part.
TEST(CrowdStrike, OfOneTipSendsTheOtherToAnImpactOfItsOwn) {
  const double h = 1e-4, v = 1;
  for (const double e : {0.0, 0.5})
    for (const double apart : {0.92, 1.0, 1.1}) {
      Throw t;
      t.restitution = e;
      t.mu = 0.2;
      t.velocity = Vec3(0.1, -v, 0);
      t.height = 5.1 * h * v;
      const Model model = stick(t, std::asin(apart * h * v), true);
      EventRun exact(model);
      exact.run(10 * h);
      Crowd c(as_crowd(model, h));
      c.run(10 * h);
      // Attitude and gap columns to h times speeds of order one.
      EXPECT_LT((c.v() - exact.stepper.state().v).norm(), 20 * h) << e << " " << apart;
    }
}

// In space: a brick that spins falls on its corner, against the event-driven method. The blow turns it, and with it
// the direction of its slip.
TEST(CrowdStrike, OfABrickOnItsCornerConvergesWithTheStep) {
  const auto text = [](double h, double height) {
    return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  brick: {{mass: 1 kg, inertia: [0.01, 0.02, 0.03], position: [0, 0, {}], velocity: [0.4, 0.3, -2], angular_velocity: [1, -0.5, 0.7]}}
shapes:
  corner: {{on: brick, at: [0.2, 0.1, -0.15], type: sphere, radius: 0}}
  floor: {{on: ground, type: plane}}
contacts: {{strikes: {{between: [corner, floor], law: {{type: rigid, friction: 0.2, impact: moreau}}}}}}
simulate: {{method: time-stepping, {}step: {}, end: 1}}
)",
                       0.15 + height, h > 0 ? "contact_solver: gauss-seidel, " : "", h > 0 ? h : 1e-3);
  };
  double worst[3] = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    const double height = 0.02 + 1.37e-4 * k;
    EventRun exact(load_model_text(text(0, height), "brick"));
    exact.run(0.02);
    for (int i = 0; i < 3; ++i) {
      Crowd c(text(4e-4 / (1 << i), height));
      c.run(0.02);
      worst[i] = std::max(worst[i], (c.v() - exact.stepper.state().v).norm());
    }
  }
  // Turning by 7 rad/s behind the blow: rates change by 25 rad/s^2 (w x I w, and I unlike), and an event is placed
  // within h.
  for (int i = 0; i < 3; ++i) EXPECT_LT(worst[i], 25 * 4e-4 / (1 << i));
  EXPECT_LT(worst[2], 0.5 * worst[0]);
}

// Moreau's law with e = 1 and a slip that turns round would bring energy in (Kane's paradox): crowds take the part of
// the bounce that brings none, and tell it, as pairs do.
TEST(CrowdStrike, ThatWouldGainEnergyIsReducedAndTold) {
  Throw t;
  t.restitution = 1;
  t.mu = 0.3;
  t.velocity = Vec3(1, -2, 0);
  double gain = 0;
  const Vec law = after_impact(t, &gain);
  ASSERT_GT(gain, 0.05);
  for (const CrowdSolver solver : kSolvers)
    for (const double h : {1e-3, 3e-4}) {
      Crowd c(as_crowd(stick(t), h, solver));
      std::vector<StepEvent> told;
      while (c.stepper->state().t < 0.02) {
        c.stepper->step(0.02);
        c.stepper->describe_step(told);
      }
      EXPECT_LT((c.v() - law).norm(), 1e-9);
      EXPECT_NEAR(c.energy(), 2.5, 1e-9);
      EXPECT_EQ(c.stepper->unsolved().steps, 0);
      ASSERT_EQ(std::count_if(told.begin(), told.end(), [](const StepEvent& e) { return e.what == "energy gain"; }), 1);
      const auto event =
          std::find_if(told.begin(), told.end(), [](const StepEvent& e) { return e.what == "energy gain"; });
      EXPECT_TRUE(event->detail.starts_with("the law `moreau` with this friction and restitution would bring 0.15"))
          << event->detail;
    }
}

}  // namespace
}  // namespace clatter::contact
