// Elements alone: shape functions, patch test on distorted meshes, rigid motions, mass, stress, beams.
#include "fem/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "dense.hpp"
#include "fem/generate.hpp"
#include "fem/structure.hpp"

namespace clatter::fem {
namespace {

Material steel() {
  Material m;
  m.density = 7800;
  m.young = 210e9;
  m.poisson = 0.3;
  return m;
}

// A box of 3 x 2 x 2 cells with the inner nodes (and the surface nodes within the surface) pushed about, cut into the
// wished type. Middles lie on straight edges.
Mesh distorted(ElementType type) {
  const bool plane = info(type).dimension == 2;
  Mesh m = plane ? make_rectangle(3, 2, 3, 2) : make_box({3, 2, 2}, 3, 2, 2);
  const double half[3] = {1.5, 1, 1};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> shift(-0.2, 0.2);
  for (Vec3& x : m.nodes)
    for (int k = 0; k < (plane ? 2 : 3); ++k)
      if (std::abs(std::abs(x[k]) - half[k]) > 1e-9) x[k] += shift(random);
  const std::vector<int> hex = m.blocks[0].connectivity;
  ElementBlock& b = m.blocks[0];
  const ElementType linear = info(type).linear;
  const auto cut = [&](int corners, const std::vector<std::vector<int>>& parts) {
    b.connectivity.clear();
    for (std::size_t e = 0; e < hex.size(); e += static_cast<std::size_t>(corners))
      for (const auto& p : parts)
        for (int k : p) b.connectivity.push_back(hex[e + static_cast<std::size_t>(k)]);
  };
  b.type = linear;
  if (linear == ElementType::tet4)
    cut(8, {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}});
  else if (linear == ElementType::wedge6)
    cut(8, {{0, 1, 2, 4, 5, 6}, {0, 2, 3, 4, 6, 7}});
  else if (linear == ElementType::tri3)
    cut(4, {{0, 1, 2}, {0, 2, 3}});
  m.surfaces.clear();
  if (type != linear) m = to_quadratic(m);
  check_mesh(m);
  return m;
}

Structure structure_of(Mesh m, Formulation f = Formulation::incompatible, MassKind kind = MassKind::consistent) {
  StructureInput in;
  in.mesh = std::move(m);
  Properties p;
  p.material = steel();
  p.thickness = 0.5;
  in.properties = {{"", p}};
  in.formulation = f;
  in.mass = kind;
  return Structure(std::move(in));
}

const ElementType all_continua[] = {ElementType::tet4,   ElementType::tet10,   ElementType::hex8, ElementType::hex20,
                                    ElementType::wedge6, ElementType::wedge15, ElementType::tri3, ElementType::tri6,
                                    ElementType::quad4,  ElementType::quad8};

TEST(ShapeFunctions, SumToOneAreOneAtTheirNodeAndHaveTheirGradients) {
  for (int t = 0; t < element_types; ++t) {
    const auto type = static_cast<ElementType>(t);
    const auto& nodes = parent_nodes(type);
    ShapeValues N, Np, Nm;
    ShapeGradients dN, unused;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      shape_functions(type, nodes[i], N, dN);
      for (std::size_t j = 0; j < nodes.size(); ++j) EXPECT_NEAR(N[static_cast<long>(j)], i == j ? 1 : 0, 1e-14);
    }
    const Vec3 xi(0.23, 0.31, info(type).linear == ElementType::tet4 ? 0.17 : -0.4);
    shape_functions(type, xi, N, dN);
    EXPECT_NEAR(N.sum(), 1, 1e-14);
    for (int k = 0; k < info(type).dimension; ++k) {
      const double h = 1e-5;
      shape_functions(type, xi + h * Vec3::Unit(k), Np, unused);
      shape_functions(type, xi - h * Vec3::Unit(k), Nm, unused);
      EXPECT_LT(((Np - Nm) / (2 * h) - dN.col(k)).norm(), 1e-9) << info(type).name;
    }
  }
}

