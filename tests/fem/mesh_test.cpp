// Meshes: generated ones have the volumes of the solids they stand for, their sets and skins; wrong ones are refused
// with a message that names the element.
#include "fem/mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "fem/generate.hpp"

namespace clatter::fem {
namespace {

constexpr double pi = std::numbers::pi;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    std::string all;
    for (const auto& d : e.diagnostics()) all += d.message + " | " + d.hint + "\n";
    return all;
  }
  return "no error";
}

// Area of a closed surface by its outward triangles, and the volume inside by the divergence theorem.
std::pair<double, double> surface(const Mesh& m) {
  double area = 0, volume = 0;
  for (const Face& f : skin(m))
    for (const auto& t : triangles(m, f)) {
      const Vec3 a = m.nodes[static_cast<std::size_t>(t[0])], b = m.nodes[static_cast<std::size_t>(t[1])],
                 c = m.nodes[static_cast<std::size_t>(t[2])];
      area += 0.5 * (b - a).cross(c - a).norm();
      volume += a.dot(b.cross(c)) / 6;
    }
  return {area, volume};
}

TEST(GeneratedMesh, BoxHasItsVolumeSkinAndSets) {
  const Mesh m = make_box({0.8, 0.2, 0.16}, 5, 3, 2);
  check_mesh(m);
  EXPECT_EQ(m.nodes.size(), 6U * 4 * 3);
  EXPECT_EQ(m.element_count(), 30);
  EXPECT_NEAR(volume_of(m).volume, 0.8 * 0.2 * 0.16, 1e-15);
  const auto [area, volume] = surface(m);
  EXPECT_NEAR(area, 2 * (0.8 * 0.2 + 0.2 * 0.16 + 0.8 * 0.16), 1e-14);
  EXPECT_NEAR(volume, 0.8 * 0.2 * 0.16, 1e-15);  // only when every face points outward
  EXPECT_EQ(m.node_sets.at("x+").size(), 4U * 3);
  EXPECT_EQ(m.surfaces.at("z-").size(), 15U);
}

TEST(GeneratedMesh, QuadraticBoxHasTheSameVolumeAndMiddlesInItsSets) {
  const Mesh m = make_box({1, 2, 3}, 2, 2, 2, true);
  check_mesh(m);
  EXPECT_EQ(m.nodes.size(), 27U + 54);  // corners and edges of 2 x 2 x 2
  EXPECT_NEAR(volume_of(m).volume, 6, 1e-13);
  EXPECT_NEAR(surface(m).second, 6, 1e-13);
  EXPECT_EQ(m.node_sets.at("x-").size(), 9U + 12);
}

TEST(GeneratedMesh, RoundSolidsApproachTheirVolumesWithTheOrderOfTheirSides) {
  // Chords miss the area of a circle by the factor sin(2 pi/n)/(2 pi/n): exactly that for straight sides.
  const double chord = std::sin(2 * pi / 32) / (2 * pi / 32);
  EXPECT_NEAR(volume_of(make_cylinder(0.1, 0.5, 32, 3, 4)).volume / (pi * 0.01 * 0.5), chord, 1e-12);
  EXPECT_NEAR(volume_of(make_tube(0.05, 0.1, 0.5, 32, 2, 4)).volume / (pi * 0.0075 * 0.5), chord, 1e-12);
  // Parabolas through three points of the circle over a chord of angle t: a triangle of sin(t)/2 and a segment of two
  // thirds of chord times rise, against the sector's t/2. The ratio misses 1 by t^4/480.
  const double t = 2 * pi / 32, parabola = (std::sin(t) + 8.0 / 3 * std::sin(t / 2) * (1 - std::cos(t / 2))) / t;
  const Mesh q = make_cylinder(0.1, 0.5, 32, 3, 4, true);
  check_mesh(q);
  EXPECT_NEAR(volume_of(q).volume / (pi * 0.01 * 0.5), parabola, 1e-12);
  EXPECT_NEAR((1 - parabola) / (std::pow(t, 4) / 480), 1, 2e-3);
  const Mesh disk = make_disk(1, 16, 2, true);
  check_mesh(disk);
  EXPECT_NEAR(volume_of(disk).volume, pi, 2e-4);
  EXPECT_EQ(disk.node_sets.at("rim").size(), 32U);
}

