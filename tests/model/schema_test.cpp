#include "model/schema.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>
#include <sstream>

#include "model/load.hpp"
#include "model/quantities.hpp"
#include "model/units.hpp"
#include "source_root.hpp"

namespace clatter {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(source_root() + "/" + path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// JSON is a subset of YAML, so yaml-cpp reads it; that it is strict JSON shows in the quotes checked below.
TEST(Schema, IsWellFormedAndKnowsEveryKey) {
  const std::string text = json_schema();
  const YAML::Node schema = YAML::Load(text);
  EXPECT_EQ(schema["$schema"].as<std::string>(), "http://json-schema.org/draft-07/schema#");
  for (const auto& o : language()) {
    const YAML::Node object = o.name == "model" ? schema : schema["definitions"][o.name];
    ASSERT_TRUE(object) << o.name;
    EXPECT_FALSE(object["additionalProperties"].as<bool>());
    EXPECT_EQ(object["properties"].size(), o.keys.size()) << o.name;
    for (const auto& k : o.keys) {
      ASSERT_TRUE(object["properties"][k.name]) << o.name << "." << k.name;
      EXPECT_FALSE(object["properties"][k.name]["description"].as<std::string>().empty());
    }
  }
}

TEST(Schema, EveryReferenceHasADefinition) {
  const std::string text = json_schema();
  const YAML::Node definitions = YAML::Load(text)["definitions"];
  const std::string mark = "#/definitions/";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const auto end = text.find('"', at);
    const std::string name = text.substr(at + mark.size(), end - at - mark.size());
    EXPECT_TRUE(definitions[name]) << name;
  }
}

TEST(Table, IsConsistent) {
  for (const auto& o : language()) {
    std::set<std::string> seen;
    for (const auto& k : o.keys) {
      EXPECT_TRUE(seen.insert(k.name).second) << o.name << "." << k.name << " is listed twice";
      EXPECT_FALSE(k.text.empty()) << k.name;
      EXPECT_TRUE(k.text.ends_with('.')) << k.name;
      if (!k.object.empty()) {
        EXPECT_NO_THROW(object_spec(k.object));
      }
      const KeySpec* type = o.find("type");
      for (const auto& only : k.only) {
        ASSERT_NE(type, nullptr);
        EXPECT_NE(std::find(type->words.begin(), type->words.end(), only), type->words.end()) << only;
      }
      std::stringstream units(k.unit);
      for (std::string unit; std::getline(units, unit, '|');) {
        unit.erase(0, unit.find_first_not_of(' '));
        unit.erase(unit.find_last_not_of(' ') + 1);
        EXPECT_NO_THROW(dimension_of(unit)) << unit;
      }
    }
  }
}

// The reference tables in the manual are the table's own; print them anew when this fails.
TEST(Manual, HoldsTheCurrentTables) {
  const std::string manual = slurp("docs/model-language.md");
  const std::string begin = "<!-- tables: begin -->\n", end = "<!-- tables: end -->";
  const auto a = manual.find(begin), b = manual.find(end);
  ASSERT_NE(a, std::string::npos);
  ASSERT_NE(b, std::string::npos);
  EXPECT_EQ(manual.substr(a + begin.size(), b - a - begin.size()), reference_markdown());
}

// Whatever the manual shows as a whole model works.
TEST(Manual, ExamplesLoad) {
  const std::string manual = slurp("docs/model-language.md");
  const std::string begin = "```yaml\nclatter: 1\n";
  int examples = 0;
  for (auto at = manual.find(begin); at != std::string::npos; at = manual.find(begin, at + 1), ++examples) {
    const auto start = at + 8;
    const std::string text = manual.substr(start, manual.find("```", start) - start);
    try {
      load_model_text(text, "example " + std::to_string(examples + 1));
    } catch (const InputError& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GE(examples, 4);
}

TEST(Manual, NamesEveryUnitAndFunction) {
  const std::string manual = slurp("docs/model-language.md");
  for (const auto& unit : unit_names()) EXPECT_NE(manual.find("`" + unit + "`"), std::string::npos) << unit;
}

TEST(Quantities, TellTheirDimension) {
  EXPECT_EQ(*quantity_dimension("rod.tip.position.x"), dimension_of("m"));
  EXPECT_EQ(*quantity_dimension("a.b.rod.velocity"), dimension_of("m/s"));
  EXPECT_EQ(*quantity_dimension("pin.angle"), dimension_of("rad"));
  EXPECT_EQ(*quantity_dimension("energy.spring"), dimension_of("J"));
  EXPECT_FALSE(quantity_dimension("pin.rate.angle"));
  EXPECT_FALSE(quantity_dimension("spring.force"));
}

TEST(Quantities, UnknownOnesGetTheNearest) {
  const std::vector<std::string> known{"rod.position", "rod.velocity", "rod.tip.position", "pin.angle", "energy.total"};
  EXPECT_EQ(unknown_quantity("rod.postion", known).hint, "did you mean `rod.position`?");
  EXPECT_EQ(unknown_quantity("rod.tip.positon", known).hint, "did you mean `rod.tip.position`?");
  EXPECT_EQ(unknown_quantity("rdo.position", known).hint, "did you mean `rod.position`?");
  EXPECT_EQ(unknown_quantity("pin.torque", known).hint, "`pin` has: angle");
  EXPECT_EQ(unknown_quantity("energy", known).message, "unknown quantity `energy`");
}

TEST(Quantities, PatternsMatch) {
  EXPECT_TRUE(glob_match("*.position", "rod.tip.position"));
  EXPECT_TRUE(glob_match("r?d.*", "rod.velocity"));
  EXPECT_FALSE(glob_match("rod", "rod.velocity"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("a*b*c", "aXbX"));
}

TEST(NearestWord, FindsSlipsAndNothingFarOff) {
  const std::vector<std::string> words{"mass", "inertia", "position", "type"};
  EXPECT_EQ(nearest_word("mas", words), "mass");
  EXPECT_EQ(nearest_word("msas", words), "mass");
  EXPECT_EQ(nearest_word("Position", words), "position");
  EXPECT_EQ(nearest_word("tpye", words), "type");
  EXPECT_EQ(nearest_word("temperature", words), "");
  EXPECT_EQ(nearest_word("", words), "");
}

}  // namespace
}  // namespace clatter
