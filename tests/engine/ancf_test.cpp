// Cables and beams in absolute nodal coordinates: statics against published and exact solutions (YV-11 (ii), YV-23),
// invariances (YV-24). Tangents, power, momentum and objectivity are the business of the conformance tests, which run
// over all kinds of elements (registry_beams.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "engine/ancf_chain.hpp"
#include "engine/engine.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

// A model whose static equilibrium is found by Newton's method on its own residual and tangents: unknowns are the
// coordinates and the multipliers. Loads grow with the time from 0 to 1. The first `held` coordinates stay: those of
// the first node make a clamp in which the section keeps its size, as the published figures have it (a joint `fixed`
// holds place and direction alone).
struct Static {
  int held = 0;
  std::shared_ptr<const System> system;
  Engine engine;
  State s;

  explicit Static(const std::string& text) : system(System::compile(load_model_text(text, "static"))), engine(system) {
    s = system->initial;
  }
  bool settle(int steps) {
    const int nv = system->sizes.nv, nc = system->sizes.nc();
    Vec a = Vec::Zero(nv), lambda = Vec::Zero(nc), r(nv), zdot(0), phi(nc), rate(nc);
    Tangents T = engine.tangent_layout();
    for (int step = 1; step <= steps; ++step) {
      s.t = static_cast<double>(step) / steps;
      bool done = false;
      for (int i = 0; i < 40 && !done; ++i) {
        engine.residual(s, a, lambda, r, zdot);
        engine.constraints(s, phi, rate);
        engine.tangents(s, a, lambda, T);
        Mat A = Mat::Zero(nv + nc, nv + nc);
        Vec b(nv + nc);
        for (int row = 0; row < nv; ++row)
          for (int column = 0; column < nv; ++column) A(row, column) = T.K.at(row, column);
        const double scale = A.cwiseAbs().maxCoeff();
        for (int row = 0; row < nc; ++row)
          for (int column = 0; column < nv; ++column) {
            A(nv + row, column) = scale * T.G.at(row, column);
            A(column, nv + row) = -scale * T.G.at(row, column);
          }
        b << -r, -scale * phi;
        for (int k = 0; k < held; ++k) {
          A.row(k).setZero();
          A(k, k) = scale;
          b[k] = 0;
        }
        const Vec x = A.partialPivLu().solve(b);
        if (!x.allFinite()) return false;
        s.q += x.head(nv);
        lambda += scale * x.tail(nc);
        done = x.head(nv).cwiseAbs().maxCoeff() < 1e-11 * (1 + system->length_scale);
      }
      if (!done) return false;
    }
    engine.observe(s, nullptr);
    return true;
  }
  Vec3 place(const std::string& name) const {
    for (std::size_t i = 0; i < system->frame_names.size(); ++i)
      if (system->frame_names[i] == name) return engine.frame_state(static_cast<int>(i)).p;
    ADD_FAILURE() << "no frame " << name;
    return Vec3::Zero();
  }
  Mat3 axes(const std::string& name) const {
    for (std::size_t i = 0; i < system->frame_names.size(); ++i)
      if (system->frame_names[i] == name) return engine.frame_state(static_cast<int>(i)).R;
    return Mat3::Identity();
  }
};

std::string clamped(bool planar, const std::string& element, int elements, const std::string& rest,
                    const std::string& load) {
  return fmt::format(
      "clatter: 1\ntitle: cantilever\nbodies:\n  beam: {{type: beam, planar: {}, element: {}, elements: {}, {}}}\n"
      "forces:\n  load: {}\n",
      planar, element, elements, rest, load);
}

// Coordinates of the first node.
int first_node(bool planar, const std::string& element) { return planar ? 4 : element == "ancf-cable" ? 6 : 9; }

