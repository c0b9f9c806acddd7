// Exact tangents of phases with closed contacts against central differences, at states off the contact too: the
// equations of ContactDynamics are functions of any state near one, and their derivatives are taken there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "contact/contact_dynamics.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

Mat dense(const SparseMatrix<double>& A) {
  const Pattern& p = A.pattern();
  Mat X = Mat::Zero(p.rows(), p.cols());
  for (int j = 0; j < p.cols(); ++j)
    for (int k = p.col_start()[static_cast<std::size_t>(j)]; k < p.col_start()[static_cast<std::size_t>(j) + 1]; ++k)
      X(p.row_index()[static_cast<std::size_t>(k)], j) += A.values()[static_cast<std::size_t>(k)];
  return X;
}

// Truncation h^2 and rounding 1e-16 / h of a central difference of functions of order one: 1e-10. Ellipses and
// polytopes add the tolerance of their point search.
constexpr double kStep = 1e-5, kTolerance = 1e-7;

Mat difference(int n, const std::function<Vec(const Vec&)>& f) {
  Mat D;
  for (int j = 0; j < n; ++j) {
    const Vec d = (f(kStep * Vec::Unit(n, j)) - f(-kStep * Vec::Unit(n, j))) / (2 * kStep);
    if (j == 0) D.resize(d.size(), n);
    D.col(j) = d;
  }
  return D;
}

void expect_equal(const Mat& exact, const Mat& other, const std::string& what) {
  ASSERT_EQ(exact.rows(), other.rows()) << what;
  EXPECT_LT((exact - other).cwiseAbs().maxCoeff(), kTolerance * std::max(1.0, other.cwiseAbs().maxCoeff()))
      << what << "\nexact\n"
      << exact << "\ndifferences\n"
      << other;
}

