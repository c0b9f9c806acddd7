// Rolling and drilling friction in crowds (P-26, Y-28): closed forms, the law of moments by every solver, agreement
// with pairs, energy, momentum, threads and checkpoints.
#include <fmt/format.h>

#include <cmath>

#include "contact/time_stepping.hpp"
#include "crowd/problems.hpp"

namespace clatter::contact {
namespace {

constexpr double g = 9.81;

// Rates are solved to this; motions that are linear in time keep it, times the steps that add up.
constexpr double kSolved = 1e-12;
const char* kTight = "contact_tolerance: 1e-12 m/s, contact_iterations: 5000";

// A ball of 2 kg and radius 10 cm on a plane under a weight that leans by `slope`.
struct Ball {
  double slope = 0, height = 0.1;
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();
  std::string law = "friction: 0.3", simulate = "contact_solver: gauss-seidel";
  double step = 1e-3;
  std::string text() const {
    return fmt::format(R"(
clatter: 1
gravity: [{:.17g}, 0, {:.17g}]
bodies: {{ball: {{mass: 2 kg, shape: {{sphere: 10 cm}}, position: [0, 0, {:.17g}], velocity: [{}, {}, {}], angular_velocity: [{}, {}, {}]}}}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{touch: {{between: [ball, floor], law: {{type: rigid, {}}}}}}}
simulate: {{method: time-stepping, {}, step: {} s, end: 10 s}}
)",
                       g * std::sin(slope), -g * std::cos(slope), height, v.x(), v.y(), v.z(), w.x(), w.y(), w.z(), law,
                       simulate, step);
  }
};
constexpr double R = 0.1, mass = 2, k = 0.4, I = k * mass * R * R;

std::string solved(const char* solver, const char* law) {
  return fmt::format("contact_solver: {}, friction_model: {}, {}", solver, law, kTight);
}
TEST(CrowdRolling, ABallThrownRollingStopsAfterItsDistance) {
  // (I + m R^2) alpha = -rho m g about the point of contact: a = rho g / (R (1 + k)), stop after v^2 / (2 a). The
  // scheme sums x = sum of h (v - j a h) over the steps in which it rolls; v^2 / (2 a) is off by h v / 2 and less.
  const double rho = 4e-3, a = rho * g / (R * (1 + k)), v = 0.5, h = 1e-3;
  for (const char* solver : {"gauss-seidel", "apgd", "barzilai-borwein", "semismooth-newton"}) {
    Ball ball;
    ball.v = Vec3(v, 0, 0);
    ball.w = Vec3(0, v / R, 0);
    ball.law = "friction: 0.3, rolling_friction: 4 mm";
    ball.simulate = solved(solver, "exact");
    Crowd c(ball.text());
    const double start = c.energy();
    c.run(1);
    EXPECT_NEAR(c.v()[0], v - a, 1e-9) << solver;
    c.run(2);
    const double steps = std::floor(v / (a * h));
    EXPECT_NEAR(c.q()[0], h * (steps * v - 0.5 * steps * (steps + 1) * a * h), 1e-8) << solver;
    EXPECT_NEAR(c.q()[0], 0.5 * v * v / a, h * v) << solver;
    EXPECT_LT(c.v().lpNorm<Eigen::Infinity>(), 1e-10) << solver;
    // All that it had went into friction, and the ledger knows.
    EXPECT_NEAR(c.stepper->work()[c.dynamics->friction_channel(0)], -0.5 * (1 + k) * mass * v * v, 1e-9) << solver;
    EXPECT_NEAR(c.energy() - start - c.stepper->work().sum(), 0, 1e-9) << solver;
  }
}

TEST(CrowdRolling, ADiscInThePlaneStopsAsWell) {
  // models/contact/rolling_resistance.yaml, k = 1/2.
  Crowd c(R"(
clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies: {disc: {type: planar, mass: 3 kg, inertia: 0.06, position: [0, 0.2 m], velocity: [0.5 m/s, 0], angular_velocity: -2.5 rad/s}}
shapes: {rim: {on: disc, type: circle, radius: 0.2 m}, floor: {on: ground, type: line}}
contacts: {track: {between: [rim, floor], law: {type: rigid, friction: 0.4, rolling_friction: 4 mm, drilling_friction: 1 mm}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, contact_tolerance: 1e-12 m/s, contact_iterations: 5000, step: 1 ms, end: 6 s}
)");
  c.run(2);
  EXPECT_NEAR(c.v()[0], 0.2384, 1e-9);
  c.run(5);
  EXPECT_NEAR(c.q()[0], 0.955657492, 0.5e-3 * 0.5 + 1e-6);  // half a step of the speed
  EXPECT_LT(c.v().lpNorm<Eigen::Infinity>(), 1e-10);
}

TEST(CrowdRolling, ABallRestsOnSlopesUpToItsLengthOverTheRadius) {
  // m g R sin(slope) against rho m g cos(slope): rests up to tan(slope) = rho / R; beyond it rolls with
  // g (sin - rho / R cos) / (1 + k). Under the relaxed law it rises with what it hovers at, h rho w: the impulse
  // m h rho w' of the first step has its moment too.
  const double rho = 2e-3;
  for (const char* solver : {"gauss-seidel", "semismooth-newton"})
    for (const char* law : {"exact", "relaxed"})
      for (const double part : {0.5, 0.99, 1.5, 5.0}) {
        Ball ball;
        ball.slope = std::atan(part * rho / R);
        ball.law = "friction: 0.3, rolling_friction: 2 mm";
        ball.simulate = solved(solver, law);
        Crowd c(ball.text());
        c.run(1);
        const double a = g * (std::sin(ball.slope) - rho / R * std::cos(ball.slope)) / (1 + k);
        const double lost = std::string(law) == "relaxed" ? 1e-3 * rho * rho * a / (R * R * (1 + k)) : 0;
        EXPECT_NEAR(c.v()[0], part < 1 ? 0 : a - lost, 1e-11) << solver << law << " " << part;
        EXPECT_NEAR(c.q()[0], part < 1 ? 0 : 0.5 * a * (1 + 1e-3) - lost, 1e-11) << solver << law << " " << part;
      }
}

TEST(CrowdRolling, ASpinningBallStopsAtTheTimeOfItsMoment) {
  // I omega' = -delta m g: stands after I omega / (delta m g).
  const double delta = 3e-3, omega = 10, stop = I * omega / (delta * mass * g);
  for (const char* solver : {"gauss-seidel", "apgd", "barzilai-borwein", "semismooth-newton"}) {
    Ball ball;
    ball.w = Vec3(0, 0, omega);
    ball.law = "friction: 0.3, drilling_friction: 3 mm";
    ball.simulate = solved(solver, "exact");
    Crowd c(ball.text());
    c.run(0.9 * stop);
    EXPECT_NEAR(c.v()[5], 0.1 * omega, 1e-9) << solver;
    c.run(stop - 1e-3);
    EXPECT_GT(c.v()[5], 1e-3) << solver;
    c.run(stop + 1e-3);
    EXPECT_LT(c.v().lpNorm<Eigen::Infinity>(), 1e-10) << solver;
    EXPECT_NEAR(c.stepper->work()[c.dynamics->friction_channel(0)], -0.5 * I * omega * omega, 1e-9) << solver;
  }
}

TEST(CrowdRolling, WithoutTheseFrictionsNothingResists) {
  Ball ball;
  ball.v = Vec3(0.5, 0, 0);
  ball.w = Vec3(0, 5, 10);
  ball.simulate = solved("gauss-seidel", "exact");
  Crowd c(ball.text());
  c.run(2);
  EXPECT_NEAR(c.v()[0], 0.5, 1e-9);
}

TEST(CrowdRolling, TheRelaxedLawHoversByLengthTimesSpinOfAStep) {
  // K*: gap / h + u_N = mu |u_T| + rho |w_T| + delta |w_N|, with the spin of the same step: gap+ = h (rho |w_T| +
  // delta |w_N|). Started at that gap the ball rolls on as under the exact law.
  const double rho = 4e-3, delta = 2e-3, h = 1e-3, v = 0.5, spun = 6;
  Ball ball;
  ball.v = Vec3(v, 0, 0);
  ball.w = Vec3(0, v / R, spun);
  ball.height = R + h * (rho * v / R + delta * spun);
  ball.law = "friction: 0.3, rolling_friction: 4 mm, drilling_friction: 2 mm";
  ball.simulate = solved("gauss-seidel", "relaxed");
  Crowd c(ball.text());
  for (int i = 0; i < 800; ++i) {
    c.stepper->step(10);
    c.engine.observe(c.stepper->state(), nullptr);
    const Vec3 w = c.engine.links().motion[0].w;
    ASSERT_NEAR(c.q()[2] - R, h * (rho * w.head<2>().norm() + delta * std::abs(w.z())), 1e-10) << i;
  }
  const double a = rho * g / (R * (1 + k));
  // Normal forces change by m (rho w + delta w)' / h of the hovering: nothing, as spins fall evenly, but for the start.
  EXPECT_NEAR(c.v()[0], v - 0.8 * a, 1e-4);
  c.run(2);
  EXPECT_LT(c.v().lpNorm<Eigen::Infinity>(), 1e-9);
}

TEST(CrowdRolling, ImpactsTransmitNoMoments) {
  // As of pairs: a ball that spins about the normal bounces with the spin it had; then it rests on it and loses it.
  Ball ball;
  ball.height = 0.2;
  ball.v = Vec3(0, 0, -1);
  ball.w = Vec3(0, 0, 10);
  ball.law = "friction: 0.3, restitution: 0.5, drilling_friction: 3 mm";
  Crowd c(ball.text());
  while (c.stepper->counts().impacts == 0) c.stepper->step(1);
  EXPECT_GT(c.v()[2], 0.5);
  EXPECT_EQ(c.v()[5], 10);
  c.run(3);
  EXPECT_LT(c.v().lpNorm<Eigen::Infinity>(), 1e-12);
}

TEST(CrowdRolling, AgreesWithPairsToFirstOrder) {
  // A ball that slides, spins and rolls by Moreau's scheme with pairs (second order between events) and by the crowd's
  // (first order): the difference halves with the step.
  Ball ball;
  ball.v = Vec3(1, 0.3, 0);
  ball.w = Vec3(2, -1, 8);
  ball.law = "friction: 0.2, rolling_friction: 4 mm, drilling_friction: 3 mm";
  const auto apart = [&](double h, const char* solver) {
    ball.step = h;
    ball.simulate = std::string("contact_solver: ") + solver + ", " + kTight;
    Crowd crowd(ball.text());
    ball.simulate = "contact_solver: newton";
    const auto system = System::compile(load_model_text(ball.text(), "pair.yaml"));
    const auto contacts = ContactSystem::compile(system);
    Engine engine(system);
    ContactDynamics dynamics(contacts, engine);
    IntegratorSettings settings;
    settings.step = h;
    MoreauStepper pair(dynamics, settings);
    pair.start(system->initial);
    double most = 0;
    for (const double t : {0.2, 0.5, 0.8, 1.2}) {
      while (pair.state().t < t * (1 - 1e-12)) pair.step(t);
      crowd.run(t);
      most = std::max(most, (pair.state().q.head<3>() - crowd.q().head<3>()).norm());
      // Speeds and the sizes of spins: frames turn differently in second order.
      EXPECT_NEAR(pair.state().v.head<3>().norm(), crowd.v().head<3>().norm(), 4 * h) << solver << " " << t;
      EXPECT_NEAR(pair.state().v.tail<3>().norm(), crowd.v().tail<3>().norm(), 40 * h) << solver << " " << t;
    }
    return most;
  };
  for (const char* solver : {"gauss-seidel", "barzilai-borwein", "semismooth-newton"}) {
    const double coarse = apart(2e-3, solver), fine = apart(1e-3, solver);
    EXPECT_LT(fine, 2e-3) << solver;
    EXPECT_NEAR(coarse / fine, 2, 0.3) << solver;
  }
}

TEST(CrowdRolling, DrillingTurnsATableOnItsHinge) {
  // A side in a jointed tree: the ball slows by delta m g / I, the table speeds up by delta m g / J, until both turn
  // with I omega / (I + J).
  const double delta = 5e-3, omega = 20, J = 0.05, moment = delta * mass * g, meet = omega / (moment * (1 / I + 1 / J));
  const std::pair<const char*, const char*> laws[] = {{"gauss-seidel", "exact"},
                                                      {"gauss-seidel", "relaxed"},
                                                      {"semismooth-newton", "exact"},
                                                      {"semismooth-newton", "relaxed"}};
  for (const char* coordinates : {"joint", "absolute"})
    for (const auto& [solver, law] : laws) {
      Crowd c(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
coordinates: {}
bodies:
  table: {{mass: 3 kg, inertia: [0.03, 0.03, 0.05], position: [0, 0, 0]}}
  ball: {{mass: 2 kg, shape: {{sphere: 10 cm}}, position: [0, 0, 0.15], angular_velocity: [0, 0, {} rad/s]}}
joints: {{axle: {{type: revolute, axis: z, between: [ground, table]}}}}
shapes: {{plate: {{on: table, type: box, size: [1, 1, 0.1]}}}}
contacts: {{touch: {{between: [ball, plate], law: {{type: rigid, friction: 0.4, drilling_friction: {} m}}}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 5 s, {}}}
)",
                          coordinates, omega, delta, solved(solver, law)));
      const auto about_z = [&](int body) {
        c.engine.observe(c.stepper->state(), nullptr);
        return c.engine.frame_state(c.system->bodies[static_cast<std::size_t>(body)].frame).w.z();
      };
      c.run(0.5 * meet);
      // Under the relaxed law it is thrown up at first: some milliseconds without a moment.
      const double close = std::string(law) == "exact" ? 1e-8 : 0.2;
      EXPECT_NEAR(about_z(0), 0.5 * meet * moment / J, close) << coordinates << law;
      EXPECT_NEAR(about_z(1), omega - 0.5 * meet * moment / I, close) << coordinates << law;
      c.run(2 * meet);
      EXPECT_NEAR(about_z(0), I * omega / (I + J), 1e-8) << coordinates << law;
      EXPECT_NEAR(about_z(1), I * omega / (I + J), 1e-8) << coordinates << law;
    }
}

TEST(CrowdRolling, MomentsAreEqualAndOpposite) {
  // Two balls that a spring presses together, in no field of gravity, turning in all ways: linear momentum stays,
  // angular momentum too but for impulses that act at two points which a gap or penetration holds apart (the balls move
  // round each other along tangents). What turns against each other comes to turn together.
  Crowd c(R"(
clatter: 1
bodies:
  a: {mass: 2 kg, shape: {sphere: 10 cm}, position: [0, 0, 0.1], angular_velocity: [3, 1, 10]}
  b: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, -0.1], angular_velocity: [1, -2, -4]}
forces: {press: {type: spring-damper, between: [a, b], stiffness: 20 N/m, length: 1 cm}}
contacts: {touch: {among: [a, b], law: {type: rigid, friction: 0.5, rolling_friction: 5 mm, drilling_friction: 5 mm}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, contact_tolerance: 1e-12 m/s, contact_iterations: 5000, step: 1 ms, end: 8 s}
)");
  const auto momenta = [&] {
    c.engine.observe(c.stepper->state(), nullptr);
    std::pair<Vec3, Vec3> p(Vec3::Zero(), Vec3::Zero());
    for (std::size_t l = 0; l < 2; ++l) {
      const Link& link = c.system->tree.links[l];
      const LinkMotion& m = c.engine.links().motion[l];
      p.first += link.mass * m.v;
      p.second += link.mass * m.p.cross(m.v) + m.R * link.inertia * m.R.transpose() * m.w;
    }
    return p;
  };
  const auto start = momenta();
  double apart = 0, moments = 0;  // what the distance of the points makes; what moments change, if only one acted
  for (int i = 0; i < 500; ++i) {
    c.stepper->step(10);
    const CrowdEntryState& e = c.stepper->entries()[0];
    apart += 1e-3 * std::abs(e.gap) * e.force.norm();
    moments += 1e-3 * 5e-3 * e.normal_force;
  }
  const auto now = momenta();
  EXPECT_LT((now.first - start.first).norm(), 1e-12);
  EXPECT_LT((now.second - start.second).norm(), apart + 1e-12);
  EXPECT_LT(apart, 1e-5 * moments);
  c.run(8);
  const auto& motion = (momenta(), c.engine.links().motion);
  EXPECT_LT((motion[0].w - motion[1].w).norm(), 1e-9);
}

