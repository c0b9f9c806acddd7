#include "view/figure.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "view/json.hpp"
#include "view/pack.hpp"
#include "view/scene.hpp"

namespace clatter::view {

TEST(Ticks, AreRoundNumbersInsideTheRange) {
  const Ticks t = ticks(-0.3, 1.27, 0.3);
  EXPECT_EQ(t.labels, (std::vector<std::string>{"0", "0.5", "1.0"}));
  EXPECT_EQ(t.exponent, 0);
}

TEST(Ticks, DigitsFollowTheStepSoThatNeighboursDiffer) {
  EXPECT_EQ(ticks(5.6, 5.6101, 0.0024).labels,
            (std::vector<std::string>{"5.6000", "5.6025", "5.6050", "5.6075", "5.6100"}));
}

TEST(Ticks, SmallAndLargeNumbersShareAPowerOfAThousand) {
  const Ticks small = ticks(0, 4e-5, 1e-5);
  EXPECT_EQ(small.exponent, -6);
  EXPECT_EQ(small.labels, (std::vector<std::string>{"0", "10", "20", "30", "40"}));
  const Ticks large = ticks(-2e7, 0, 1e7);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_EQ(large.labels, (std::vector<std::string>{"−20", "−10", "0"}));
}

TEST(Units, ArePrintedWithRaisedDigits) {
  EXPECT_EQ(printed_unit("m/s^2"), "m/s²");
  EXPECT_EQ(printed_unit("kg*m^2"), "kg·m²");
  EXPECT_EQ(printed_unit("s^-1"), "s⁻¹");
  EXPECT_EQ(printed_unit("1"), "");
}

class FigureFiles : public testing::Test {
 protected:
  static Figure sine() {
    Figure f;
    f.title = "A < B & C";
    f.x_label = "t";
    f.x_unit = "s";
    Curve a{"a.x", "m", {}, {}}, b{"b.x", "m", {}, {}}, c{"c", "N", {}, {}};
    for (int i = 0; i <= 100; ++i) {
      const double t = 0.01 * i;
      for (Curve* curve : {&a, &b, &c}) curve->x.push_back(t);
      a.y.push_back(std::sin(6 * t));
      b.y.push_back(std::cos(6 * t));
      c.y.push_back(20);
    }
    f.curves = {a, b, c};
    f.marks = {0.25};
    return f;
  }
  std::string written(std::unique_ptr<Canvas> canvas) {
    draw(sine(), *canvas);
    return canvas->finish();
  }
};

TEST_F(FigureFiles, SvgKeepsTextsAsTextsAndAPanelForEachUnit) {
  const std::string svg = written(svg_canvas(453, 283, "t"));
  EXPECT_NE(svg.find(">A &lt; B &amp; C</text>"), std::string::npos);
  EXPECT_NE(svg.find(">t, s</text>"), std::string::npos);
  EXPECT_NE(svg.find(">a.x</text>"), std::string::npos);   // legend of two curves
  EXPECT_NE(svg.find(">m</text>"), std::string::npos);     // their axis has the unit alone
  EXPECT_NE(svg.find(">c, N</text>"), std::string::npos);  // the single curve is named by its axis
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST_F(FigureFiles, PdfAndPngAreWhatTheirNamesSay) {
  const std::string pdf = written(pdf_canvas(453, 283, "t"));
  EXPECT_TRUE(pdf.starts_with("%PDF-1."));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  const std::string png = written(png_canvas(72, 36, 144));
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n"));
  EXPECT_EQ(static_cast<unsigned char>(png[19]), 144);  // 72 pt at 144 dots an inch
  EXPECT_EQ(static_cast<unsigned char>(png[23]), 72);
}

TEST_F(FigureFiles, CarryTheMarkByWhichTheyMayBeReplaced) {
  const auto path = std::filesystem::temp_directory_path() / ("clatter-figure-" + std::to_string(::getpid()));
  for (const bool svg : {true, false}) {
    write_file(path.string(), written(svg ? svg_canvas(453, 283, "t") : pdf_canvas(453, 283, "t")), kFigure);
    EXPECT_TRUE(has_mark(path.string(), kFigure));
  }
  write_file(path.string(), written(png_canvas(72, 36, 144)), kFigure);
  EXPECT_TRUE(has_mark(path.string(), kFigure));
  std::filesystem::remove(path);
  EXPECT_THROW(write_file("/nowhere/at/all/a.svg", "", kFigure), InputError);
}

TEST(JsonText, IsSafeInsideAPageAndKeepsTheBitsOfNumbers) {
  Json json;
  json.object()
      .put("a", "x</script>\"\\\n\x01")
      .put("b", 0.1)
      .put("c", 1.0 / 0.0)
      .put("d", -3)
      .key("e")
      .array()
      .boolean(true);
  json.vector(Vec3(1, 2, 3)).end().end();
  EXPECT_EQ(json.str(),
            "{\"a\":\"x\\u003c/script>\\\"\\\\\\n\\u0001\",\"b\":0.1,\"c\":null,\"d\":-3,\"e\":[true,[1,2,3]]}");
}

// zlib's stream of the eight bytes of (1.0, 2.0) sorted by weight, by Python: zlib.compress(planes, 6), base64.
TEST(Packing, SortsBytesByWeightAndDeflatesThem) {
  const double numbers[] = {1.0, 2.0};
  EXPECT_EQ(packed({reinterpret_cast<const char*>(numbers), sizeof numbers}, 8), "eJxjYECADwz2DgAEjgFw");
  EXPECT_EQ(packed("", 8), "eJwDAAAAAAE=");
}

TEST(SceneText, HoldsBodiesShapesAndWhereTheyAreHeld) {
  Model model;
  model.title = "T";
  Body body;
  body.name = "ball";
  body.kind = BodyKind::planar;
  body.shape.kind = Shape::Kind::sphere;
  body.shape.size = Vec3(0.1, 0, 0);
  model.bodies.push_back(body);
  ContactShape own;  // the one made from the body's solid is not drawn twice
  own.name = "ball";
  own.kind = ContactShape::Kind::circle;
  own.radius = 0.1;
  own.at.body = 0;
  ContactShape floor;
  floor.name = "floor";
  floor.kind = ContactShape::Kind::line;
  model.shapes = {own, floor};
  Joint joint;
  joint.name = "pin";
  joint.a.placement.position = Vec3(1, 2, 0);
  joint.b.body = 0;
  model.joints.push_back(joint);
  const std::string json = scene_json(model);
  EXPECT_NE(json.find("\"planar\":true"), std::string::npos) << json;
  EXPECT_NE(json.find("\"kind\":\"sphere\",\"role\":\"body\""), std::string::npos) << json;
  EXPECT_EQ(json.find("\"circle\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"kind\":\"line\",\"name\":\"floor\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"type\":\"revolute\",\"a\":{\"body\":-1,\"position\":[1,2,0]"), std::string::npos) << json;
}

}  // namespace clatter::view
