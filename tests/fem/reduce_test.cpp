// Reduced bodies: integrals against sums over the mesh, reference conditions, the methods against each other, static
// accuracy, damping, geometric stiffening, interfaces.
#include "fem/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "dense.hpp"
#include "fem/sources.hpp"

namespace clatter::fem {
namespace {

using namespace testing;
constexpr double pi = std::numbers::pi;
using Method = ReductionDescription::Method;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.diagnostics().front().message + " | " + e.diagnostics().front().hint;
  } catch (const SolveError& e) {
    return e.kind() + ": " + e.message();
  }
  return "no error";
}

FlexibleSource short_bar() {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 6, 2, 2);
  s.interfaces = {on_set("left", "x-"), on_set("right", "x+", InterfaceDescription::Coupling::rigid)};
  s.reduction.modes = 6;
  return s;
}

// Every integral of V-10 by summing over the points of the mass rule of every element, which is exact.
TEST(InertiaIntegrals, AreTheSumsOverTheMesh) {
  for (bool beams : {false, true}) {
    FlexibleSource s = beams ? beam(0.7, 0.05, 6, true) : short_bar();
    s.reduction.modes = 5;
    const FlexibleStructure fs = make_structure(s);
    const Reduced r = reduce(*fs.structure, fs.interfaces, s);
    const ReducedBody& b = r.body;
    const Structure& st = *fs.structure;
    const int n = b.n;
    Mat N = Mat::Zero(3, n);
    std::array<Mat, 3> E0;
    for (Mat& e : E0) e = Mat::Zero(3, n);
    std::array<Mat, 9> E;
    for (Mat& e : E) e = Mat::Zero(n, n);
    double mass = 0;
    Mat3 E00 = Mat3::Zero();
    const auto add = [&](double w, const Vec3& x, const Mat& u) {
      const Vec3 X = x - b.origin;
      mass += w;
      E00 += w * X * X.transpose();
      N += w * u;
      for (int a = 0; a < 3; ++a) {
        E0[static_cast<std::size_t>(a)] += w * X[a] * u;
        for (int c = 0; c < 3; ++c) E[static_cast<std::size_t>(3 * a + c)] += w * u.row(a).transpose() * u.row(c);
      }
    };
    if (beams) {
      const Mat u = st.sampled(r.shapes);
      for (std::size_t i = 0; i < st.samples().size(); ++i)
        add(st.samples()[i].weight, st.samples()[i].X, u.middleRows<3>(3 * static_cast<long>(i)));
    } else {
      const Mat u = st.nodal(r.shapes);
      for (int e = 0; e < st.mesh().element_count(); ++e) {
        const ElementRef ref = st.mesh().element(e);
        const NodeCoordinates x = st.mesh().coordinates(ref);
        ShapeGradients g;
        Mat3 J;
        for (const auto& q : mass_rule(ref.type)) {
          const double w = 7800 * q.weight * spatial_gradients(3, q.dN, x, g, J);
          Mat field = Mat::Zero(3, n);
          for (int i = 0; i < ref.count; ++i) field += q.N[i] * u.middleRows<3>(3 * ref.nodes[i]);
          add(w, x.transpose() * q.N, field);
        }
      }
    }
    EXPECT_NEAR(b.mass / mass, 1, 1e-12);
    EXPECT_LT((b.E00 - E00).norm(), 1e-12 * E00.norm());
    const double scale = std::sqrt(mass);
    EXPECT_LT((b.N - N).norm(), (beams ? 1e-4 : 1e-10) * scale);
    constexpr int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_LT((b.E[k] - E[static_cast<std::size_t>(3 * first[k] + second[k])]).norm(), 1e-11) << k;
    for (std::size_t a = 0; a < 3; ++a) {
      // Symmetric parts agree to rounding; the antisymmetric part of a beam also holds its rotatory inertia, which is
      // smaller by (a/L)^2/12.
      for (std::size_t c = 0; c <= a; ++c) {
        const Mat symmetric = b.E0[a].row(static_cast<long>(c)) + b.E0[c].row(static_cast<long>(a));
        const Mat summed = E0[a].row(static_cast<long>(c)) + E0[c].row(static_cast<long>(a));
        EXPECT_LT((symmetric - summed).norm(), 1e-11);
        const Mat skewed = b.E0[a].row(static_cast<long>(c)) - b.E0[c].row(static_cast<long>(a));
        const Mat expected = E0[a].row(static_cast<long>(c)) - E0[c].row(static_cast<long>(a));
        EXPECT_LT((skewed - expected).norm(), beams ? 1e-2 : 1e-11);
      }
    }
    // M = trace of E, for beams and their rotatory inertia.
    const Mat trace = b.E[0] + b.E[1] + b.E[2];
    const Mat rotatory = b.M - trace;
    if (!beams) {
      EXPECT_LT(rotatory.norm(), 1e-11);
    } else {
      // Two shapes of torsion hold nothing else, the one along the beam nothing of it, the first two of bending the
      // share r^2 k/(1 + r^2 k) with r^2 = a^2/12 and k = int w'^2/int w^2 = 49.48/L^2 of the free beam (sigma beta
      // (sigma beta + 6); Blevins 1979); shear takes 1.3 % of the rotation away.
      const Vec share = rotatory.diagonal();
      EXPECT_EQ((share.array() > 1 - 1e-9).count(), 2);
      EXPECT_EQ((share.array() < 1e-9).count(), 1);
      const double bending = 0.05 * 0.05 / 12 * 49.48 / (0.7 * 0.7);
      for (int i = 0; i < 2; ++i) EXPECT_NEAR(share[i] / (bending / (1 + bending)), 1, 0.02);
    }
    EXPECT_LT((b.M - Mat::Identity(n, n)).norm(), 1e-9);
    EXPECT_GE(test::symmetric_eigenvalues(rotatory)[0], -1e-9);
  }
}