// Rows of a random problem transmit moments, some of one kind only.
CrowdProblem with_moments(CrowdProblem p, unsigned seed, bool planar) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  for (std::size_t i = 0; i < p.rows.size(); ++i) {
    CrowdTurn t;
    t.rolling = i % 4 == 1 ? 0 : 0.3 * u(random);
    t.drilling = i % 4 == 2 || planar ? 0 : 0.3 * u(random);
    p.set_response(p.rows[i], t);
    p.turns.push_back(t);
  }
  return p;
}

CrowdProblem swept(CrowdProblem p, bool exact) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  EXPECT_TRUE(sweeps.solve(p, exact, kSolved, 400000).converged);
  return p;
}
CrowdProblem by_newton(CrowdProblem p, bool exact) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdNewton newton(sweeps, false);
  EXPECT_TRUE(newton.solve(p, exact, kSolved, 400).converged);
  EXPECT_EQ(newton.counts().fallbacks, 0);
  EXPECT_LE(p.residual(exact).rate, 2 * kSolved);
  return p;
}
CrowdProblem by_gradients(CrowdProblem p, bool exact, bool spectral) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdGradients gradients(sweeps);
  EXPECT_TRUE(gradients.solve(p, exact, spectral, 100 * kSolved, 400000).converged);
  return p;
}

