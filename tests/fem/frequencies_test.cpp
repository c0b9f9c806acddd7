// Natural frequencies of whole bodies: VV-1 (solid elements), VV-2 and VV-3 (Craig-Bampton), beams and plates against
// closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dense.hpp"
#include "fem/natural.hpp"
#include "fem/sources.hpp"

namespace clatter::fem {
namespace {

using namespace testing;
constexpr double pi = std::numbers::pi;

std::vector<double> free_frequencies(FlexibleSource s, int modes) {
  s.reduction.method = ReductionDescription::Method::modal;
  s.reduction.modes = modes;
  return made(s).report.frequencies;
}

// VV-1: bar 0.5 x 0.02 x 0.03 m, free. The table's own rows are the expected values (its digits the tolerance); the
// acceptance against Timoshenko's theory is 0.3 % for hex20 and 1 % for hex8 with incompatible modes.
TEST(SolidElementsVV1, HaveTheTabulatedFrequenciesOfTheFreeBar) {
  const double timoshenko[] = {424.2, 631.9, 1157.2, 1702.4, 2234.8};
  {
    FlexibleSource s = box({0.5, 0.02, 0.03}, 20, 2, 2);
    s.mesh.quadratic = true;
    const auto f = free_frequencies(s, 6);
    const double expected[] = {424.4, 632.0, 1158.4, 1703.9, 2239.9, 2760};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(f[i], expected[i], i < 5 ? 0.06 : 0.6) << i;
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(f[i] / timoshenko[i], 1, 3e-3);
  }
  {
    const auto f = free_frequencies(box({0.5, 0.02, 0.03}, 40, 4, 4), 6);
    const double expected[] = {424.8, 632.7, 1162.5, 1710.8, 2256.5, 2808};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(f[i], expected[i], i < 5 ? 0.06 : 0.6) << i;
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(f[i] / timoshenko[i], 1, 1e-2);
  }
  {
    // Without incompatible modes bending is far too stiff (T-2).
    FlexibleSource s = box({0.5, 0.02, 0.03}, 40, 4, 4);
    s.mesh.incompatible_modes = false;
    const auto f = free_frequencies(s, 6);
    const double expected[] = {457.9, 655.9, 1252.1, 1772.2, 2427.5, 2808};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(f[i], expected[i], i < 5 ? 0.06 : 0.6) << i;
  }
}

FlexibleSource bar(double height, int nz) {
  FlexibleSource s = box({0.2, 0.8, height}, 8, 30, nz);
  for (int c = 0; c < 8; ++c)
    s.interfaces.push_back(at_node("v" + std::to_string(c), {(c & 1) != 0 ? 0.1 : -0.1, (c & 2) != 0 ? 0.4 : -0.4,
                                                             (c & 4) != 0 ? height / 2 : -height / 2}));
  s.reduction.modes = 10;
  s.formulation = FlexibleSource::Formulation::superelement;
  return s;
}

// VV-3: the ten modes of both bars with their eight vertices held, 30 x 8 x 6 (3) elements: +-0.1 % of the printed
// values, which are whole numbers (half a hertz more).
TEST(TwoBarsVV3, HaveThePublishedModesWithHeldVertices) {
  const double bar1[] = {599, 684, 904, 1101, 1311, 1347, 2026, 2144, 2476, 3215};
  const double bar2[] = {394, 835, 1167, 1170, 1259, 1763, 2101, 2387, 2669, 2966};
  const auto f1 = made(bar(0.16, 6)).report.frequencies, f2 = made(bar(0.08, 3)).report.frequencies;
  ASSERT_EQ(f1.size(), 10U);
  ASSERT_EQ(f2.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(f1[i], bar1[i], 1e-3 * bar1[i] + 0.5) << i;
    EXPECT_NEAR(f2[i], bar2[i], 1e-3 * bar2[i] + 0.5) << i;
  }
}

// VV-2: the reduced bar keeps its free frequencies up to the fourth; rigid motions are in the basis exactly.
TEST(CraigBamptonVV2, KeepsTheFrequenciesOfTheFreeBarAndItsRigidMass) {
  const FlexibleModel m = made(bar(0.16, 6));
  const ReducedBody& b = *m.body;
  ASSERT_EQ(b.n, 34);
  ASSERT_EQ(b.boundary.size(), 8U);
  const Vec e = test::symmetric_eigenvalues(b.K, b.M);
  const double expected[] = {1185.8, 1404.3, 1821.0, 2795.8, 6412};
  for (int i = 0; i < 6; ++i) EXPECT_LT(std::sqrt(std::abs(e[i])) / (2 * pi), 0.5);  // zero but for rounding
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(std::sqrt(e[6 + i]) / (2 * pi), expected[i], i < 4 ? 0.06 : 0.6);
  // What the viewer shows: these vibrations without the rigid motions, each of largest coordinate 1.
  const std::vector<NaturalShape> natural = natural_shapes(b, 5);
  ASSERT_EQ(natural.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(natural[i].frequency, expected[i], i < 4 ? 0.06 : 0.6);
    EXPECT_NEAR(natural[i].eta.cwiseAbs().maxCoeff(), 1, 1e-15);
    const double w = 2 * pi * natural[i].frequency;
    EXPECT_LT((b.K * natural[i].eta - w * w * b.M * natural[i].eta).norm(), 1e-9 * (b.K * natural[i].eta).norm());
  }
  const auto full = free_frequencies(box({0.2, 0.8, 0.16}, 8, 30, 6), 5);
  const double fe[] = {1185.5, 1404.0, 1819.8, 2795.1, 3141};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(full[i], fe[i], i < 4 ? 0.06 : 0.6);
  // tau^T M_BB tau: mass and inertia of the box.
  Mat tau(24, 6);
  for (std::size_t k = 0; k < 8; ++k) {
    tau.block<3, 3>(b.boundary[k].first, 0).setIdentity();
    tau.block<3, 3>(b.boundary[k].first, 3) = -skew(b.boundary[k].X);
  }
  const Mat R = tau.transpose() * b.M.topLeftCorner(24, 24) * tau;
  const double diagonal[] = {199.68, 199.68, 199.68, 11.0756, 1.0916, 11.3152};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(R(i, i), diagonal[i], 5e-5);
  EXPECT_LT((R - Mat(R.diagonal().asDiagonal())).norm(), 1e-9);
  EXPECT_LT((b.K.topLeftCorner(24, 24) * tau).norm(), 1e-8 * b.K.norm());
  EXPECT_LT(m.report.rigid_mass_error, 1e-10);
  // K couples boundary and modes by nothing, M by much (T-4).
  EXPECT_EQ(b.K.topRightCorner(24, 10).norm(), 0);
  EXPECT_GT(b.M.topRightCorner(24, 10).norm(), 0.1);
}

// Euler-Bernoulli: omega = (beta L)^2 sqrt(E I/(rho A L^4)); free: 4.73004, 7.85320, 10.9956; clamped: 1.87510,
// 4.69409, 7.85476. A slender beam (L/a = 100): rotatory inertia changes them by less than 1e-3.
TEST(Beams, HaveTheFrequenciesOfTheory) {
  const double L = 1, a = 0.01;
  const double unit = std::sqrt(210e9 * a * a * a * a / 12 / (7800 * a * a)) / (L * L) / (2 * pi);
  FlexibleSource s = beam(L, a, 20, false);
  const auto f = free_frequencies(s, 6);
  const double free[] = {4.73004, 7.85320, 10.9956};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(f[i] / (unit * std::pow(free[i / 2], 2)), 1, 1.5e-3) << i;
  s.reduction.method = ReductionDescription::Method::modal;
  s.reduction.clamped = {"root"};
  s.reduction.modes = 6;
  s.reference.kind = ReferenceDescription::Kind::interface;
  s.reference.interface = "root";
  const FlexibleModel clamped = made(s);
  const double fixed[] = {1.87510, 4.69409, 7.85476};
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(clamped.report.frequencies[i] / (unit * std::pow(fixed[i / 2], 2)), 1, 1.5e-3) << i;
  // Shaken across, the first pair of modes moves 61.31 % of the mass, the second 18.83 %, the third 6.47 %: (2 sigma/
  // (beta L))^2 of the clamped beam with sigma = 0.734096, 1.018467, 0.999225 (Blevins 1979). Pairs: the sum of both.
  const double share[] = {0.6131, 0.1883, 0.0647};
  for (long pair = 0; pair < 3; ++pair)
    for (long axis : {1, 2})
      EXPECT_NEAR(clamped.report.effective_mass.block(2 * pair, axis, 2, 1).sum() / clamped.body->mass, share[pair],
                  2e-3);
  // The frame is fixed to the root: nothing moves there.
  const Marker& root = clamped.body->markers[0];
  EXPECT_LT(root.S.norm(), 1e-10 * clamped.body->markers[1].S.norm());
  EXPECT_LT(root.Psi.norm(), 1e-9 * clamped.body->markers[1].Psi.norm());
}

// Timoshenko beams against the row of VV-1 (k = 10 (1 + nu)/(12 + 11 nu)).
TEST(Beams, OfTimoshenkoHaveTheTabulatedFrequencies) {
  FlexibleSource s = beam(0.5, 0.02, 40, true);
  s.section.width = 0.02;
  s.section.height = 0.03;
  const auto f = free_frequencies(s, 5);
  const double expected[] = {424.2, 631.9, 1157.2, 1702.4, 2234.8};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(f[i], expected[i], 1e-3 * expected[i]);
}

// Free square plate, nu = 0.3: lambda = omega a^2 sqrt(rho h/D) = 13.47, 19.60, 24.27, 34.80, 34.80 (Leissa, Vibration
// of Plates, NASA SP-160; Gorman's accurate values 13.468, 19.596, 24.270, 34.801). Thickness a/100: shear lowers them
// by less than 1 %.
TEST(Plates, OfHexahedraHaveLeissasFrequencies) {
  FlexibleSource s = box({1, 1, 0.01}, 12, 12, 1);
  s.mesh.quadratic = true;
  const auto f = free_frequencies(s, 5);
  const double D = 210e9 * 1e-6 / (12 * 0.91), unit = std::sqrt(D / (7800 * 0.01)) / (2 * pi);
  const double lambda[] = {13.468, 19.596, 24.270, 34.801, 34.801};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(f[i] / (unit * lambda[i]), 1, 0.01) << i;
}

// Frequencies of solids converge with the square of the element's size for linear elements and with its fourth power
// for quadratic ones: longitudinal mode of a free bar without lateral contraction, f = c/(2 L) exactly. It is told from
// the others by its shape, u_x = sin(pi x/L).
TEST(SolidElements, ConvergeWithTheirOrder) {
  const double L = 1, exact = std::sqrt(210e9 / 7800) / (2 * L);
  const auto error = [&](int n, bool quadratic) {
    FlexibleSource s = box({L, 0.3, 0.3}, n, 1, 1);
    s.materials = {steel(7800, 210e9, 0)};
    s.mesh.quadratic = quadratic;
    s.reduction.method = ReductionDescription::Method::modal;
    s.reduction.modes = 12;
    const FlexibleModel m = made(s);
    const FlexibleStructure st = make_structure(s);
    double best = 0, frequency = 0;
    for (long k = 0; k < m.shapes.cols(); ++k) {
      double overlap = 0, norm = 0;
      for (int i = 0; i < st.structure->node_count(); ++i) {
        const Vec3 u = m.shapes.block<3, 1>(st.structure->node(i).first, k);
        const double wave = std::sin(pi * st.structure->mesh().nodes[static_cast<std::size_t>(i)].x() / L);
        overlap += u.x() * wave;
        norm += u.squaredNorm();
      }
      if (overlap * overlap / norm > best) {
        best = overlap * overlap / norm;
        frequency = m.report.frequencies[static_cast<std::size_t>(k)];
      }
    }
    return frequency / exact - 1;
  };
  EXPECT_NEAR(std::log2(error(8, false) / error(16, false)), 2, 0.1);
  EXPECT_NEAR(std::log2(error(4, true) / error(8, true)), 4, 0.2);
}

// Plane elements: cantilever-like free beam of rectangles in plane stress has Timoshenko's in-plane frequencies.
TEST(PlaneElements, HaveTheBeamsFrequenciesInTheirPlane) {
  FlexibleSource s;
  s.mesh.kind = MeshDescription::Kind::rectangle;
  s.mesh.size = Vec3(0.5, 0.03, 0);
  s.mesh.elements = {50, 4};
  s.mesh.thickness = 0.02;
  s.materials = {steel()};
  const auto f = free_frequencies(s, 2);
  EXPECT_NEAR(f[0] / 631.9, 1, 5e-3);
  EXPECT_NEAR(f[1] / 1702.4, 1, 5e-3);
  EXPECT_TRUE(made([&] {
                s.reduction.method = ReductionDescription::Method::modal;
                return s;
              }())
                  .body->planar);
}

}  // namespace
}  // namespace clatter::fem
