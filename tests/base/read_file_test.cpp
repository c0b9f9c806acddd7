// Files as bytes: whole, bounded, and never from what has no end.
#include "base/read_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace clatter {
namespace {

struct ReadFile : testing::Test {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("read-file-" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string refusal(const std::string& path, std::size_t most = 100) const {
    try {
      (void)read_regular_file(path, most);
    } catch (const InputError& e) {
      EXPECT_EQ(e.diagnostics().front().source.file, path);
      return e.diagnostics().front().message;
    }
    return {};
  }
};

TEST_F(ReadFile, GivesAllBytes) {
  const std::string path = folder / "a", bytes("a\0b\r\n", 5);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_regular_file(path, 5), bytes);
  EXPECT_EQ(read_regular_file(folder / "none", 5), std::nullopt);
}

TEST_F(ReadFile, IsBounded) {
  const std::string path = folder / "a";
  std::ofstream(path) << "123456";
  EXPECT_EQ(refusal(path, 5), "this file is too large (6 bytes; at most 5)");
}

// A pipe that nobody writes to would be waited for, /dev/zero read until memory ends.
TEST_F(ReadFile, DoesNotReadDevicesPipesAndFolders) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), "this is a device or a pipe, not a file");
  EXPECT_EQ(refusal("/dev/zero"), "this is a device or a pipe, not a file");
  EXPECT_EQ(refusal(folder), "this is a folder, not a file");
}

}  // namespace
}  // namespace clatter