TEST(ReferenceConditions, HoldAndDifferByRigidMotionsOnly) {
  FlexibleSource s = short_bar();
  const ReducedBody mean = *made(s).body;
  // Mean axes: no linear nor angular momentum of any shape.
  EXPECT_LT(mean.N.norm(), 1e-9);
  for (int k = 0; k < 3; ++k) {
    const auto a = static_cast<std::size_t>((k + 1) % 3), b = static_cast<std::size_t>((k + 2) % 3);
    EXPECT_LT((mean.E0[a].row(static_cast<long>(b)) - mean.E0[b].row(static_cast<long>(a))).norm(), 1e-9);
  }
  s.reference.kind = ReferenceDescription::Kind::interface;
  s.reference.interface = "right";
  const ReducedBody fixed = *made(s).body;
  EXPECT_LT(fixed.markers[1].S.norm(), 1e-9 * fixed.markers[0].S.norm());
  EXPECT_LT(fixed.markers[1].Psi.norm(), 1e-9 * fixed.markers[0].Psi.norm());
  ASSERT_EQ(mean.n, fixed.n);
  s.reference.kind = ReferenceDescription::Kind::nodes;
  s.reference.nodes = {Vec3(-0.2, -0.05, -0.03), Vec3(-0.2, 0.05, -0.03), Vec3(-0.2, 0.05, 0.03)};
  s.points = {{"a", {}, s.reference.nodes[0], Mat3::Identity()},
              {"b", {}, s.reference.nodes[1], Mat3::Identity()},
              {"c", {}, s.reference.nodes[2], Mat3::Identity()}};
  const ReducedBody nodal = *made(s).body;
  const auto& m = nodal.markers;
  const double size = m[0].S.norm();
  EXPECT_LT(m[2].S.norm(), 1e-9 * size);         // origin
  EXPECT_LT(m[3].S.row(0).norm(), 1e-9 * size);  // x and z of the node along e1 = y
  EXPECT_LT(m[3].S.row(2).norm(), 1e-9 * size);
  EXPECT_LT(m[4].S.row(0).norm(), 1e-9 * size);  // out of the plane y-z
  EXPECT_GT(m[3].S.row(1).norm(), 1e-6 * size);
  s.reference.kind = ReferenceDescription::Kind::principal_axes;
  const ReducedBody principal = *made(s).body;
  // The mass centre stays, and no shape has products of inertia.
  EXPECT_LT(principal.N.norm(), 1e-9);
  double products = 0, others = 0;
  for (int k = 0; k < 3; ++k) {
    const auto p = static_cast<std::size_t>((k + 1) % 3), q = static_cast<std::size_t>((k + 2) % 3);
    const Vec one = principal.E0[p].row(static_cast<long>(q)), two = principal.E0[q].row(static_cast<long>(p));
    products = std::max(products, (one + two).norm());
    others = std::max(others, (one - two).norm());
  }
  EXPECT_LT(products, 1e-9 * others);
  // The same space modulo rigid motion: free frequencies of the bodies with six rigid coordinates agree.
  const auto free = [](const ReducedBody& b) {
    const int n = b.n;
    Mat M = Mat::Zero(6 + n, 6 + n), K = Mat::Zero(6 + n, 6 + n);
    M.topLeftCorner<3, 3>() = b.mass * Mat3::Identity();
    M.block<3, 3>(3, 3) = b.J0;
    M.topRightCorner(3, n) = b.N;
    for (int k = 0; k < 3; ++k) {
      const auto p = static_cast<std::size_t>((k + 1) % 3), q = static_cast<std::size_t>((k + 2) % 3);
      M.block(3 + k, 6, 1, n) = b.E0[p].row(static_cast<long>(q)) - b.E0[q].row(static_cast<long>(p));
    }
    M.bottomLeftCorner(n, 6) = M.topRightCorner(6, n).transpose();
    M.bottomRightCorner(n, n) = b.M;
    K.bottomRightCorner(n, n) = b.K;
    return test::symmetric_eigenvalues(K, M);
  };
  const Vec a = free(mean), b = free(fixed), c = free(nodal), d = free(principal);
  for (long i = 6; i < a.size(); ++i) {
    EXPECT_NEAR(b[i] / a[i], 1, 1e-7) << i;
    EXPECT_NEAR(c[i] / a[i], 1, 1e-7) << i;
    EXPECT_NEAR(d[i] / a[i], 1, 1e-7) << i;
  }
}