struct Case {
  const char* name;
  const char* text;
  double turned = 0;  // how far the coordinates are moved away from the model's, at random
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Tangent : public testing::TestWithParam<std::tuple<Case, Mode>> {};

TEST_P(Tangent, OfAPhaseAreThoseOfItsEquations) {
  const auto& test_case = std::get<0>(GetParam());
  const Mode mode = std::get<1>(GetParam());
  const auto system = System::compile(load_model_text(test_case.text, "case.yaml"));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  ContactDynamics dynamics(contacts, engine);
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto fill = [&](Vec& x, double size) {
    for (double& e : x) e = size * uniform(random);
  };

  State s = system->initial;
  s.t = 0.3;
  make_consistent(dynamics, s);
  Vec u(engine.sizes().nv);
  fill(u, test_case.turned);
  engine.plus(s.q, u, s.q);
  fill(s.v, 1);

  // Every slot that is present takes part.
  dynamics.contacts().detect(s, 10);
  std::vector<ActiveContact> active;
  for (int slot = 0; slot < contacts->slots(); ++slot) {
    const SlotState& state = dynamics.contacts()[slot];
    if (!state.present || state.gap > 0.5) continue;
    ActiveContact c{slot, mode, {1, 0}};
    const bool spatial = contacts->pair(slot).tangents == 2;
    const double slip = spatial ? std::hypot(state.rate[1], state.rate[2]) : std::abs(state.rate[1]);
    ASSERT_GT(slip, 0.01);  // differences must not cross the corner of the friction law
    c.direction[0] = state.rate[1] / slip;
    c.direction[1] = spatial ? state.rate[2] / slip : 0;
    active.push_back(c);
  }
  // And so do the friction rows of joints and of these slots.
  std::vector<ActiveFriction> rows;
  dynamics.engine_state(s);
  for (int i = 0; i < dynamics.frictions().size(); ++i) {
    const int slot = dynamics.frictions()[i].slot;
    const auto uses = [&](const ActiveContact& c) { return c.slot == slot; };
    if (slot >= 0 && std::none_of(active.begin(), active.end(), uses)) continue;
    dynamics.frictions().evaluate(i, false);
    ASSERT_GT(dynamics.frictions().speed(i), 0.01);
    ActiveFriction f{i, mode, {1, 0}};
    for (int c = 0; c < dynamics.frictions()[i].count; ++c)
      f.direction[c] = dynamics.frictions().rate(i)[c] / dynamics.frictions().speed(i);
    rows.push_back(f);
  }
  ASSERT_FALSE(active.empty() && rows.empty());
  dynamics.set_active(active, s, rows);

  const Sizes& n = dynamics.sizes();
  Vec a(n.nv), lambda(n.nc());
  fill(a, 1);
  fill(lambda, 2);
  Tangents tangents = dynamics.tangent_layout();
  dynamics.tangents(s, a, lambda, tangents);

  const auto moved = [&](const Vec& du, const Vec& dv) {
    State m = s;
    engine.plus(s.q, du, m.q);
    m.v += dv;
    return m;
  };
  const Vec zero = Vec::Zero(n.nv);
  const auto residual = [&](const State& at, const Vec& acceleration, const Vec& multipliers) {
    Vec r(n.nv), zdot(n.nz);
    dynamics.residual(at, acceleration, multipliers, r, zdot);
    return r;
  };
  expect_equal(dense(tangents.M), difference(n.nv, [&](const Vec& x) { return residual(s, a + x, lambda); }), "M");
  expect_equal(dense(tangents.C), difference(n.nv, [&](const Vec& x) { return residual(moved(zero, x), a, lambda); }),
               "C");
  expect_equal(dense(tangents.K), difference(n.nv, [&](const Vec& x) { return residual(moved(x, zero), a, lambda); }),
               "K");
  expect_equal(-dense(tangents.directions()).transpose(),
               difference(n.nc(), [&](const Vec& x) { return residual(s, a, lambda + x); }), "N");
  const bool loaded = std::any_of(rows.begin(), rows.end(), [&](const ActiveFriction& f) {
    return dynamics.frictions()[f.index].slot >= 0 || dynamics.frictions().loaded(f.index);
  });
  EXPECT_EQ(tangents.N.has_value(), mode == Mode::slide && (loaded || !active.empty()));

  const auto constraints = [&](const State& at, bool rates) {
    Vec phi(n.nh), velocity(n.nc());
    dynamics.constraints(at, phi, velocity);
    return rates ? velocity : phi;
  };
  const Mat G = dense(tangents.G);
  expect_equal(G.topRows(n.nh), difference(n.nv, [&](const Vec& x) { return constraints(moved(x, zero), false); }),
               "G");
  expect_equal(G, difference(n.nv, [&](const Vec& x) { return constraints(moved(zero, x), true); }), "G of rates");
  expect_equal(dense(tangents.Vq), difference(n.nv, [&](const Vec& x) { return constraints(moved(x, zero), true); }),
               "Vq");

  // Second rates of the contacts' rows at given accelerations.
  const auto seconds = [&](const State& at) {
    engine.observe(at, &a);
    Vec out(n.nc() - engine.sizes().nc());
    int row = 0;
    for (const ActiveContact& c : active) {
      dynamics.contacts().evaluate(c.slot, true);
      out[row++] = dynamics.contacts()[c.slot].bias[0];
    }
    for (const ActiveContact& c : active)
      for (int k = 1; mode == Mode::stick && k <= contacts->pair(c.slot).tangents; ++k) {
        dynamics.contacts().evaluate(c.slot, true);
        out[row++] = dynamics.contacts()[c.slot].bias[k];
      }
    dynamics.engine_state(at);
    for (const ActiveFriction& f : rows)
      for (int c = 0; mode == Mode::stick && c < dynamics.frictions()[f.index].count; ++c) {
        dynamics.frictions().evaluate(f.index, true);
        out[row] = dynamics.frictions().bias(f.index)[c];
        // A coordinate of the tree has no second derivative but its own.
        const JointFrictionIndex* joint =
            dynamics.frictions()[f.index].joint >= 0 ? &dynamics.frictions().joint(f.index) : nullptr;
        if (joint != nullptr && system->measures[static_cast<std::size_t>(joint->measure[c])].velocity >= 0) {
          Vec column(n.nv);
          dynamics.frictions().column(f.index, c, column.data());
          out[row] += column.dot(a);
        }
        ++row;
      }
    return out;
  };
  const int k = n.nc() - engine.sizes().nc(), normals = static_cast<int>(active.size()), nh = engine.sizes().nh;
  if (k == 0) return;  // sliding joints alone have no rows
  const auto contact_rows = [&](const Mat& X) {
    Mat out(k, n.nv);
    out << X.middleRows(nh, normals), X.bottomRows(k - normals);
    return out;
  };
  expect_equal(contact_rows(dense(tangents.Aq)),
               difference(n.nv, [&](const Vec& x) { return seconds(moved(x, zero)); }), "Aq");
  expect_equal(contact_rows(dense(tangents.Av)),
               difference(n.nv, [&](const Vec& x) { return seconds(moved(zero, x)); }), "Av");
  // And they are the time derivatives of the rates: along q (+) (v t + a t^2 / 2), v + a t.
  const auto along = [&](double t) {
    State m = moved(t * s.v + (0.5 * t * t) * a, t * a);
    m.t += t;
    return contact_rows(constraints(m, true) * Eigen::RowVectorXd::Ones(n.nv));
  };
  const Vec rate_of_rates = ((along(kStep) - along(-kStep)) / (2 * kStep)).col(0);
  EXPECT_LT((rate_of_rates - seconds(s)).cwiseAbs().maxCoeff(), kTolerance * std::max(1.0, rate_of_rates.norm()));
}

constexpr const char* kCircleOnLine = R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.3, position: [0.1, 0.3, 0], center_of_mass: [0.05, 0.1]}
shapes:
  hull: {on: ball, type: circle, radius: 0.3}
  floor: {on: ground, rotate: 20 deg, type: line}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: 0.4}}