TEST(CrowdRolling, AllSolversMeetTheOptimalityConditionsOfTheRelaxedLaw) {
  // Impulses and moments in the cone, rates and spins in its dual, at right angles; velocities are unique.
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const bool planar = seed % 4 == 0;
    const CrowdProblem p = with_moments(random_problem(seed, 6, 14, planar, seed % 3 == 0), seed, planar);
    const CrowdProblem found[] = {swept(p, false), by_gradients(p, false, false), by_gradients(p, false, true),
                                  by_newton(p, false)};
    EXPECT_LT(largest_difference(found[0], found[3]), 1e-8) << seed;
    int moments = 0;
    for (const CrowdProblem& x : found) {
      EXPECT_LT(x.residual(false).rate, 1e-9) << seed;
      EXPECT_LT(largest_difference(x, found[0]), 1e-6) << seed;
      for (std::size_t i = 0; i < x.rows.size(); ++i) {
        const CrowdRow& row = x.rows[i];
        const CrowdTurn& t = x.turns[i];
        const Vec3 n(row.n[0], row.n[1], row.n[2]), uu = x.rate(row), w = x.spin(row, t), M = moment(t);
        const double un = n.dot(uu), wn = n.dot(w), mn = n.dot(M);
        EXPECT_LE(Vec3(row.pt[0], row.pt[1], row.pt[2]).norm(), row.mu * row.pn + 1e-9) << seed;
        EXPECT_LE((M - mn * n).norm(), t.rolling * row.pn + 1e-9) << seed;
        EXPECT_LE(std::abs(mn), t.drilling * row.pn + 1e-9) << seed;
        EXPECT_GE(un + row.b,
                  row.mu * (uu - un * n).norm() + t.rolling * (w - wn * n).norm() + t.drilling * std::abs(wn) - 1e-8)
            << seed;
        EXPECT_NEAR(impulse(row).dot(uu) + row.pn * row.b + M.dot(w), 0, 1e-8) << seed;
        moments += M.norm() > 1e-3 ? 1 : 0;
      }
    }
    EXPECT_GT(moments, 3) << "hardly a moment in problem " << seed;
  }
}