// A linear displacement field is in equilibrium: no force on any node inside, whatever the shape of the elements; and
// its energy is the volume's. Ten digits: K has entries of size E, the residual is rounding.
TEST(PatchTest, HoldsForEveryElementOnADistortedMesh) {
  Mat3 G;
  G << 1, 0.3, -0.2, 0.1, -0.7, 0.4, 0.25, 0.15, 0.5;
  for (ElementType type : all_continua)
    for (Formulation f : {Formulation::incompatible, Formulation::plain}) {
      const Structure s = structure_of(distorted(type), f);
      const Mesh& m = s.mesh();
      Vec u(s.freedoms());
      Mat3 g = G;
      if (s.planar()) g.col(2).setZero(), g.row(2).setZero();
      for (int i = 0; i < s.node_count(); ++i) {
        const auto n = s.node(i);
        u.segment(n.first, n.displacement.cols()) =
            n.displacement.transpose() * (g * m.nodes[static_cast<std::size_t>(i)]);
      }
      const Vec r = s.stiffness_times(u);
      const double scale = r.cwiseAbs().maxCoeff();
      std::vector<bool> surface(m.nodes.size(), false);
      for (const Face& face : skin(m))
        for (int n : m.face_nodes(face)) surface[static_cast<std::size_t>(n)] = true;
      int inner = 0;
      for (int i = 0; i < s.node_count(); ++i) {
        if (surface[static_cast<std::size_t>(i)]) continue;
        ++inner;
        const auto n = s.node(i);
        EXPECT_LT(r.segment(n.first, n.displacement.cols()).norm(), 1e-10 * scale) << info(type).name;
      }
      EXPECT_GT(inner, 0);
      const Mat3 e = 0.5 * (g + g.transpose());
      double energy;
      if (s.planar()) {
        const Eigen::Vector3d strain(e(0, 0), e(1, 1), 2 * e(0, 1));
        energy = 6 * 0.5 * strain.dot(plane_elasticity(steel(), false) * strain);
      } else {
        Vec6 strain;
        strain << e(0, 0), e(1, 1), e(2, 2), 2 * e(0, 1), 2 * e(1, 2), 2 * e(2, 0);
        energy = 12 * strain.dot(elasticity(steel()) * strain);
      }
      EXPECT_NEAR(u.dot(r) / energy, 1, 1e-11) << info(type).name;
    }
}

TEST(EveryElement, HasNoMoreZeroEnergyThanItsRigidMotionsAndTheMassOfItsVolume) {
  for (ElementType type : all_continua) {
    const Structure s = structure_of(distorted(type));
    const Mat K = Mat(Sparse(s.K().selfadjointView<Eigen::Lower>()));
    const Vec e = test::symmetric_eigenvalues(K);
    const int rigid = s.planar() ? 3 : 6;
    const double top = e.tail(1)[0];
    EXPECT_LT(std::abs(e[rigid - 1]), 1e-13 * top) << info(type).name;
    EXPECT_GT(e[rigid], 1e-6 * top) << info(type).name;
    EXPECT_LT((s.stiffness_times(s.rigid_motions())).norm(), 1e-11 * top) << info(type).name;
    const double mass = 7800 * (s.planar() ? 6 * 0.5 : 12);
    EXPECT_NEAR(s.mass() / mass, 1, 1e-13);
    // Box 3 x 2 x 2 (plate 3 x 2): exact for any mesh because coordinates are interpolated like displacements.
    EXPECT_NEAR(s.inertia()(2, 2) / (mass * (9 + 4) / 12), 1, 1e-12) << info(type).name;
    EXPECT_LT(s.centre().norm(), 1e-13);
    const Mat R = s.rigid_motions();
    EXPECT_NEAR((R.transpose() * s.mass_times(R))(rigid - 1, rigid - 1) / s.inertia()(2, 2), 1, 1e-12);
  }
}

TEST(LumpedMass, KeepsTheMassAndIsPositiveForEveryElement) {
  for (ElementType type : all_continua) {
    const Structure s = structure_of(distorted(type), Formulation::incompatible, MassKind::lumped);
    EXPECT_NEAR(s.mass() / (7800 * (s.planar() ? 6 * 0.5 : 12)), 1, 1e-13);
    EXPECT_EQ(s.M().nonZeros(), s.freedoms());
    EXPECT_GT(s.M().diagonal().minCoeff(), 0);
  }
}