simulate: {end: 1}
)";

constexpr const char* kCircles = R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  left: {type: planar, mass: 2, inertia: 0.3, position: [0, 0, 0], center_of_mass: [0.05, 0.1]}
  right: {type: planar, mass: 1, inertia: 0.2, position: [0.45, 0.3, 0], center_of_mass: [-0.1, 0.07]}
shapes:
  a: {on: left, type: circle, radius: 0.3}
  b: {on: right, type: circle, radius: 0.2}
contacts:
  rest: {between: [a, b], law: {type: rigid, friction: 0.2 + 0.1*exp(-v/0.5)}}
simulate: {end: 1}
)";

constexpr const char* kEllipseOnLine = R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.3, position: [0.1, 0.25, 0], center_of_mass: [0.05, 0.1]}
shapes:
  hull: {on: ball, rotate: 25 deg, type: ellipse, semi_axes: [0.4, 0.2]}
  floor: {on: ground, type: line}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: {static: 0.5, kinetic: 0.3, velocity: 0.4}}}
simulate: {end: 1}
)";

constexpr const char* kEllipseOnCurve = R"(
clatter: 1
bodies:
  ball: {type: planar, mass: 2, inertia: 0.3, position: [0.1, 0.35, 0]}
  cam: {type: planar, mass: 3, inertia: 0.4, position: [0, 0, 0], center_of_mass: [0.05, 0.1]}
shapes:
  hull: {on: ball, rotate: 25 deg, type: circle, radius: 0.1}
  cam: {on: cam, type: curve, x: 0.4*cos(s), y: 0.25*sin(s), from: 0, to: 2*pi, closed: true}
contacts:
  rest: {between: [hull, cam], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)";

constexpr const char* kArm = R"(
clatter: 1
gravity: [0, -9.81, 0]
coordinates: COORDINATES
bodies:
  upper: {type: planar, mass: 2, inertia: 0.3, position: [0.5, 0, 0]}
  lower: {type: planar, mass: 1, inertia: 0.1, position: [1.0, -0.4, 0]}
joints:
  shoulder: {type: revolute, between: [ground, upper], at: [0, 0]}
  elbow: {type: revolute, between: [upper, lower], at: [1, 0]}
forces:
  drag: {type: force, on: lower, components: [-0.7*lower.velocity.x, 2*sin(3*t)]}
shapes:
  foot: {on: lower, at: [0, -0.4], type: circle, radius: 0.1}
  floor: {on: ground, at: [0, -0.9], rotate: 10 deg, type: line}
contacts:
  rest: {between: [foot, floor], law: {type: rigid, friction: 0.4 + 0.2*exp(-v/0.8)}}
simulate: {end: 1}
)";

constexpr const char* kDrivenTable = R"(
clatter: 1
gravity: [0, -9.81, 0]
coordinates: COORDINATES
bodies:
  table: {type: planar, mass: 2, inertia: 0.3, position: [0, 0, 0]}
  ball: {type: planar, mass: 1, inertia: 0.1, position: [0.2, 0.2, 0]}
