// JSON of others, and scenes of others.
#include "view/json_value.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/load.hpp"
#include "source_root.hpp"
#include "view/json.hpp"
#include "view/scene.hpp"

namespace clatter::view {
namespace {

TEST(JsonReading, TakesWhatTheStandardHas) {
  const JsonValue v = parse_json(" {\"a\" : [1, -0.5e3, true, null, \"x\\u00e9\\ud83d\\ude00\\n\"], \"b\": {}} ");
  const auto& members = *v.as<JsonValue::Object>();
  ASSERT_EQ(members.size(), 2U);
  const auto& list = *members[0].second.as<JsonValue::Array>();
  EXPECT_EQ(*list[0].as<double>(), 1);
  EXPECT_EQ(*list[1].as<double>(), -500);
  EXPECT_TRUE(*list[2].as<bool>());
  EXPECT_NE(list[3].as<std::nullptr_t>(), nullptr);
  EXPECT_EQ(*list[4].as<std::string>(), "x\xC3\xA9\xF0\x9F\x98\x80\n");
}

TEST(JsonReading, RefusesEverythingElse) {
  for (const std::string text : {"",
                                 "{",
                                 "[1,]",
                                 "{\"a\":1,}",
                                 "{\"a\" 1}",
                                 "{\"a\":1,\"a\":2}",
                                 "{a:1}",
                                 "01",
                                 "1.",
                                 ".5",
                                 "+1",
                                 "1e999",
                                 "nan",
                                 "inf",
                                 "-",
                                 "\"\n\"",
                                 "\"\\x\"",
                                 "\"\\ud800\"",
                                 "\"\\ud800\\u0041\"",
                                 "\"\xC3\"",
                                 "\"\xED\xA0\x80\"",
                                 "\"abc",
                                 "1 2",
                                 "[1] </script>",
                                 "tru",
                                 "\"\\u12\""})
    EXPECT_THROW(parse_json(text), JsonError) << text;
  EXPECT_THROW(parse_json(std::string(100000, '[')), JsonError);
}

TEST(JsonText, OfBytesThatAreNoTextIsStillText) {
  Json json;
  json.text("a\xFF\xC3\xA9\xED\xA0\x80\xF4\x90\x80\x80z");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(json.str(), "\"a" + mark + "\xC3\xA9" + mark + mark + mark + mark + mark + mark + mark + "z\"");
  EXPECT_NO_THROW(parse_json(json.str()));
}

// Every scene this program writes passes unchanged, bit for bit.
TEST(Scene, OfModelsIsWhatTheSchemaHas) {
  int models = 0;
  for (const char* folder : {"/models/contact", "/models/rigid", "/models/forces"})
    for (const auto& entry : std::filesystem::directory_iterator(source_root() + folder)) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string scene = scene_json(load_model(entry.path().string(), {}));
      EXPECT_EQ(checked_scene(scene), scene) << entry.path();
      ++models;
    }
  EXPECT_GT(models, 60);
  SurfaceUse use;
  use.name = "rod";
  use.shapes.push_back({3.5, Vec::Constant(2, 0.1)});
  const std::string with_skin = scene_json({}, {use});
  EXPECT_EQ(checked_scene(with_skin), with_skin);
}

TEST(Scene, OfOthersHoldsNothingThatDoesNotBelongThere) {
  const std::string ground = R"("ground":{"shapes":[],"anchors":[]})";
  // Unknown keys go, texts are escaped.
  EXPECT_EQ(checked_scene(R"({"version":1,"bodies":[],"onload":"x","title":"</script>",)" + ground + "}"),
            R"({"version":1,"bodies":[],"title":"\u003c/script>",)" + ground + "}");
  const auto body = [&](const std::string& more) {
    return R"({"version":1,"bodies":[{"name":"a","kind":"rigid","shapes":[)" + more + R"(],"anchors":[]}],)" + ground +
           "}";
  };
  EXPECT_NO_THROW(checked_scene(body(R"({"kind":"box","role":"body","position":[0,0,0],"rotation":[1,0,0,0]})")));
  for (const std::string shape : {R"({"kind":"<b>","role":"body","position":[0,0,0],"rotation":[1,0,0,0]})",
                                  R"({"kind":"box","role":"body","position":[0,0],"rotation":[1,0,0,0]})",
                                  R"({"kind":"box","role":"body","position":[0,0,"x"],"rotation":[1,0,0,0]})",
                                  R"({"kind":"box","role":"body","position":[0,0,0]})", R"({"kind":1})", R"(7)"})
    EXPECT_THROW(checked_scene(body(shape)), JsonError) << shape;
  for (const std::string joint : {R"({"body":1)", R"({"body":-2)", R"({"body":0.5)", R"({"body":"0")"})
    EXPECT_THROW(
        checked_scene(R"({"version":1,"bodies":[],)" + ground + R"(,"joints":[{"name":"j","type":"fixed","a":)" +
                      joint + R"(,"position":[0,0,0],"rotation":[1,0,0,0]},"b":{}}]})"),
        JsonError)
        << joint;
  EXPECT_THROW(checked_scene("null"), JsonError);
  EXPECT_THROW(checked_scene("[]"), JsonError);
}

}  // namespace
}  // namespace clatter::view