// Of a bar of square section the axes across are arbitrary.
TEST(ReferenceConditions, PrincipalAxesNeedDistinctMoments) {
  FlexibleSource s = box({0.4, 0.1, 0.1}, 4, 1, 1);
  s.interfaces = {on_set("left", "x-"), on_set("right", "x+")};
  s.reference.kind = ReferenceDescription::Kind::principal_axes;
  try {
    made(s);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("principal moments of inertia"), std::string::npos) << error.what();
  }
}

TEST(Methods, AllIsTheMeshAndTheOthersConvergeToIt) {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 4, 1, 1);
  s.interfaces = {on_set("left", "x-"), on_set("right", "x+")};
  s.reduction.method = Method::all;
  const FlexibleModel all = made(s);
  ASSERT_EQ(all.body->n, 3 * 5 * 4 - 6);
  s.reduction.method = Method::modal;
  s.reduction.modes = 8;
  const FlexibleModel modal = made(s);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(modal.report.frequencies[i] / all.report.frequencies[i], 1, 1e-8);
  for (const LoadError& e : all.report.static_errors) EXPECT_LT(e.error, 1e-7) << e.load;
  // Eight modes alone miss much of the static answer; correction modes and frequency responses at zero frequency hold
  // it exactly (E-12, EVX-4).
  const auto worst = [](const FlexibleModel& m) {
    double w = 0;
    for (const LoadError& e : m.report.static_errors) w = std::max(w, e.error);
    return w;
  };
  EXPECT_GT(worst(modal), 0.01);
  s.reduction.static_corrections = true;
  EXPECT_LT(worst(made(s)), 1e-7);
  s.reduction.static_corrections = false;
  s.reduction.method = Method::frequency_response;
  EXPECT_LT(worst(made(s)), 1e-7);
  // Craig-Bampton shapes hold what loads at the interfaces do that balance each other. Against loads that inertia
  // balances, which act inside, they have their internal modes: the error falls with these.
  s.reduction.method = Method::craig_bampton;
  const FlexibleStructure fs = make_structure(s);
  const Reduced cb = reduce(*fs.structure, fs.interfaces, s);
  const ElasticSolver solver(*fs.structure);
  const Mat loads = Mat(boundary_rows(*fs.structure, fs.interfaces).C.transpose());
  // Pull, twist and two bends: the same component at both ends with opposite signs is balanced.
  for (int k : {0, 3, 4, 5}) {
    const Vec f = loads.col(k) - loads.col(6 + k);
    EXPECT_LT((solver.rigid().transpose() * f).norm(), 1e-12);
    const double exact = f.dot(solver.free_response(f).col(0));
    const Vec g = cb.shapes.transpose() * f;
    EXPECT_NEAR(g.dot(Vec(test::solve_symmetric(cb.body.K, g))) / exact, 1, 1e-9) << k;
  }
  EXPECT_LT(cb.report.rigid_mass_error, 1e-9);
  double before = 1;
  for (int modes : {0, 8, 12, 20, 48}) {
    s.reduction.modes = modes;
    const FlexibleModel m = made(s);
    EXPECT_LT(worst(m), before) << modes;
    before = worst(m);
    // Ritz values are never below the mesh's.
    for (std::size_t i = 0; i < m.report.frequencies.size(); ++i)
      EXPECT_GE(m.report.frequencies[i], all.report.frequencies[i] * (1 - 1e-9));
    // Twelve internal modes reach 18.8 kHz: what the mesh has up to two thirds of it is there.
    for (std::size_t i = 0; i < 8 && modes >= 12; ++i)
      EXPECT_LT(m.report.frequencies[i] / all.report.frequencies[i], 1.002);
  }
}