// YV-11 (ii): L = 10, E = 1, 1 x 1, end moment 0.01: an arc of the angle 1.2.
double roll_up_error(bool planar, const std::string& element, int elements, const std::string& integration) {
  Static x(clamped(planar, element, elements,
                   "to: [10, 0], section: {rectangle: [1, 1]}, material: {density: 1, young: 1, poisson: 0}, "
                   "integration: " +
                       integration,
                   "{type: torque, on: beam.end, components: [0, 0, 0.01 * t]}"));
  x.held = first_node(planar, element);
  EXPECT_TRUE(x.settle(5));
  const double curvature = 0.12;
  return (x.place("beam.end") - Vec3(std::sin(1.2) / curvature, (1 - std::cos(1.2)) / curvature, 0)).norm();
}

// YV-23 (i), both columns; the prototype's figures have three digits. Full integration locks.
TEST(AncfBeam, RollsUpIntoACircleWithFourthOrder) {
  const std::pair<int, double> reduced[] = {{1, 9.83e-2}, {2, 6.97e-3}, {4, 4.46e-4}, {8, 2.80e-5}, {16, 1.75e-6}};
  const std::pair<int, double> full[] = {{1, 2.98}, {2, 0.950}, {4, 0.100}, {8, 6.7e-3}};
  for (const auto& [n, error] : reduced)
    EXPECT_NEAR(roll_up_error(true, "ancf-beam", n, "reduced"), error, 5e-3 * error);
  for (const auto& [n, error] : full) EXPECT_NEAR(roll_up_error(true, "ancf-beam", n, "full"), error, 6e-3 * error);
}

// The spatial beam in a plane is the planar one: the same strains at the same points, to the convergence of Newton.
TEST(AncfBeam, InSpaceRollsUpAsInThePlane) {
  for (const int n : {1, 4})
    EXPECT_NEAR(roll_up_error(false, "ancf-beam", n, "reduced"), roll_up_error(true, "ancf-beam", n, "reduced"), 1e-9);
}

// The end moment of a cable turns its slope. Halving the elements divides the error by 16 (cubic polynomials, points at
// which the strains of the arc are most exact); measured 15.6 and 15.9.
TEST(AncfCable, RollsUpIntoACircleWithFourthOrder) {
  const double planar[] = {roll_up_error(true, "ancf-cable", 4, "reduced"),
                           roll_up_error(true, "ancf-cable", 8, "reduced"),
                           roll_up_error(true, "ancf-cable", 16, "reduced")};
  EXPECT_NEAR(planar[0] / planar[1], 16, 0.5);
  EXPECT_NEAR(planar[1] / planar[2], 16, 0.3);
  EXPECT_LT(planar[2], 2e-6);
  EXPECT_NEAR(roll_up_error(false, "ancf-cable", 8, "reduced"), planar[1], 1e-9);
}

Vec3 cantilever(bool planar, int elements, double force, const std::string& rest = "") {
  Static x(clamped(planar, "ancf-beam", elements,
                   "to: [2, 0], section: {rectangle: [0.5, 0.1]}, material: {density: 1, young: 2.07e11, poisson: "
                   "0.3}" +
                       rest,
                   fmt::format("{{type: force, on: beam.end, components: [0, {} * t, 0]}}", -force)));
  x.held = first_node(planar, "ancf-beam");
  EXPECT_TRUE(x.settle(force > 1e6 ? 5 : 1));
  return x.place("beam.end") - Vec3(2, 0, 0);
}

// Y-7: pressure on a side of a cantilever is a uniform load p b as long as it bends little: the tip sinks by
// p b (L^4/(8 E I) + L^2/(2 k G A)), k = 10 (1 + nu)/(12 + 11 nu), the axis also by what the section gives. Here the
// load is small (slopes of 1e-4); 16 elements and a section squeezed by p/E leave 1e-4 of it.
TEST(AncfBeam, BendsUnderPressureAsUnderAUniformLoad) {
  const double E = 2.07e11, nu = 0.3, L = 2, H = 0.5, b = 0.1, p = 1e5;
  for (const bool above : {true, false}) {
    Static x(
        clamped(true, "ancf-beam", 16,
                "to: [2, 0], section: {rectangle: [0.5, 0.1]}, material: {density: 1, young: 2.07e11, poisson: 0.3}",
                fmt::format("{{type: pressure, on: beam, side: {}, pressure: {} Pa * t/(1 s)}}",
                            above ? "above" : "below", p)));
    x.held = first_node(true, "ancf-beam");
    ASSERT_TRUE(x.settle(1));
    const double k = 10 * (1 + nu) / (12 + 11 * nu), G = E / (2 * (1 + nu)), A = H * b, I = b * H * H * H / 12;
    const double sinks = p * b * (L * L * L * L / (8 * E * I) + L * L / (2 * k * G * A));
    EXPECT_NEAR(x.place("beam.end").y(), above ? -sinks : sinks, 1e-3 * sinks);
  }
}