joints:
  lift: {type: prismatic, between: [ground, table], at: [0, 0], axis: y, drive: 0.1*sin(5*t)}
shapes:
  hull: {on: ball, type: circle, radius: 0.2}
  top: {on: table, type: line}
contacts:
  rest: {between: [hull, top], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)";

constexpr const char* kSphereOnPlane = R"(
clatter: 1
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0, 0, 0.3], center_of_mass: [0.05, 0.1, 0.02]}
shapes:
  hull: {on: ball, type: sphere, radius: 0.3}
  floor: {on: ground, type: plane}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: 0.2 + 0.1*exp(-v/0.5)}}
simulate: {end: 1}
)";

constexpr const char* kSpheres = R"(
clatter: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0, 0, 0.3], center_of_mass: [0.05, 0.1, 0.02]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.15], position: [0.3, 0.1, 0.65]}
shapes:
  one: {on: a, type: sphere, radius: 0.3}
  two: {on: b, type: sphere, radius: 0.2}
contacts:
  rest: {between: [one, two], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)";

constexpr const char* kBoxOnPlane = R"(
clatter: 1
gravity: [0, 0, -9.81]
bodies:
  box: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0, 0, 0.2]}
shapes:
  hull: {on: box, type: box, size: [0.4, 0.3, 0.4]}
  floor: {on: ground, type: plane}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)";

constexpr const char* kSpatialArm = R"(
clatter: 1
gravity: [0, 0, -9.81]
coordinates: COORDINATES
bodies:
  upper: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0.5, 0, 0]}
  lower: {mass: 1, inertia: [0.1, 0.05, 0.12], position: [1, 0, -0.4]}
joints:
  shoulder: {type: spherical, between: [ground, upper], at: [0, 0, 0]}
  elbow: {type: revolute, between: [upper, lower], at: [1, 0, 0], axis: y}
shapes:
  foot: {on: lower, at: [0, 0, -0.4], type: sphere, radius: 0.1}
  floor: {on: ground, at: [0, 0, -0.9], type: plane}
contacts:
  rest: {between: [foot, floor], law: {type: rigid, friction: 0.3 + 0.2*exp(-v/0.8)}}
simulate: {end: 1}
)";

constexpr const char* kFrictionArm = R"(
clatter: 1
gravity: [0, -9.81, 0]
coordinates: COORDINATES
bodies:
  upper: {type: planar, mass: 2, inertia: 0.3, position: [0.5, 0, 0]}
  lower: {type: planar, mass: 1, inertia: 0.1, position: [1.0, -0.4, 0]}
  slide: {type: planar, mass: 1, inertia: 0.2, position: [1.0, -0.8, 0]}
joints:
  shoulder: {type: revolute, between: [ground, upper], at: [0, 0], friction: {torque: 2 + exp(-v/0.5)}}
  elbow: {type: revolute, between: [upper, lower], at: [1, 0], friction: {coefficient: {static: 0.5, kinetic: 0.3, velocity: 0.4}, radius: 0.2, torque: 0.3}}
  guide: {type: prismatic, between: [lower, slide], at: [1.0, -0.8], axis: [1, 0.3], friction: {coefficient: 0.4, length: 0.3}}
simulate: {end: 1}
)";

constexpr const char* kSpatialFriction = R"(
clatter: 1
gravity: [0, 0, -9.81]
coordinates: COORDINATES
bodies:
  upper: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0.5, 0, 0]}
  lower: {mass: 1, inertia: [0.1, 0.05, 0.12], position: [1, 0, -0.4]}
  sleeve: {mass: 1, inertia: [0.1, 0.08, 0.12], position: [1, 0, -0.6]}
  plate: {mass: 1, inertia: [0.1, 0.08, 0.12], position: [0.3, 0.2, 0]}
  block: {mass: 1, inertia: [0.1, 0.08, 0.12], position: [0.5, 0, 0.2], center_of_mass: [0.1, 0.2, 0]}