TEST(CrowdRolling, AllSolversMeetTheExactLaw) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const bool planar = seed % 4 == 0;
    const CrowdProblem p = with_moments(random_problem(seed, 6, 8, planar, seed % 3 == 0), seed, planar);
    for (const CrowdProblem& x : {swept(p, true), by_gradients(p, true, true), by_newton(p, true)}) {
      const CrowdResidual r = x.residual(true);
      EXPECT_LT(r.rate, 1e-8) << seed;
      EXPECT_LE(r.cone, 1e-12) << seed;
      for (std::size_t i = 0; i < x.rows.size(); ++i) {
        const CrowdRow& row = x.rows[i];
        const CrowdTurn& t = x.turns[i];
        const Vec3 n(row.n[0], row.n[1], row.n[2]), w = x.spin(row, t), M = moment(t);
        const double wn = n.dot(w), mn = n.dot(M), approach = n.dot(x.rate(row)) + row.b;
        const Vec3 wt = w - wn * n, mt = M - mn * n;
        EXPECT_GE(approach, -1e-8);
        EXPECT_LE(std::abs(approach * row.pn), 1e-7);
        // What rolls or drills does so against the whole moment.
        if (wt.norm() > 1e-6 && t.rolling > 0) {
          EXPECT_NEAR(mt.norm(), t.rolling * row.pn, 1e-6) << seed;
          EXPECT_NEAR(mt.dot(wt), -mt.norm() * wt.norm(), 1e-6) << seed;
        }
        if (std::abs(wn) > 1e-6 && t.drilling > 0) {
          EXPECT_NEAR(mn, -std::copysign(t.drilling * row.pn, wn), 1e-6) << seed;
        }
      }
    }
  }
}