// A body excited at the frequency its basis was made for answers exactly there (E-12): dynamic compliance of the
// reduced model against the mesh's.
TEST(FrequencyResponseModes, AreExactAtTheirFrequency) {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 4, 1, 1);
  s.interfaces = {on_set("left", "x-"), on_set("right", "x+")};
  s.reduction.method = Method::frequency_response;
  s.reduction.modes = 3;
  s.reduction.excitation_frequency = 2500;
  const FlexibleStructure fs = make_structure(s);
  const Reduced r = reduce(*fs.structure, fs.interfaces, s);
  const double w = 2 * pi * 2500;
  const ElasticSolver solver(*fs.structure);
  const BoundaryRows rows = boundary_rows(*fs.structure, fs.interfaces);
  const Mat loads = Mat(rows.C.transpose());
  const Mat balanced = loads - solver.mass_rigid() * (solver.rigid_normal().transpose() * loads);
  const Mat full = balanced.transpose() * solver.remove_rigid(solver.harmonic(w, balanced));
  const Mat f = r.shapes.transpose() * balanced;
  const Mat reduced = f.transpose() * test::solve_symmetric(r.body.K - w * w * r.body.M, f);
  EXPECT_LT((full - reduced).norm(), 1e-6 * full.norm());
}

TEST(ModesOfAFile, SpanTheirSpace) {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 3, 1, 1);
  s.interfaces = {on_set("left", "x-"), on_set("right", "x+")};
  s.reduction.method = Method::modal;
  s.reduction.modes = 4;
  const FlexibleModel modal = made(s);
  const std::string path = ::testing::TempDir() + "modes.txt";
  {
    std::string text;
    for (long i = 0; i < modal.shapes.rows(); ++i) {
      for (long j = 0; j < 4; ++j) text += std::to_string(modal.shapes(i, j) * 1e6) + " ";  // any scale
      text += "\n";
    }
    FILE* f = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), f);
    std::fclose(f);
  }
  s.reduction.method = Method::given;
  s.reduction.modes_file = path;
  const FlexibleModel given = made(s);
  ASSERT_EQ(given.body->n, 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(given.report.frequencies[i] / modal.report.frequencies[i], 1, 1e-5);
}

TEST(Rayleigh, ReproducesItsTwoRatios) {
  const double w1 = 300, w2 = 2000, x1 = 0.02, x2 = 0.05;
  const auto [a, b] = rayleigh(w1, x1, w2, x2);
  EXPECT_NEAR(a / (2 * w1) + b * w1 / 2, x1, 1e-15);
  EXPECT_NEAR(a / (2 * w2) + b * w2 / 2, x2, 1e-15);
  FlexibleSource s = short_bar();
  s.damping.kind = DampingDescription::Kind::modal;
  s.damping.modal = {0.01, 0.02};
  const FlexibleModel m = made(s);
  EXPECT_NEAR(m.body->D(0, 0), 2 * 0.01 * 2 * pi * m.report.frequencies[0], 1e-9 * m.body->D(0, 0));
  EXPECT_NEAR(m.body->D(5, 5), 2 * 0.02 * 2 * pi * m.report.frequencies[5], 1e-9 * m.body->D(5, 5));
}