TEST(GeneratedMesh, PolygonsOfAnyShapeKeepTheirAreaAndElementSize) {
  // An L, once counter-clockwise and once clockwise, and a star with reflex corners.
  const std::vector<Vec3> ell = {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
  const std::vector<Vec3> reversed(ell.rbegin(), ell.rend());
  for (const auto& corners : {ell, reversed}) {
    const Mesh m = make_polygon(corners, 0.3);
    check_mesh(m);
    EXPECT_NEAR(volume_of(m).volume, 4, 1e-13);
    for (const auto& b : m.blocks)
      for (int e = 0; e < b.count(); ++e)
        for (int i = 0; i < 4; ++i) {
          const auto node = [&](int k) {
            return m.nodes[static_cast<std::size_t>(b.connectivity[static_cast<std::size_t>(4 * e + k % 4)])];
          };
          EXPECT_LE((node(i) - node(i + 1)).norm(), 0.3 * (1 + 1e-9));
        }
    // Edge 1 runs between the first two corners as written.
    for (int n : m.node_sets.at("edge_1")) {
      const Vec3 &x = m.nodes[static_cast<std::size_t>(n)], a = corners[0], b = corners[1];
      EXPECT_NEAR((x - a).norm() + (x - b).norm(), (a - b).norm(), 1e-12);
    }
  }
  std::vector<Vec3> star;
  for (int i = 0; i < 10; ++i) {
    const double r = i % 2 == 0 ? 1 : 0.4, phi = pi * i / 5;
    star.emplace_back(r * std::cos(phi), r * std::sin(phi), 0);
  }
  const Mesh solid = make_extrusion(star, 0.5, 0.2, 3);
  check_mesh(solid);
  EXPECT_NEAR(volume_of(solid).volume, 0.5 * 10 * 0.5 * 1 * 0.4 * std::sin(pi / 5), 1e-13);
}

// Ears can be cut off the first of these; a corner that touches a side and sides that fold back are mistakes as well.
TEST(GeneratedMesh, CrossedPolygonIsRefused) {
  const auto message = [](const std::vector<Vec3>& corners) { return message_of([&] { make_polygon(corners, 0.1); }); };
  EXPECT_NE(message({{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1.5, 0}}).find("side 1 (corners 1 and 2) meets side 3"),
            std::string::npos);
  EXPECT_NE(message({{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {1, 0, 0}, {0, 2, 0}}).find("touches itself: side 1"),
            std::string::npos);
  EXPECT_NE(message({{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {2, 1, 0}, {2, 0, 0}, {1, 0, 0}, {0, 1, 0}}).find("touches"),
            std::string::npos);
}

TEST(GeneratedMesh, HelixHasTheLengthOfItsWire) {
  const Mesh m = make_helix(0.015, 0.014, 3.5, 20);
  EXPECT_EQ(m.element_count(), 70);
  double length = 0;
  for (int e = 0; e < 70; ++e) {
    const ElementRef r = m.element(e);
    length += (m.nodes[static_cast<std::size_t>(r.nodes[0])] - m.nodes[static_cast<std::size_t>(r.nodes[1])]).norm();
  }
  // Chords of 18 degrees are shorter than their arc by sin(9 deg)/(9 deg in rad) = 0.9959.
  EXPECT_NEAR(length / std::hypot(pi * 0.015 * 3.5, 0.014), std::sin(pi / 20) / (pi / 20), 1e-4);
}

TEST(MeshCheck, NamesInvertedFlatAndRepeatedElements) {
  Mesh m = make_box({1, 1, 1}, 2, 1, 1);
  auto& c = m.blocks[0].connectivity;
  std::swap(c[8 + 1], c[8 + 3]);  // mirrors the second element
  std::swap(c[8 + 5], c[8 + 7]);
  EXPECT_NE(
      message_of([&] { check_mesh(m); }).find("1 of 2 elements is inverted or too distorted (negative Jacobian): 2"),
      std::string::npos)
      << message_of([&] { check_mesh(m); });
  Mesh flat = make_box({1, 1, 1}, 1, 1, 1);
  for (Vec3& x : flat.nodes) x.z() = 0;
  EXPECT_NE(message_of([&] { check_mesh(flat); }).find("element 1 (hex8) has no volume"), std::string::npos);
  Mesh twice = make_box({1, 1, 1}, 1, 1, 1);
  twice.blocks[0].connectivity[1] = twice.blocks[0].connectivity[0];
  EXPECT_NE(message_of([&] { check_mesh(twice); }).find("has node"), std::string::npos);
}

TEST(MeshCheck, TellsPartsThatAreNotConnectedAndWhenMergingHelps) {
  Mesh m = make_box({1, 1, 1}, 1, 1, 1);
  const Mesh other = m;
  const int n = static_cast<int>(m.nodes.size());
  for (const Vec3& x : other.nodes) m.nodes.push_back(x + Vec3(1, 0, 0));
  for (int k : other.blocks[0].connectivity) m.blocks[0].connectivity.push_back(k + n);
  const std::string joined = message_of([&] { check_mesh(m); });
  EXPECT_NE(joined.find("2 parts that are not connected"), std::string::npos) << joined;
  EXPECT_NE(joined.find("4 nodes lie on top of others"), std::string::npos) << joined;
  merge_nodes(m, 1e-9);
  EXPECT_EQ(m.nodes.size(), 12U);
  check_mesh(m);
}

}  // namespace
}  // namespace clatter::fem
