// `clatter new`: what it writes runs and meets its own checks; what is there is never overwritten.
#include "app/templates.hpp"
#include "fixture.hpp"

namespace clatter::app {
namespace {

class New : public Commands {
 protected:
  int make(const std::string& name, const std::string& which) {
    NewOptions options;
    options.name = name;
    options.model_template = which;
    return guarded(console_, [&] { return new_model(options, console_); });
  }
};

TEST_F(New, EveryTemplateRunsAndItsChecksPass) {
  std::vector<std::string> names;
  for (const ModelTemplate& t : model_templates()) {
    names.emplace_back(t.name);
    EXPECT_GT(t.summary().size(), 20u) << t.name << ": the first line must tell what it is";
    ASSERT_EQ(make(names.back(), names.back()), kDone) << err_.str();
    const std::string text = text_of(names.back() + ".yaml");
    EXPECT_EQ(text.find('@'), std::string::npos) << "a place was not filled in " << t.name;
    EXPECT_NE(text.find("clatter run " + names.back() + ".yaml"), std::string::npos);
  }
  for (const char* promised : {"pendulum", "slider-crank", "woodpecker", "beam"})
    EXPECT_NE(std::find(names.begin(), names.end(), promised), names.end()) << promised;
  VerifyOptions options;
  options.paths = {"."};
  EXPECT_EQ(verify_models(options), kDone) << out_.str() << err_.str();
  EXPECT_TRUE(contains(out_, std::to_string(names.size()) + " passed, 0 failed")) << out_.str();
  EXPECT_FALSE(contains(out_, "without checks")) << out_.str();
}

// Contacts that are let go and taken again within a few instants of their own making once stopped it at 1e-9.
TEST_F(New, WoodpeckerRunsAtAnyTolerance) {
  ASSERT_EQ(make("toy", "woodpecker"), kDone);
  for (const double tolerance : {1e-6, 1e-9, 1e-10}) {
    RunOptions options;
    options.model = "toy.yaml";
    options.quiet = true;
    options.changes.tolerance = tolerance;
    EXPECT_EQ(guarded(console_, [&] { return run(options, console_); }), kDone) << tolerance << ": " << err_.str();
  }
}

TEST_F(New, NeverOverwrites) {
  file("mine.yaml", "precious");
  EXPECT_EQ(make("mine", "pendulum"), kBadInput);
  EXPECT_TRUE(contains(err_, "mine.yaml is there already")) << err_.str();
  EXPECT_EQ(text_of("mine.yaml"), "precious");
}

TEST_F(New, NamesTheNearestTemplateAndAllOfThem) {
  EXPECT_EQ(make("toy", "woodpeker"), kBadInput);
  EXPECT_TRUE(contains(err_, "there is no template `woodpeker`")) << err_.str();
  EXPECT_TRUE(contains(err_, "did you mean `woodpecker`?")) << err_.str();
  EXPECT_TRUE(contains(err_, "slider-crank")) << err_.str();
  EXPECT_EQ(files(), 0u);
}

TEST_F(New, RefusesNamesThatAreNoFilesAndFoldersThatAreNotThere) {
  for (const char* name : {"", ".yaml", "dir/.hidden", "no/such/folder/toy"}) {
    err_.str("");
    EXPECT_EQ(make(name, "pendulum"), kBadInput) << name;
    EXPECT_TRUE(contains(err_, "error: ")) << name;
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(New, ListsTheTemplates) {
  NewOptions options;
  options.list = true;
  ASSERT_EQ(new_model(options, console_), kDone);
  for (const ModelTemplate& t : model_templates()) EXPECT_TRUE(contains(out_, std::string(t.name))) << out_.str();
  EXPECT_EQ(files(), 0u);
}

// The gallery of the documentation: each model with checks once, with the numbers of its checks and a picture.
TEST_F(New, VerifyLeavesAGallery) {
  ASSERT_EQ(make("a", "pendulum"), kDone);
  ASSERT_EQ(make("b", "slider-crank"), kDone);
  VerifyOptions options;
  options.paths = {"a.yaml", "b.yaml"};
  options.gallery = "gallery";
  options.quiet = true;
  ASSERT_EQ(verify_models(options), kDone) << err_.str();
  const std::string json = text_of("gallery/gallery.json");
  EXPECT_NE(json.find("\"model\":\"a.yaml\",\"title\":\"A pendulum\",\"picture\":\"000-a.svg\""), std::string::npos)
      << json;
  EXPECT_NE(json.find("\"published\":0.213855553449"), std::string::npos) << json;
  EXPECT_NE(text_of("gallery/000-a.svg").find("rod.position.x"), std::string::npos);
  EXPECT_NE(text_of("gallery/001-b.svg").find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace clatter::app