// The normals of a side add up to its chord turned by a quarter, whatever its shape: here of an arc in a general
// position, to rounding. The force is the change of momentum, which is linear in the velocities.
TEST(AncfBeam, IsPushedByPressureAsTheChordOfItsSideTells) {
  const double p = 3, b = 0.4;
  Static x(fmt::format(
      "clatter: 1\nbodies:\n  beam: {{type: beam, planar: true, element: ancf-beam, elements: 3, curve: {{x: 1.3 m * "
      "sin(s), y: 1.1 m * cos(s), from: 0.2, to: 2}}, section: {{rectangle: [0.5, 0.4]}}, material: {{density: 2, "
      "young: "
      "9, poisson: 0.3}}, position: [0.3, -0.2], angle: 0.6, points: {{a: {{at: 0, y: 0.25}}, c: {{at: 1, y: "
      "0.25}}}}}}\n"
      "forces: {{f: {{type: pressure, on: beam, side: above, pressure: {}}}}}\n",
      p));
  Vec a(x.s.v.size()), lambda(0), zdot(0);
  x.engine.accelerations(x.s, a, lambda, zdot);
  x.engine.observe(x.s, nullptr);
  const Vec3 chord = x.place("beam.c") - x.place("beam.a");
  x.s.v = a;
  x.engine.observe(x.s, nullptr);
  const Vec3 force = momenta(x.system->tree, x.engine.links()).linear;
  EXPECT_NEAR((force + p * b * Vec3(-chord.y(), chord.x(), 0)).norm(), 0, 1e-13);
}

// YV-23 (ii): figures of the quadratic element, and the published limit 0.15097103/0.71056837.
TEST(AncfBeam, BendsFarUnderADeadForce) {
  const struct {
    int elements;
    double ux, uy;
  } figures[] = {{1, 0.139714, 0.687752}, {2, 0.150057, 0.708337}, {4, 0.150909, 0.710409}};
  for (const auto& f : figures)
    for (const bool planar : {true, false}) {
      const Vec3 u = cantilever(planar, f.elements, 6.25e7);
      EXPECT_NEAR(-u.x(), f.ux, 1e-6);
      EXPECT_NEAR(-u.y(), f.uy, 1e-6);
    }
  const Vec3 limit = cantilever(true, 16, 6.25e7);
  EXPECT_NEAR(-limit.x(), 0.15097103, 5e-7);
  EXPECT_NEAR(-limit.y(), 0.71056837, 5e-7);
}

// YV-23 (iii), Timoshenko's beam: F L^3/(3 E I) + F L/(k G A) = 8.09903e-4; one element is exact but for the axial
// shortening of second order, 1e-7.
TEST(AncfBeam, BendsALittleAsTimoshenkosBeam) {
  EXPECT_NEAR(-cantilever(true, 1, 62500).y(), 8.09903e-4, 1e-9);
  EXPECT_NEAR(-cantilever(false, 1, 62500).y(), 8.09903e-4, 1e-9);
  EXPECT_NEAR(-cantilever(true, 4, 62500, ", elastic_forces: continuum").y(), 8.09903e-4, 1e-9);
}