// The mean over a face does not depend on how the face is cut into elements, here unevenly: the face's own centre, and
// its mean displacement and rotation for a field that is quadratic over it (hex20 holds it exactly): of u_x = y^2 the
// mean is b^2/12, of u_x = y the rotation about z is -1.
TEST(MeanInterface, IsTheIntegralOverItsFaces) {
  for (bool quadratic : {false, true}) {
    FlexibleSource s = box({0.4, 0.1, 0.06}, 2, 3, 2);
    s.mesh.quadratic = quadratic;
    s.interfaces = {on_set("face", "x+")};
    const FlexibleStructure fs = make_structure(s);
    const Interface& f = fs.interfaces[0];
    EXPECT_LT((f.at - Vec3(0.2, 0, 0)).norm(), 1e-15);
    double mean = 0, turn = 0;
    const PlaceRows rows = interface_rows(*fs.structure, f);
    for (std::size_t i = 0; i < f.nodes.size(); ++i) {
      const double y = fs.structure->mesh().nodes[static_cast<std::size_t>(f.nodes[i])].y();
      mean += rows.displacement(0, static_cast<long>(3 * i)) * y * y;
      turn += rows.rotation(2, static_cast<long>(3 * i)) * y;
    }
    EXPECT_NEAR(turn, -1, 1e-12);
    // Linear elements hold chords of the parabola: h^2/6 more, h a third of b.
    EXPECT_NEAR(mean, 0.01 / 12 + (quadratic ? 0 : 0.01 / 54), 1e-15);
  }
}

// V-5: a mean interface moves with rigid motions as they are, and spreads forces without adding any.
TEST(MeanInterface, FollowsRigidMotionAndKeepsForceAndMoment) {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 3, 3, 2);
  InterfaceDescription d = on_set("face", "x+");
  d.at = Vec3(0.25, 0.03, -0.02);
  s.interfaces = {d};
  const FlexibleStructure fs = make_structure(s);
  const Structure& st = *fs.structure;
  const PlaceRows p = interface_rows(st, fs.interfaces[0]);
  const Mat R = st.rigid_motions()(p.columns, Eigen::all);
  const Mat u = p.displacement * R, th = p.rotation * R;
  EXPECT_LT((u.leftCols(3) - Mat3::Identity()).norm(), 1e-12);
  EXPECT_LT((u.rightCols(3) + skew(Vec3(*d.at - st.centre()))).norm(), 1e-12);
  EXPECT_LT(th.leftCols(3).norm(), 1e-11);
  EXPECT_LT((th.rightCols(3) - Mat3::Identity()).norm(), 1e-12);
  // The transposed statement: resultant of the spread force and moment about the interface.
  const Vec3 F(1, -2, 3), M(0.3, 0.1, -0.2);
  const Vec f = p.displacement.transpose() * F + p.rotation.transpose() * M;
  const Vec resultant = R.transpose() * f;
  EXPECT_LT((resultant.head<3>() - F).norm(), 1e-12);
  EXPECT_LT((resultant.tail<3>() - M - Vec3(*d.at - st.centre()).cross(F)).norm(), 1e-12);
}

TEST(RigidInterface, LeavesItsNodesUndeformed) {
  const FlexibleSource s = short_bar();
  const FlexibleStructure fs = make_structure(s);
  const Reduced r = reduce(*fs.structure, fs.interfaces, s);
  const Marker& m = r.body.markers[1];
  const Mat u = fs.structure->nodal(r.shapes);
  for (int n : fs.structure->mesh().node_sets.at("x+")) {
    const Vec3 arm = fs.structure->mesh().nodes[static_cast<std::size_t>(n)] - (r.body.origin + m.X);
    EXPECT_LT((u.middleRows<3>(3 * n) - (m.S - skew(arm) * m.Psi)).norm(), 1e-11 * u.norm());
  }
}

