#include "app/summary_text.hpp"

#include <gtest/gtest.h>

#include "study/channels.hpp"

namespace clatter::app {
namespace {

// 10 J stored, 5 J supplied, 3 J dissipated: 12 J must be there; 12.5 J are, so 0.5 J come from the integration.
TEST(Ledger, RemainderIsWhatTheContributionsDoNotExplain) {
  study::Ledger ledger{10, 12.5, {"motor", "damper"}, {5, -3}, 2};
  EXPECT_DOUBLE_EQ(ledger.remainder(), 0.5);
  EXPECT_DOUBLE_EQ(ledger.scale(), 10);  // 2 + 5 + 3
  EXPECT_FALSE(ledger.closes());
  ledger.end = 12 + 0.5e-3;  // half of 1e-4 * 10
  EXPECT_TRUE(ledger.closes());
}

// The zero of potential energy is arbitrary, so the verdict must not change when everything is lifted by 10^6 J.
TEST(Ledger, VerdictDoesNotDependOnTheZeroOfPotentialEnergy) {
  study::Ledger ledger{0, 0.01, {}, {}, 1};
  EXPECT_FALSE(ledger.closes());
  ledger.start += 1e6;
  ledger.end += 1e6;
  EXPECT_FALSE(ledger.closes());
}

TEST(Ledger, TextNamesWhatSuppliedAndWhatTookAndLeavesOutIdleContributions) {
  const std::string text = ledger_text({10, 12, {"motor", "damper", "idle"}, {5, -3, 0}, 2});
  EXPECT_NE(text.find("supplied by motor"), std::string::npos);
  EXPECT_NE(text.find("taken by damper"), std::string::npos);
  EXPECT_EQ(text.find("idle"), std::string::npos);
  EXPECT_NE(text.find("closes"), std::string::npos);
}

TEST(Ledger, AnOpenLedgerSaysSoAndWhatToTry) {
  const std::string text = ledger_text({10, 11, {}, {}, 2});
  EXPECT_NE(text.find("does NOT close"), std::string::npos);
  EXPECT_NE(text.find("--step"), std::string::npos);
}

// A block at rest: 1e-12 of the stored energy, or what sums of energies of opposite sign leave, is rounding and no
// error of the integration, however little moved; a hundred times what rounding allows is not.
TEST(Ledger, AtRestTheRoundingOfWhatIsStoredIsNoRemainder) {
  study::Ledger rest{20, 20 + 2e-11, {}, {}, 1e-31};
  rest.summands = 20;
  EXPECT_TRUE(rest.closes());
  EXPECT_NE(ledger_text(rest).find("closes to the rounding of what is stored"), std::string::npos) << ledger_text(rest);
  study::Ledger nothing{0, 2e-31, {}, {}, 0};
  nothing.summands = 1;
  EXPECT_TRUE(nothing.closes());
  EXPECT_EQ(ledger_text(nothing).find("NOT"), std::string::npos);
  study::Ledger far{1e-9, 3e-9, {}, {}, 1e-12};  // two weights of 1e4 J, one above and one below the origin
  far.summands = 2e4;
  EXPECT_TRUE(far.closes());
  rest.end = 20 + 2e-8;
  EXPECT_FALSE(rest.closes());
  EXPECT_NE(ledger_text(rest).find("does NOT close"), std::string::npos);
}

TEST(Channels, QuantitiesAreFiledUnderWhatTheyBelongToAndFoundAgain) {
  Model model;
  for (const char* name : {"rod", "arm.rod"}) {
    Body body;
    body.name = name;
    model.bodies.push_back(body);
  }
  Joint joint;
  joint.name = "pin";
  model.joints.push_back(joint);
  ForceElement spring;
  spring.name = "arm.spring";
  model.force_elements.push_back(spring);
  const std::pair<const char*, const char*> names[] = {
      {"rod.position", "bodies/rod/position"},
      {"arm.rod.velocity", "bodies/arm.rod/velocity"},
      {"rod.tip.position", "frames/rod.tip/position"},
      {"arm.rod.tip.position", "frames/arm.rod.tip/position"},
      {"pin.angle", "joints/pin/angle"},
      {"pin.rate.angle", "joints/pin/rate.angle"},
      {"arm.spring.length", "forces/arm.spring/length"},
      {"energy.total", "energy/total"},
      {"system.momentum", "system/momentum"},
  };
  for (const auto& [quantity, channel] : names) {
    EXPECT_EQ(study::channel_of_quantity(model, quantity), channel);
    EXPECT_EQ(study::quantity_of_channel(channel), quantity);
  }
}

}  // namespace
}  // namespace clatter::app