// The 45-degree bend of Bathe and Bolourchi (1979): R = 100, 1 x 1, E = 1e7, nu = 0, 600 out of the plane, with the
// torsion constant 1/6 of the beams it is compared with. Simo and Vu-Quoc (1986) find the tip at (15.79, 47.23, 53.37)
// in eight elements; tolerance: the spread of the literature.
TEST(AncfBeam, CurvedAtRestBendsAndTwistsOutOfItsPlane) {
  Static x(clamped(false, "ancf-beam", 8,
                   "curve: {x: 100 m * (1 - cos(s)), y: 100 m * sin(s), from: 0, to: 0.7853981633974483}, "
                   "section: {area: 1, Iy: 1/12, Iz: 1/12, torsion: 1/6, shear_factors: [1, 1], up: z}, "
                   "material: {density: 1, young: 1e7, poisson: 0}",
                   "{type: force, on: beam.end, components: [0, 0, 600 * t]}"));
  x.held = 9;
  ASSERT_TRUE(x.settle(6));
  const Vec3 tip = x.place("beam.end");
  EXPECT_NEAR(tip.x(), 15.79, 0.15);
  EXPECT_NEAR(tip.y(), 47.23, 0.15);
  EXPECT_NEAR(tip.z(), 53.37, 0.15);
}

// A torque along the axis: turn T L/(G J), exact for linear twist.
TEST(AncfBeam, TwistsAsSaintVenantSays) {
  Static x(clamped(false, "ancf-beam", 2,
                   "to: [2, 0, 0], section: {circle: 0.2}, material: {density: 1, young: 2.6e6, poisson: 0.3}",
                   "{type: torque, on: beam.end, components: [10 * t, 0, 0]}"));
  x.held = 9;
  ASSERT_TRUE(x.settle(2));
  const double GJ = 1e6 * M_PI * std::pow(0.1, 4) / 2;
  const Mat3 R = x.axes("beam.end");
  EXPECT_NEAR(std::atan2(R(2, 1), R(1, 1)), 10 * 2 / GJ, 1e-6);
}

// A joint `fixed` leaves the section at the clamp free to thicken; with more elements that makes no difference: the
// published limit of the cantilever, 5e-7.
TEST(AncfBeam, IsClampedByAJoint) {
  Static x(clamped(true, "ancf-beam", 16,
                   "to: [2, 0], section: {rectangle: [0.5, 0.1]}, material: {density: 1, young: 2.07e11, poisson: 0.3}",
                   "{type: force, on: beam.end, components: [0, -6.25e7 * t, 0]}") +
           "joints:\n  clamp: {type: fixed, between: [ground, beam.start]}\n");
  ASSERT_TRUE(x.settle(5));
  EXPECT_NEAR(x.place("beam.end").x(), 2 - 0.15097103, 5e-7);
  EXPECT_NEAR(x.place("beam.end").y(), -0.71056837, 5e-7);
}

// A beam or cable that is curved at rest carries no stress there and weighs its arc, of which the interpolation of six
// elements falls short by 2e-5.
TEST(AncfBeam, CurvedAtRestIsFreeOfStress) {
  for (const char* element : {"ancf-cable", "ancf-beam"}) {
    Static x(
        fmt::format("clatter: 1\ntitle: arc\nbodies:\n  arc: {{type: beam, planar: true, element: {}, elements: 6, "
                    "curve: {{x: 50 m * cos(s), y: 50 m * sin(s), from: 0, to: 2}}, section: {{rectangle: [1, 1]}}, "
                    "material: {{density: 3, young: 1e3, poisson: 0.2}}}}\n",
                    element));
    Vec a = Vec::Zero(x.system->sizes.nv), lambda(0), r(x.system->sizes.nv), zdot(0);
    x.engine.residual(x.s, a, lambda, r, zdot);
    EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-9);  // of forces E A = 1000
    EXPECT_NEAR(x.system->model.bodies[0].mass, 300, 6e-3);
  }
}

