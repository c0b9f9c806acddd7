// Piles in space by both time-stepping schemes: what is at rest stays there, what falls comes to rest, and the ledger
// closes.
#include <gtest/gtest.h>

#include "contact/models.hpp"

namespace clatter::contact {
namespace {

template <class Scheme>
class SpatialPile : public ::testing::Test {};
using Schemes = ::testing::Types<Moreau, Alpha>;
TYPED_TEST_SUITE(SpatialPile, Schemes);

double remainder(Bench& b) { return b.energy() - b.dynamics().stored_energy(b.begin()) - b.stepper().work().sum(); }

// Five boxes that become smaller upwards, each turned and shifted a little: 20 corners on faces, four a box where three
// would do.
TYPED_TEST(SpatialPile, StackOfFiveBoxesStaysAtRest) {
  ModelMaker m(Vec3(0, 0, -10));
  int below = m.plane(-1);
  for (int i = 0; i < 5; ++i) {
    const double a = 0.4 - 0.04 * i, b = 0.3 - 0.03 * i, c = 0.2, mass = 10;
    const Vec3 inertia = mass / 12 * Vec3(b * b + c * c, a * a + c * c, a * a + b * b);
    const int body = m.spatial_body(mass, inertia, Vec3(0.004 * i, 0.002 * i, 0.1 + 0.2 * i), Vec3::Zero(),
                                    Vec3::Zero(), Quat(Eigen::AngleAxisd(0.03 * i, Vec3::UnitZ())));
    const int box = m.box(body, Vec3(a, b, c));
    m.contact(box, below, 0, 0.5);
    below = box;
  }
  Bench b(m.model, 2e-3, TypeParam{});
  const Vec q = b.state().q;
  b.run(0.5);
  EXPECT_EQ(b.stepper().contact_samples().size(), 20u);
  // The contact problem is solved to 1e-9 of the speed g h = 0.02 m/s that gravity gives in a step.
  EXPECT_LT((b.state().q - q).norm(), 1e-10);
  EXPECT_LT(b.state().v.norm(), 1e-10);
  EXPECT_LE(b.stepper().certificate().complementarity, 1e-9);
  EXPECT_LT(b.stepper().certificate().penetration, 1e-12);
  EXPECT_LT(std::abs(remainder(b)), 1e-10);  // of 980 J: rounding
}

// Light boxes under one up to ten thousand times heavier: up to 252 rows, more than dense methods take, that carry its
// weight, and a thousandth of a millimetre a second would show.
TYPED_TEST(SpatialPile, StacksStandUnderAHeavyBox) {
  for (const auto& [light, ratio] : {std::pair(4, 100.0), std::pair(4, 1e4), std::pair(10, 1e4), std::pair(20, 1e4)}) {
    SCOPED_TRACE(light);
    SCOPED_TRACE(ratio);
    ModelMaker m(Vec3(0, 0, -10));
    int below = m.plane(-1);
    const double a = 0.1;
    for (int i = 0; i <= light; ++i) {
      const double mass = i < light ? 1 : ratio;
      const int body = m.spatial_body(mass, Vec3::Constant(mass / 6 * a * a), Vec3(0, 0, a * (i + 0.5)), Vec3::Zero(),
                                      Vec3::Zero(), Quat::Identity());
      const int box = m.box(body, Vec3::Constant(a));
      m.contact(box, below, 0, 0.5);
      below = box;
    }
    Bench b(m.model, 2e-3, TypeParam{});
    const Vec q = b.state().q;
    b.run(0.1);
    // 1e-9 of g h = 0.02 m/s a box, for 0.1 s.
    EXPECT_LT((b.state().q - q).lpNorm<Eigen::Infinity>(), 2e-12 * (light + 1));
    EXPECT_LT(b.stepper().certificate().penetration, 1e-11);
    EXPECT_EQ(b.stepper().unsolved().steps, 0);
  }
}

// Equal boxes, corner on corner or shifted: faces touch in corners and in crossings of edges, four an interface, and no
// side is taken for a face.
TYPED_TEST(SpatialPile, StackOfFiveEqualBoxesStaysAtRest) {
  for (const double shift : {0.0, 0.004}) {
    SCOPED_TRACE(shift);
    ModelMaker m(Vec3(0, 0, -10));
    int below = m.plane(-1);
    for (int i = 0; i < 5; ++i) {
      const double a = 0.4, b = 0.3, c = 0.2, mass = 10;
      const Vec3 inertia = mass / 12 * Vec3(b * b + c * c, a * a + c * c, a * a + b * b);
      const int box = m.box(m.spatial_body(mass, inertia, Vec3(shift * i, shift / 2 * i, 0.1 + 0.2 * i), Vec3::Zero(),
                                           Vec3::Zero(), Quat::Identity()),
                            Vec3(a, b, c));
      m.contact(box, below, 0, 0.5);
      below = box;
    }
    Bench b(m.model, 2e-3, TypeParam{});
    const Vec q = b.state().q;
    b.run(0.5);
    EXPECT_EQ(b.stepper().contact_samples().size(), 20u);
    // As above.
    EXPECT_LT((b.state().q - q).norm(), 1e-10);
    EXPECT_LT(b.state().v.norm(), 1e-10);
    EXPECT_LE(b.stepper().certificate().complementarity, 1e-9);
    EXPECT_LT(b.stepper().certificate().penetration, 1e-12);
    EXPECT_LT(std::abs(remainder(b)), 1e-10);
  }
}

// Six balls fall into a box of five planes, strike each other and its walls, and roll.
TYPED_TEST(SpatialPile, BallsInABoxKeepApartAndGainNoEnergy) {
  ModelMaker m(Vec3(0, 0, -10));
  std::vector<int> shapes;
  const auto wall = [&](const Vec3& at, const Vec3& inward) {
    m.shape(-1, ContactShape::Kind::plane).at.placement = {at, Quat::FromTwoVectors(Vec3::UnitZ(), inward)};
    shapes.push_back(m.last_shape());
  };
  wall(Vec3::Zero(), Vec3::UnitZ());
  for (const double side : {-1.0, 1.0}) {
    wall(Vec3(0.25 * side, 0, 0), -side * Vec3::UnitX());
    wall(Vec3(0, 0.25 * side, 0), -side * Vec3::UnitY());
  }
  for (int i = 0; i < 6; ++i) {
    const double r = 0.08 + 0.01 * (i % 3);
    const Vec3 at(0.2 * (i % 2) - 0.1 + 0.01 * i, 0.2 * ((i / 2) % 2) - 0.1 + 0.007 * i, 0.12 + 0.25 * (i / 4));
    const int ball = m.sphere(m.spatial_body(1, Vec3::Constant(0.4 * r * r), at, Vec3(0.1 * i, -0.05 * i, 0)), r);
    for (const int other : shapes) m.contact(ball, other, 0.3, 0.4);
    shapes.push_back(ball);
  }
  Bench b(m.model, 2e-3, TypeParam{});
  const double E0 = b.energy();
  double lowest = E0, gain = 0;
  b.run(0.5, [&] {
    gain = std::max(gain, b.energy() - lowest);
    lowest = std::min(lowest, b.energy());
  });
  EXPECT_LT(lowest, 0.9 * E0);
  // Moreau's scheme takes out what contacts bring in. Generalized-alpha is of second order and promises no more: with
  // balls of 0.1 m at 1 m/s, (h omega)^2 / 12 = 3e-5.
  EXPECT_LT(gain, (std::is_same_v<TypeParam, Moreau> ? 1e-6 : 3e-5) * E0);
  EXPECT_LT(b.stepper().certificate().penetration, 1e-9);
  EXPECT_LE(b.stepper().certificate().complementarity, 1e-9);
  EXPECT_LT(std::abs(remainder(b)), 1e-3 * E0);
}

}  // namespace
}  // namespace clatter::contact