TEST(CrowdRolling, ProjectionOnTheConeIsTheNearestPoint) {
  // z - x belongs to the polar cone: (z - x) . x = 0 and (z - x) . y <= 0 for the cone's own rays y.
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  int kinds[4] = {};  // apex, on one or several faces, inside
  for (int trial = 0; trial < 2000; ++trial) {
    const double mu = trial % 5 == 0 ? 0 : std::abs(u(random)), rolling = trial % 7 == 0 ? 0 : std::abs(u(random)),
                 drilling = std::abs(u(random));
    const double zn = 1.5 * u(random), zd = u(random);
    const Vec3 zt{u(random), u(random), 0}, zr{u(random), u(random), 0};
    double pn = zn, mn = zd;
    Vec3 pt = zt, mt = zr;
    project_on_cone(mu, rolling, drilling, pn, pt, mt, mn);
    EXPECT_GE(pn, 0);
    EXPECT_LE(pt.norm(), mu * pn + 1e-14);
    EXPECT_LE(mt.norm(), rolling * pn + 1e-14);
    EXPECT_LE(std::abs(mn), drilling * pn + 1e-14);
    EXPECT_NEAR((zn - pn) * pn + (zt - pt).dot(pt) + (zr - mt).dot(mt) + (zd - mn) * mn, 0, 1e-14);
    EXPECT_LE(zn - pn + mu * (zt - pt).norm() + rolling * (zr - mt).norm() + drilling * std::abs(zd - mn), 1e-14);
    const int off = (zt != pt) + (zr != mt) + (zd != mn);
    ++kinds[pn == 0 ? 0 : off == 0 ? 3 : off == 1 ? 1 : 2];
  }
  for (const int n : kinds) EXPECT_GT(n, 5);
}