// YV-24: K of a free element has exactly the rigid motions as null space; the thickness mode r_y += c (xi^2 - 1/3) e2
// that two Gauss points do not see is held by the points of Lobatto.
TEST(AncfBeam, AFreeElementHasNoModesWithoutEnergyButRigidOnes) {
  const struct {
    const char* what;
    int rigid;
  } kinds[] = {{"planar: true, element: ancf-cable", 3},
               {"planar: true, element: ancf-beam", 3},
               {"planar: true, element: ancf-beam, elastic_forces: continuum", 3},
               {"planar: false, element: ancf-cable", 5},  // a straight cable does not feel a turn about itself
               {"planar: false, element: ancf-beam", 6}};
  for (const auto& kind : kinds) {
    Static x(
        fmt::format("clatter: 1\ntitle: free\nbodies:\n  one: {{type: beam, {}, elements: 1, to: [1.3, 0.4], section: "
                    "{{rectangle: [0.3, 0.3]}}, material: {{density: 1, young: 10, poisson: 0.3}}}}\n",
                    kind.what));
    const int nv = x.system->sizes.nv;
    Vec a = Vec::Zero(nv), lambda(0);
    Tangents T = x.engine.tangent_layout();
    x.engine.tangents(x.s, a, lambda, T);
    Mat K(nv, nv);
    for (int i = 0; i < nv; ++i)
      for (int j = 0; j < nv; ++j) K(i, j) = T.K.at(i, j);
    EXPECT_LT((K - K.transpose()).cwiseAbs().maxCoeff(), 1e-12 * K.cwiseAbs().maxCoeff()) << kind.what;
    const Vec e = Eigen::SelfAdjointEigenSolver<Mat>(K).eigenvalues();
    int zero = 0;
    for (const double value : e) zero += std::abs(value) < 1e-9 * e.maxCoeff();
    EXPECT_EQ(zero, kind.rigid) << kind.what;
    EXPECT_GT(e[kind.rigid], 1e-5 * e.maxCoeff()) << kind.what;
  }
}

// YV-24: a rigid motion strains nothing, in any kind, and the mass matrix gives the rigid body's energy.
TEST(AncfBeam, ARigidMotionStrainsNothing) {
  for (const char* kind : {"planar: true, element: ancf-cable", "planar: true, element: ancf-beam",
                           "planar: true, element: ancf-beam, elastic_forces: continuum",
                           "planar: false, element: ancf-cable", "planar: false, element: ancf-beam"}) {
    const bool planar = std::string(kind).find("planar: true") == 0;
    Static x(fmt::format(
        "clatter: 1\ntitle: turned\nbodies:\n  one: {{type: beam, {}, elements: 3, to: [1.3, 0.4], section: "
        "{{rectangle: [0.3, 0.3]}}, material: {{density: 2, young: 1e6, poisson: 0.3}}, position: [4, 5, "
        "0], {}}}\n",
        kind,
        planar ? "angle: 2.1, velocity: [1, 2, 0], angular_velocity: 3"
               : "orientation: {kardan: [0.4, 1.1, -0.8]}, velocity: [1, 2, 0], angular_velocity: [0, 0, 3]"));
    Vec a = Vec::Zero(x.system->sizes.nv), lambda(0), r(x.system->sizes.nv), zdot(0);
    x.engine.residual(x.s, a, lambda, r, zdot);
    EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-9 * 1e6 * 0.09) << kind;
    // T = m/2 v_c^2 + 1/2 w.J w
    const Body& b = x.system->model.bodies[0];
    const Vec3 w(0, 0, 3), v = Vec3(1, 2, 0) + w.cross(b.pose->rotation * b.center_of_mass);
    const Vec3 local = b.pose->rotation.conjugate() * w;
    const double T = 0.5 * b.mass * v.squaredNorm() + 0.5 * local.dot(b.inertia * local);
    EXPECT_NEAR(x.engine.stored_energy(x.s), T, 1e-10 * T) << kind;
    EXPECT_NEAR(b.mass, 2 * 0.09 * std::hypot(1.3, 0.4), 1e-12) << kind;
  }
}

}  // namespace
}  // namespace clatter