// Points inside the material: displacement and half the curl of a field that is linear are exact.
TEST(Points, InterpolateAndTurnWithTheMaterial) {
  FlexibleSource s = box({0.4, 0.1, 0.06}, 3, 2, 2);
  s.mesh.quadratic = true;
  const FlexibleStructure fs = make_structure(s);
  const Structure& st = *fs.structure;
  Mat3 G;
  G << 0.1, 0.2, -0.3, 0.4, -0.5, 0.6, 0.7, 0.8, 0.9;
  Vec q(st.freedoms());
  for (int i = 0; i < st.node_count(); ++i)
    q.segment<3>(st.node(i).first) = G * st.mesh().nodes[static_cast<std::size_t>(i)];
  const Vec3 x(0.0731, -0.0211, 0.0177);
  const PlaceRows p = point_rows(st, x, "p");
  const Vec local = q(p.columns);
  EXPECT_LT((p.displacement * local - G * x).norm(), 1e-12);
  const Vec3 curl(G(2, 1) - G(1, 2), G(0, 2) - G(2, 0), G(1, 0) - G(0, 1));
  EXPECT_LT((p.rotation * local - 0.5 * curl).norm(), 1e-12);
}

// A cantilever's foreshortening: g_x(x) = -int_0^x v_k' v_l' ds, so that the marker's second derivatives and the
// integrals n, X follow from the slopes of the shapes (E-13, beam special case).
TEST(Stiffening, OfACantileverIsTheForeshorteningOfItsAxis) {
  FlexibleSource s = beam(1, 0.02, 40, false);
  s.reduction.method = Method::modal;
  s.reduction.clamped = {"root"};
  s.reduction.modes = 4;
  s.reference.kind = ReferenceDescription::Kind::interface;
  s.reference.interface = "root";
  s.stiffening = true;
  const FlexibleStructure fs = make_structure(s);
  const Reduced r = reduce(*fs.structure, fs.interfaces, s);
  const int n = r.body.n;
  // Slopes at nodes: rotation about z for v, minus that about y for w; Simpson over elements needs the middle: the
  // trapezoidal rule on 40 elements is good to 1e-3 of the largest entries.
  Mat sum = Mat::Zero(n, n), first = sum, integral = sum, moment = sum;
  const double h = 1.0 / 40, rhoA = 7800 * 4e-4;
  Mat previous, g = Mat::Zero(n, n), g_previous;
  for (int i = 0; i <= 40; ++i) {
    const auto m = fs.structure->node(i);
    const Mat th = m.rotation * r.shapes.middleRows(m.first, 6);
    const Mat slopes = th.row(2).transpose() * th.row(2) + th.row(1).transpose() * th.row(1);
    g_previous = g;
    if (i > 0) g -= 0.5 * h * (previous + slopes);
    previous = slopes;
    if (i > 0) {
      const double x0 = (i - 1) * h, x1 = i * h;
      integral += 0.5 * h * rhoA * (g_previous + g);
      moment += 0.5 * h * rhoA * ((x0 - 0.5) * g_previous + (x1 - 0.5) * g);
    }
  }
  const double scale = g.norm();
  EXPECT_LT((r.body.markers[1].second[0] - g).norm(), 3e-3 * scale);
  EXPECT_LT(r.body.markers[1].second[1].norm(), 1e-6 * scale);
  EXPECT_LT(r.body.markers[0].second[0].norm(), 1e-6 * scale);
  EXPECT_LT((r.body.stiffening[0] - integral).norm(), 3e-3 * integral.norm());
  EXPECT_LT((r.body.stiffening[3] - moment).norm(), 5e-3 * integral.norm() * 0.5);
}