joints:
  shoulder: {type: revolute, between: [ground, upper], at: [0, 0, 0], axis: [0, 1, 0.2], friction: {coefficient: 0.3, radius: 0.1, collar_radius: 0.2, length: 0.3}}
  elbow: {type: universal, between: [upper, lower], at: [1, 0, 0], axis: y, axis2: x, friction: {torque: 1.5}}
  rod: {type: cylindrical, between: [lower, sleeve], at: [1, 0, -0.6], axis: [0, 0.1, 1], friction: {coefficient: 0.2 + 0.2*exp(-v/0.5), radius: 0.1, length: 0.4}}
  table: {type: planar, between: [ground, plate], at: [0.3, 0.2, 0], friction: {coefficient: 0.3, radius: 0.2, torque: 0.1}}
  rail: {type: prismatic, between: [upper, block], at: [0.5, 0, 0.2], axis: z, friction: {coefficient: 0.3, length: 0.2, width: 0.1}}
simulate: {end: 1}
)";

constexpr const char* kRollingDisc = R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.3, position: [0.1, 0.3, 0], center_of_mass: [0.05, 0.1]}
  table: {type: planar, mass: 3, inertia: 0.2, position: [0, -0.3, 0]}
shapes:
  hull: {on: ball, rotate: 25 deg, type: ellipse, semi_axes: [0.4, 0.3]}
  floor: {on: table, at: [0, 0.3], rotate: 20 deg, type: line}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: 0.4, rolling_friction: 0.05}}
simulate: {end: 1}
)";

constexpr const char* kRollingSpheres = R"(
clatter: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 2, inertia: [0.1, 0.2, 0.25], position: [0, 0, 0.3], center_of_mass: [0.05, 0.1, 0.02]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.15], position: [0.3, 0.1, 0.65]}
shapes:
  one: {on: a, type: sphere, radius: 0.3}
  two: {on: b, type: sphere, radius: 0.2}
contacts:
  rest: {between: [one, two], law: {type: rigid, friction: 0.3, rolling_friction: 0.03, drilling_friction: 0.05}}
simulate: {end: 1}
)";

std::string with(const char* text, const char* coordinates) {
  std::string out = text;
  const std::string mark = "COORDINATES";
  out.replace(out.find(mark), mark.size(), coordinates);
  return out;
}

std::vector<Case> cases() {
  static const std::string arm_joint = with(kArm, "joint"), arm_absolute = with(kArm, "absolute");
  static const std::string table_joint = with(kDrivenTable, "joint"), table_absolute = with(kDrivenTable, "absolute");
  static const std::string spatial_joint = with(kSpatialArm, "joint"), spatial_absolute = with(kSpatialArm, "absolute");
  static const std::string joints_joint = with(kFrictionArm, "joint"), joints_absolute = with(kFrictionArm, "absolute");
  static const std::string joints3_joint = with(kSpatialFriction, "joint");
  static const std::string joints3_absolute = with(kSpatialFriction, "absolute");
  return {{"CircleOnLine", kCircleOnLine, 0.3},
          {"FrictionInJointsOfATree", joints_joint.c_str(), 0},
          {"FrictionInJoints", joints_absolute.c_str(), 0},
          {"FrictionInSpatialJointsOfATree", joints3_joint.c_str(), 0},
          {"FrictionInSpatialJoints", joints3_absolute.c_str(), 0},
          {"RollingDisc", kRollingDisc, 0.05},
          {"RollingSpheres", kRollingSpheres, 0.05},
          {"CircleOnCircle", kCircles, 0.05},
          {"EllipseOnLine", kEllipseOnLine, 0.3},
          {"CircleOnCurve", kEllipseOnCurve, 0.1},
          {"ArmInJointCoordinates", arm_joint.c_str(), 0.1},
          {"ArmInAbsoluteCoordinates", arm_absolute.c_str(), 0.1},
          {"DrivenTableInJointCoordinates", table_joint.c_str(), 0.1},
          {"DrivenTableInAbsoluteCoordinates", table_absolute.c_str(), 0.1},
          {"SphereOnPlane", kSphereOnPlane, 0.3},
          {"SphereOnSphere", kSpheres, 0.1},
          {"BoxOnPlane", kBoxOnPlane, 0.1},
          {"SpatialArmInJointCoordinates", spatial_joint.c_str(), 0.1},
          {"SpatialArmInAbsoluteCoordinates", spatial_absolute.c_str(), 0.1}};
}

INSTANTIATE_TEST_SUITE_P(Contacts, Tangent,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(Mode::slide, Mode::stick)),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param).name) +
                                  (std::get<1>(instance.param) == Mode::slide ? "Sliding" : "Sticking");
                         });

}  // namespace
}  // namespace clatter::contact
