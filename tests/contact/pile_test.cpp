// A thousand random piles of convex polygons by Moreau-Jean time stepping: nothing may penetrate, gain energy, or end
// without a solution.
//
// h = 5 ms: bodies of 8 to 24 cm that fall up to half a metre move by up to 15 mm in a step.
#include <gtest/gtest.h>

#include "contact/piles.hpp"

namespace clatter::contact {
namespace {

constexpr double kStep = 5e-3, kEnd = 0.5;

class RandomPiles : public ::testing::TestWithParam<int> {};

TEST_P(RandomPiles, StayApartAndGainNoEnergy) {
  for (int k = 0; k < 125; ++k) {
    const auto seed = static_cast<unsigned>(1000 * GetParam() + k);
    const Pile pile = random_pile(seed);
    try {
      Bench b(pile.model, kStep, Moreau{});
      const double E0 = b.energy();
      double lowest = E0, gain = 0;
      b.run(kEnd, [&] {
        const double E = b.energy();
        gain = std::max(gain, E - lowest);
        lowest = std::min(lowest, E);
      });
      const Certificate& c = b.stepper().certificate();
      EXPECT_LT(c.penetration, 1e-8 * pile.length) << "pile " << seed;
      EXPECT_LE(c.complementarity, 1e-9) << "pile " << seed;
      EXPECT_LT(gain, 1e-6 * E0) << "pile " << seed;
      EXPECT_TRUE(b.state().q.allFinite() && b.state().v.allFinite());
    } catch (const std::exception& e) {
      ADD_FAILURE() << "pile " << seed << ": " << e.what();
    }
  }
}

// A heavy ball at 10 m/s strikes a wall: all contacts of the wall at once in one problem, which must not be refused.
TEST(Wall, ThatABallStrikesGoesOn) {
  ModelMaker m(Vec3(0, -9.81, 0));
  std::vector<int> shapes{m.line(-1)};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const Vec3 at(0.201 * (j + 0.25 * (i % 2)), 0.05 + 0.1 * i, 0);
      const int block = m.rectangle(m.planar_body(2, 2 * 0.05 / 12, at, Vec3::Zero()), 0.2, 0.1);
      for (const int other : shapes) m.contact(block, other, 0, 0.6);
      shapes.push_back(block);
    }
  const int ball = m.circle(m.planar_body(20, 0.1, Vec3(-0.5, 0.3, 0), Vec3(10, 0, 0)), 0.1);
  for (const int other : shapes) m.contact(ball, other, 0.2, 0.6);
  Bench b(m.model, 2e-3, Moreau{});
  const double E0 = b.energy();
  double lowest = E0, gain = 0;
  b.run(0.1, [&] {
    gain = std::max(gain, b.energy() - lowest);
    lowest = std::min(lowest, b.energy());
  });
  EXPECT_LT(lowest, 0.8 * E0);
  EXPECT_LT(gain, 1e-6 * E0);
  EXPECT_LT(b.stepper().certificate().penetration, 1e-8 * 0.2);
  EXPECT_LE(b.stepper().certificate().complementarity, 1e-5);  // what a step of half the length may leave
}

INSTANTIATE_TEST_SUITE_P(Eighths, RandomPiles, ::testing::Range(0, 8));

}  // namespace
}  // namespace clatter::contact