// V-4 tabulates 420 m_ab/(rho V) of a straight tetrahedron with ten nodes.
TEST(Tet10, HasTheTabulatedConsistentMass) {
  NodeCoordinates x(10, 3);
  const std::vector<Vec3> c = {{0, 0, 0}, {2, 0.1, 0}, {0.3, 1.5, 0.1}, {0.2, 0.4, 1.1}};
  for (int i = 0; i < 4; ++i) x.row(i) = c[static_cast<std::size_t>(i)];
  const auto& edges = info(ElementType::tet10).edges;
  for (int k = 0; k < 6; ++k)
    x.row(4 + k) = 0.5 * (x.row(edges[static_cast<std::size_t>(k)][0]) + x.row(edges[static_cast<std::size_t>(k)][1]));
  Properties p;
  p.material = steel();
  ScalarMatrix m;
  solid_mass(ElementType::tet10, x, p, MassKind::consistent, m);
  const double V = std::abs((c[1] - c[0]).dot((c[2] - c[0]).cross(c[3] - c[0]))) / 6;
  m *= 420 / (7800 * V);
  EXPECT_NEAR(m.sum(), 420, 1e-10);
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < 10; ++b) {
      double expected;
      if (a < 4 && b < 4) {
        expected = a == b ? 6 : 1;
      } else if (a >= 4 && b >= 4) {
        const auto &e = edges[static_cast<std::size_t>(a - 4)], &f = edges[static_cast<std::size_t>(b - 4)];
        const bool share = e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1];
        expected = a == b ? 32 : share ? 16 : 8;
      } else {
        const auto& e = edges[static_cast<std::size_t>(std::max(a, b) - 4)];
        const int v = std::min(a, b);
        expected = e[0] == v || e[1] == v ? -4 : -6;
      }
      EXPECT_NEAR(m(a, b), expected, 1e-10);
    }
}