// EVX-3: a cantilever that turns about its root at Omega: first flap frequency omega^2 = omega0^2 + 1.193 Omega^2.
// Energy of the centrifugal load with second-order displacements: K_geo = -Omega^2 int rho x g_x, x from the axis.
TEST(Stiffening, GivesTheSouthwellCoefficientOfARotatingCantilever) {
  for (bool solid : {false, true}) {
    FlexibleSource s = solid ? box({1, 0.02, 0.03}, 20, 1, 1) : beam(1, 0.02, 20, false);
    if (solid) {
      s.mesh.quadratic = true;
      s.interfaces = {on_set("root", "x-"), on_set("tip", "x+")};
    }
    s.reduction.method = Method::modal;
    s.reduction.clamped = {"root"};
    s.reduction.modes = 4;
    s.reference.kind = ReferenceDescription::Kind::interface;
    s.reference.interface = "root";
    s.stiffening = true;
    const ReducedBody b = *made(s).body;
    const Mat K = -(b.stiffening[3] + 0.5 * b.stiffening[0]);  // the axis is 0.5 m from the mass centre
    EXPECT_NEAR(K(0, 0) / b.M(0, 0), 1.193, 0.02 * 1.193) << solid;
  }
}

// Mean axes: uniform acceleration and angular acceleration cause no stress at all, centrifugal loads do.
TEST(Stiffening, OfAFreeBodyFeelsNoRigidAcceleration) {
  FlexibleSource s = short_bar();
  s.stiffening = true;
  const ReducedBody b = *made(s).body;
  ASSERT_EQ(b.stiffening.size(), 12U);
  const double size = b.stiffening[3].norm();
  EXPECT_GT(size, 0);
  for (int k = 0; k < 3; ++k) EXPECT_LT(b.stiffening[static_cast<std::size_t>(k)].norm(), 1e-6 * size);
  // X_a e_b - X_b e_a is a rigid acceleration.
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < a; ++c)
      EXPECT_LT((b.stiffening[static_cast<std::size_t>(3 + 3 * a + c)] -
                 b.stiffening[static_cast<std::size_t>(3 + 3 * c + a)])
                    .norm(),
                1e-6 * size);
}

TEST(MistakesOfTheUser, AreNamed) {
  FlexibleSource s = short_bar();
  s.interfaces[0].nodes.set = "x--";
  EXPECT_EQ(message_of([&] { made(s); }), "interface `left`: the mesh has no set `x--` | did you mean `x-`?");
  s = short_bar();
  s.interfaces[0] = at_node("left", {5, 0, 0});
  EXPECT_NE(message_of([&] { made(s); }).find("interface `left`: its place is off the mesh"), std::string::npos)
      << message_of([&] { made(s); });
  s = short_bar();
  s.materials.clear();
  EXPECT_NE(message_of([&] { made(s); }).find("no material"), std::string::npos);
  s = short_bar();
  s.interfaces = {at_node("a", {-0.2, 0.05, 0.03}), at_node("b", {0.2, 0.05, 0.03})};
  EXPECT_NE(message_of([&] { made(s); }).find("leave the body free to move"), std::string::npos)
      << message_of([&] { made(s); });
  s = short_bar();
  s.points = {{"p", {}, Vec3(1, 0, 0), Mat3::Identity()}};
  EXPECT_NE(message_of([&] { made(s); }).find("point `p` at (1, 0, 0) m lies off the mesh"), std::string::npos)
      << message_of([&] { made(s); });
  s = short_bar();
  s.interfaces.clear();
  EXPECT_NE(message_of([&] { made(s); }).find("needs interfaces"), std::string::npos);
}

// Two cubes that share one edge only: a hinge without stiffness.
TEST(ZeroEnergyModes, AreFoundAndPlaced) {
  Mesh m;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m.nodes.emplace_back(i, j, k);
  const auto cube = [](int i, int j) {
    const int a = 3 * i + j, d = 9;
    return std::vector<int>{a, a + 3, a + 4, a + 1, a + d, a + 3 + d, a + 4 + d, a + 1 + d};
  };
  ElementBlock b{ElementType::hex8, cube(0, 0), {}};
  const auto other = cube(1, 1);
  b.connectivity.insert(b.connectivity.end(), other.begin(), other.end());
  m.blocks.push_back(b);
  remove_unused_nodes(m);
  StructureInput in;
  in.mesh = m;
  Properties p;
  p.material.density = 1;
  p.material.young = 1;
  p.material.poisson = 0.3;
  in.properties = {{"", p}};
  const Structure s(std::move(in));
  EXPECT_NE(message_of([&] { ElasticSolver{s}; }).find("zero-energy-mode: the body can move without deforming"),
            std::string::npos);
}

}  // namespace
}  // namespace clatter::fem
