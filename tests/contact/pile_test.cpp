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

INSTANTIATE_TEST_SUITE_P(Eighths, RandomPiles, ::testing::Range(0, 8));

}  // namespace
}  // namespace clatter::contact