TEST(Orthotropic, WithEqualModuliIsTheIsotropicMaterialInAnyAxes) {
  Material iso = steel(), ortho = steel();
  Orthotropic o;
  const double G = 210e9 / 2.6;
  o.E[0] = o.E[1] = o.E[2] = 210e9;
  o.nu12 = o.nu23 = o.nu13 = 0.3;
  o.G12 = o.G23 = o.G13 = G;
  o.axes = Eigen::AngleAxisd(0.7, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  ortho.orthotropic = o;
  EXPECT_LT((elasticity(ortho) - elasticity(iso)).norm(), 1e-12 * elasticity(iso).norm());
  // Fibres along y of the mesh: the stiff modulus moves to yy.
  o.E[0] = 900e9;
  o.axes << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  ortho.orthotropic = o;
  const Mat6 S = elasticity(ortho).inverse();
  EXPECT_NEAR(1 / S(1, 1), 900e9, 1e-2);
  EXPECT_NEAR(1 / S(0, 0), 210e9, 1e-2);
  const Mat3 plane = plane_elasticity(steel(), false);
  EXPECT_NEAR(plane(0, 0) / (210e9 / 0.91), 1, 1e-14);
  EXPECT_NEAR(plane(2, 2) / G, 1, 1e-14);
}

TEST(Beam, OneElementIsExactForLoadsAtItsEnd) {
  Properties p;
  p.material = steel();
  for (bool shear : {false, true}) {
    p.section = rectangular_section(0.03, 0.02, 0.3, shear);
    p.section.up = Vec3(0.2, 1, 0.3);
    const Vec3 a(0.1, 0.2, 0.3), b = a + Vec3(0.4, -0.1, 0.25);
    const double L = (b - a).norm();
    Mat12 K;
    beam_stiffness(a, b, p, K);
    const Mat3 axes = beam_axes(a, b, p.section);
    const Mat6 flexibility = Mat6(K.bottomRightCorner<6, 6>()).inverse();
    const double E = 210e9, G = E / 2.6;
    const BeamSection& s = p.section;
    const Vec3 ey = axes.row(1), ez = axes.row(2), ex = axes.row(0);
    Vec6 f;
    const auto deflection = [&](const Vec3& force) {
      f << force, Vec3::Zero();
      return Vec3((flexibility * f).head<3>()).dot(force);
    };
    EXPECT_NEAR(deflection(ex) / (L / (E * s.area)), 1, 1e-9);
    const double k = s.shear_y;
    EXPECT_NEAR(deflection(ey) / (L * L * L / (3 * E * s.Iz) + (shear ? L / (k * G * s.area) : 0)), 1, 1e-9);
    EXPECT_NEAR(deflection(ez) / (L * L * L / (3 * E * s.Iy) + (shear ? L / (k * G * s.area) : 0)), 1, 1e-9);
    f << Vec3::Zero(), ex;
    EXPECT_NEAR(Vec3((flexibility * f).tail<3>()).dot(ex) / (L / (G * s.torsion)), 1, 1e-9);
    // Rigid motions: no force; mass moves as a whole.
    Eigen::Matrix<double, 12, 6> R;
    R.setZero();
    for (int end = 0; end < 2; ++end) {
      R.block<3, 3>(6 * end, 0).setIdentity();
      R.block<3, 3>(6 * end, 3) = -skew(Vec3(end == 0 ? a : b));
      R.block<3, 3>(6 * end + 3, 3).setIdentity();
    }
    EXPECT_LT((K * R).norm(), 1e-12 * K.norm());
    Mat12 M;
    beam_mass(a, b, p, MassKind::consistent, M);
    const Mat6 J = R.transpose() * M * R;
    EXPECT_NEAR(J(0, 0) / (7800 * s.area * L), 1, 1e-12);
    const Vec3 c = 0.5 * (a + b);
    const Mat3 about_centre =
        J.bottomRightCorner<3, 3>() - J(0, 0) * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
    // A slender box 0.03 x 0.02 x L.
    EXPECT_NEAR(ey.dot(about_centre * ey) / (J(0, 0) * (L * L + 0.02 * 0.02) / 12), 1, 1e-9);
    EXPECT_NEAR(ex.dot(about_centre * ex) / (J(0, 0) * (0.03 * 0.03 + 0.02 * 0.02) / 12), 1, 1e-9);
  }
}

// Saint-Venant's constant of a square, 0.1406 a^4, and of a thin strip, a b^3/3 (1 - 0.63 b/a) (Timoshenko and
// Goodier).
TEST(BeamSection, RectanglesHaveSaintVenantsTorsion) {
  EXPECT_NEAR(rectangular_section(1, 1, 0.3, true).torsion, 0.140577, 1e-6);
  EXPECT_NEAR(rectangular_section(1, 0.01, 0.3, true).torsion, 1e-6 / 3 * (1 - 0.0063024), 1e-13);
}

// Stress of a bar pulled by its ends is uniform; a bent hexahedron with incompatible modes has no shear at its points.
TEST(SolidStress, OfUniformTensionAndPureBending) {
  Properties p;
  p.material = steel();
  Mesh m = make_box({2, 0.3, 0.2}, 1, 1, 1);
  const NodeCoordinates x = m.coordinates(m.element(0));
  Vec u(24);
  for (int i = 0; i < 8; ++i) u.segment<3>(3 * i) = Vec3(1e-4 * x(i, 0), -0.3e-4 * x(i, 1), -0.3e-4 * x(i, 2));
  PointStresses s;
  solid_stress(ElementType::hex8, x, p, Formulation::incompatible, u, s);
  for (long q = 0; q < s.cols(); ++q) {
    EXPECT_NEAR(s(0, q), 210e9 * 1e-4, 1);
    EXPECT_LT(s.col(q).tail<5>().norm(), 1);
  }
  // Curvature kappa about z: ux = -kappa x y, and uz = nu kappa y z where the section is free to bend crosswise
  // (sigma = -E kappa y); where it is not, the stress is that of a plate, E/(1 - nu^2). What is quadratic, uy, is
  // carried by the incompatible modes: no shear.
  const double kappa = 1e-3, scale = 210e9 * kappa * 0.15;
  for (const double nu : {0.3, 0.0}) {
    for (int i = 0; i < 8; ++i)
      u.segment<3>(3 * i) = Vec3(-kappa * x(i, 0) * x(i, 1), 0, nu * kappa * x(i, 1) * x(i, 2));
    solid_stress(ElementType::hex8, x, p, Formulation::incompatible, u, s);
    const double modulus = nu > 0 ? 210e9 : 210e9 / (1 - 0.09);
    for (long q = 0; q < s.cols(); ++q) {
      const double y = stiffness_rule(ElementType::hex8)[static_cast<std::size_t>(q)].xi[1] * 0.15;
      EXPECT_NEAR(s(0, q), -modulus * kappa * y, 1e-6 * scale);
      EXPECT_NEAR(s(2, q), nu > 0 ? 0 : -0.3 * modulus * kappa * y, 1e-6 * scale);
      EXPECT_LT(s.col(q).tail<3>().norm(), 1e-6 * scale);
    }
  }
}

}  // namespace
}  // namespace clatter::fem