const char* kRolling = "friction: 0.5, rolling_friction: 1 mm, drilling_friction: 1 mm";

std::string poured(const char* shape, int side, int layers, const char* law, const std::string& simulate,
                   double pitch = 0.13, double disorder = 1) {
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
parameters: {{d: {5} m, s: {1}, half: 0.5*(d*s + 3 cm), e: {6} cm}}
assemblies: {{grain: {{bodies: {{b: {{shape: {{{0}}}, density: 2000 kg/m^3}}}}}}}}
instances:
  heap: {{of: grain, repeat: {{i: {1}, j: {1}, k: {2}, seed: 3}}, rotate: {{axis: [1, 0.4, 0.2], angle: 90 deg * w}},
         at: [d*(i - 0.5*(s - 1)) + e*u, d*(j - 0.5*(s - 1)) + e*v, 7 cm + d*k]}}
shapes:
  floor: {{on: ground, type: plane}}
  west: {{on: ground, type: plane, at: [-half, 0, 0], rotate: {{axis: y, angle: 90 deg}}}}
  east: {{on: ground, type: plane, at: [half, 0, 0], rotate: {{axis: y, angle: -90 deg}}}}
  south: {{on: ground, type: plane, at: [0, -half, 0], rotate: {{axis: x, angle: -90 deg}}}}
  north: {{on: ground, type: plane, at: [0, half, 0], rotate: {{axis: x, angle: 90 deg}}}}
contacts:
  pile: {{among: ["heap_*.b"], law: {{type: rigid, {3}}}}}
  walls: {{between: ["heap_*.b", [floor, west, east, south, north]], law: {{type: rigid, {3}}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 3 s, {4}}}
)",
                     shape, side, layers, law, simulate, pitch, disorder);
}
const char* kBalls = "sphere: 5 cm";

