// Files of commands: whole or not at all, and never at the cost of another file.
#include "base/output_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace clatter {
namespace {

namespace fs = std::filesystem;

constexpr OutputKind kTable{"a table", "time [s]", OutputKind::At::start};
constexpr OutputKind kPage{"a page", "<!-- ours -->"};

class OutputFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "output_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  static std::string text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutputFiles, AppearWholeOrNotAtAll) {
  {
    OutputFile out(file("a.csv"), kTable);
    EXPECT_EQ(count(), 0U);
    out.stream() << "time [s]\n" << std::string(200000, 'x');
    EXPECT_FALSE(fs::exists(file("a.csv")));
  }
  EXPECT_EQ(count(), 0U) << "given up, it leaves nothing";
  OutputFile out(file("a.csv"), kTable);
  out.stream() << "time [s]\n0\n";
  out.publish();
  EXPECT_EQ(text(file("a.csv")), "time [s]\n0\n");
  EXPECT_EQ(count(), 1U);
}

TEST_F(OutputFiles, ReplaceTheirOwnKindAndNothingElseUnasked) {
  write_file(file("t.csv", "time [s],x\n0,1\n"), "time [s]\n", kTable);
  EXPECT_EQ(text(file("t.csv")), "time [s]\n");
  write_file(file("empty", ""), "time [s]\n", kTable);
  const std::string end = file("page", std::string(5000, ' ') + "<!-- ours -->\n");
  write_file(end, "<!-- ours --> new", kPage);
  EXPECT_EQ(text(end), "<!-- ours --> new");

  const std::string foreign = file("notes.csv", "my notes\ntime [s]\n");
  for (const OutputKind& kind : {kTable, kPage}) EXPECT_THROW(write_file(foreign, "x", kind), InputError);
  EXPECT_EQ(text(foreign), "my notes\ntime [s]\n");
  write_file(foreign, "time [s]\n", kTable, {{}, true});
  EXPECT_EQ(text(foreign), "time [s]\n");
}

TEST_F(OutputFiles, NeverReplaceWhatTheCommandReadsByWhateverName) {
  const std::string input = file("in.csv", "time [s]\n1\n");
  fs::create_hard_link(input, file("hard"));
  fs::create_symlink(input, file("soft"));
  fs::create_directory(file("sub"));
  for (const std::string& name : {input, file("hard"), file("soft"), file("sub/../in.csv")}) {
    EXPECT_THROW(write_file(name, "x", kTable, {{input}, true}), InputError) << name;
    EXPECT_THROW(refuse_input_as_output(name, {input}), InputError) << name;
  }
  EXPECT_EQ(text(input), "time [s]\n1\n");
}

TEST_F(OutputFiles, GoThroughASymbolicLinkAndKeepIt) {
  const std::string target = file("real.csv", "time [s]\n1\n");
  fs::create_symlink(target, file("link.csv"));
  write_file(file("link.csv"), "time [s]\n2\n", kTable);
  EXPECT_TRUE(fs::is_symlink(file("link.csv")));
  EXPECT_EQ(text(target), "time [s]\n2\n");
}

TEST_F(OutputFiles, SayWhyTheyCannotBeWritten) {
  EXPECT_THROW(write_file(file("no/such/a.csv"), "x", kTable), InputError);
  EXPECT_THROW(write_file(folder_.string(), "x", kTable), InputError);
  EXPECT_THROW(write_file(file(""), "x", kTable), InputError);
  write_file("/dev/null", "x", kTable);  // no file to lose
  if (fs::exists("/dev/full")) {
    EXPECT_THROW(write_file("/dev/full", "x", kTable), OutputError);
  }
}

TEST_F(OutputFiles, ThatMustBeNewFailWhereThereIsOne) {
  write_new_file(file("new.yaml"), "a");
  EXPECT_EQ(text(file("new.yaml")), "a");
  EXPECT_THROW(write_new_file(file("new.yaml"), "b"), InputError);
  EXPECT_EQ(text(file("new.yaml")), "a");
  EXPECT_EQ(count(), 1U);
}

}  // namespace
}  // namespace clatter
