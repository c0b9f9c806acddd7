// `clatter plot` from a run to a figure, and what it says when it cannot.
#include <fstream>
#include <iterator>

#include "app/fixture.hpp"

namespace clatter::app {

class PlotCommand : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    file(
        "drop.yaml",
        "clatter: 1\ngravity: [0, 0, -10]\nbodies:\n  ball: {mass: 1 kg, shape: {sphere: 10 cm}, velocity: [1, 0, 3]}\n"
        "simulate: {method: rk4, step: 10 ms, end: 1 s, output_step: 10 ms}\n");
    RunOptions options;
    options.model = "drop.yaml";
    options.quiet = true;
    ASSERT_EQ(run_model(options), kDone) << err_.str();
  }
  int plotted(const std::vector<std::string>& quantities, const std::string& output, const std::string& over = "") {
    PlotOptions options;
    options.result = "drop.h5";
    options.quantities = quantities;
    options.output = output;
    options.over = over;
    return guarded(console_, [&] { return plot(options, console_); });
  }
  static std::string text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::size_t count(const std::string& where, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = where.find(what); at != where.npos; at = where.find(what, at + 1)) ++n;
    return n;
  }
};

TEST_F(PlotCommand, AVectorIsItsComponentsInOnePanel) {
  ASSERT_EQ(plotted({"ball.position"}, "a.svg"), kDone) << err_.str();
  const std::string svg = text("a.svg");
  for (const char* name : {"ball.position.x", "ball.position.y", "ball.position.z"})
    EXPECT_EQ(count(svg, std::string(">") + name + "</text>"), 1U) << name;
  EXPECT_EQ(count(svg, "<clipPath"), 1U);
}

TEST_F(PlotCommand, QuantitiesOfOtherUnitsHavePanelsOfTheirOwn) {
  ASSERT_EQ(plotted({"ball.position.z", "|ball.velocity|", "ball.position.z"}, "a.svg"), kDone) << err_.str();
  const std::string svg = text("a.svg");
  EXPECT_EQ(count(svg, "<clipPath"), 2U);
  EXPECT_EQ(count(svg, ">ball.position.z, m</text>"), 1U);
  EXPECT_EQ(count(svg, ">|ball.velocity|, m/s</text>"), 1U);
}

TEST_F(PlotCommand, AnotherQuantityMayTakeThePlaceOfTime) {
  ASSERT_EQ(plotted({"ball.position.z"}, "a.svg", "ball.position.x"), kDone) << err_.str();
  EXPECT_EQ(count(text("a.svg"), ">ball.position.x, m</text>"), 1U);
  EXPECT_EQ(plotted({"ball.position.z"}, "b.svg", "ball.position"), kBadInput);
  EXPECT_NE(err_.str().find("--over needs one number"), std::string::npos) << err_.str();
}

TEST_F(PlotCommand, OtherFormatsGoByTheName) {
  EXPECT_EQ(plotted({"energy.total"}, "a.pdf"), kDone) << err_.str();
  EXPECT_TRUE(text("a.pdf").starts_with("%PDF"));
  EXPECT_EQ(plotted({"energy.total"}, "a.PNG"), kDone) << err_.str();
  EXPECT_TRUE(text("a.PNG").starts_with("\x89PNG"));
  EXPECT_EQ(plotted({"energy.total"}, "a.jpg"), kBadInput);
  EXPECT_NE(err_.str().find(".svg, .pdf or .png"), std::string::npos) << err_.str();
}

TEST_F(PlotCommand, AnUnknownQuantityIsNamedWithTheNearest) {
  EXPECT_EQ(plotted({"ball.positon.z"}, "a.svg"), kBadInput);
  EXPECT_NE(err_.str().find("records no `ball.positon.z`"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("did you mean `ball.position.z`?"), std::string::npos) << err_.str();
  EXPECT_FALSE(fs::exists("a.svg"));
}

}  // namespace clatter::app