TEST(CrowdRolling, EnergyNeverRisesHoweverEarlySolversEnd) {
  // Rounding of sums over 36 bodies, as without moments.
  struct Case {
    const char* shape;
    const char* simulate;
  };
  for (const Case& x : {Case{kBalls, "contact_solver: gauss-seidel, contact_iterations: 2"},
                        Case{kBalls, "contact_solver: gauss-seidel, contact_iterations: 30"},
                        Case{"box: [10 cm, 7 cm, 5 cm]", "contact_solver: gauss-seidel, contact_iterations: 5"},
                        Case{kBalls, "contact_solver: gauss-seidel, friction_model: relaxed, contact_iterations: 8"},
                        Case{kBalls, "contact_solver: apgd, friction_model: relaxed, contact_iterations: 8"},
                        Case{kBalls, "contact_solver: barzilai-borwein, contact_iterations: 8"},
                        Case{kBalls, "contact_solver: semismooth-newton, contact_iterations: 3"}}) {
    Crowd c(poured(x.shape, 3, 4, kRolling, x.simulate));
    double last = c.energy();
    const double start = last;
    for (int i = 0; i < 700; ++i) {
      c.stepper->step(10);
      const double now = c.energy();
      ASSERT_LE(now, last + 1e-13 * start) << x.shape << x.simulate << " at " << c.stepper->state().t;
      last = now;
    }
    EXPECT_GT(c.stepper->touching(), 30) << "no pile: " << x.shape << x.simulate;
  }
}

TEST(CrowdRolling, PouredBallsComeToRestWithTheirSpins) {
  // All of the kinetic energy goes, down to what the tolerance of 1e-5 m/s leaves of 27 balls of 1 kg. Without these
  // frictions some may roll and spin on: which do is a matter of rounding, but one that stands alone and spins does.
  const auto left = [](Crowd& c) {
    c.run(4);
    c.engine.observe(c.stepper->state(), nullptr);
    return c.engine.kinetic();
  };
  const char* simulate = "contact_solver: gauss-seidel, contact_iterations: 300, contact_tolerance: 1e-5 m/s";
  Crowd pile(poured(kBalls, 3, 3, "friction: 0.5, rolling_friction: 0.5 mm, drilling_friction: 0.5 mm", simulate));
  EXPECT_LT(left(pile), 1e-9);
  for (const char* law : {"friction: 0.5", "friction: 0.5, drilling_friction: 0.5 mm"}) {
    Crowd alone(fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies: {{top: {{shape: {{sphere: 5 cm}}, mass: 1 kg, position: [0, 0, 5 cm], angular_velocity: [0, 0, 10]}}}}
shapes: {{floor: {{on: ground, type: plane}}}}
contacts: {{stand: {{between: [top, floor], law: {{type: rigid, {}}}}}}}
simulate: {{method: time-stepping, step: 1 ms, end: 4 s, {}}}
)",
                            law, simulate));
    const bool resisted = std::string(law).find("drilling") != std::string::npos;
    EXPECT_NEAR(left(alone), resisted ? 0 : 0.5 * 0.4 * 1 * 0.05 * 0.05 * 100, 1e-12) << law;  // I = 2/5 m r^2
  }
}

TEST(CrowdRolling, ThreadsDoNotChangeABit) {
  Crowd one(poured(kBalls, 12, 12, kRolling, "contact_iterations: 10, threads: 1", 0.1, 1e-3)),
      two(poured(kBalls, 12, 12, kRolling, "contact_iterations: 10, threads: 2", 0.1, 1e-3));
  for (int i = 0; i < 30; ++i) {
    one.stepper->step(10);
    two.stepper->step(10);
  }
  EXPECT_GT(one.stepper->rows(), 4000) << "too few contacts for blocks";
  EXPECT_EQ((one.q() - two.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((one.v() - two.v()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_GT(one.v().lpNorm<Eigen::Infinity>(), 1e-3) << "nothing moves";
}

TEST(CrowdRolling, GoesOnFromACheckpointWithTheSameBits) {
  const std::string text = poured(kBalls, 3, 4, kRolling, "contact_solver: gauss-seidel");
  Crowd whole(text), part(text);
  whole.run(0.4);
  whole.stepper->refresh();
  std::vector<double> memory(whole.stepper->memory_size());
  whole.stepper->save(memory);
  ASSERT_GT(whole.stepper->touching(), 0);
  part.stepper->refresh();
  part.stepper->restore(memory);
  for (Crowd* c : {&whole, &part}) c->run(0.6);
  EXPECT_EQ((whole.q() - part.q()).lpNorm<Eigen::Infinity>(), 0);
  EXPECT_EQ((whole.v() - part.v()).lpNorm<Eigen::Infinity>(), 0);
}

}  // namespace
}  // namespace clatter::contact
