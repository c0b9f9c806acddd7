// What the tests of the commands share: a folder of their own, the commands with their output caught, and the program
// as a process.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "app/commands.hpp"
#include "record/reader.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt_name(test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static std::string fmt_name(const std::string& test) { return "clatter-" + test + "-" + std::to_string(getpid()); }

  static std::string file(const std::string& name, const std::string& text) {
    std::ofstream(name) << text;
    return name;
  }

  int run_model(const RunOptions& options) {
    return guarded(console_, [&] { return run(options, console_); });
  }
  int verify_models(const VerifyOptions& options) {
    return guarded(console_, [&] { return verify(options, console_); });
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_, before_;
  std::ostringstream out_, err_;
  Console console_{out_, err_};
};

inline bool contains(const std::ostringstream& stream, const std::string& text) {
  return stream.str().find(text) != std::string::npos;
}

inline std::string program() { return (fs::read_symlink("/proc/self/exe").parent_path() / "clatter").string(); }

inline pid_t spawn(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> argv;
  const std::string path = program();
  argv.push_back(const_cast<char*>(path.c_str()));
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  if (freopen("stdout.txt", "w", stdout) == nullptr || freopen("stderr.txt", "w", stderr) == nullptr) _exit(126);
  execv(path.c_str(), argv.data());
  _exit(127);
}

inline int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Waits until the run has recorded `seconds` of simulated time or the process has ended.
inline void wait_for_progress(const std::string& path, double seconds) {
  for (int i = 0; i < 2000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    try {
      const record::Reader reader(path);
      const auto checkpoint = reader.last_checkpoint();
      if (checkpoint && checkpoint->t > seconds) return;
    } catch (const record::ResultError&) {
    }
  }
  FAIL() << "the run did not get to " << seconds << " s";
}

inline void expect_same_bits(const std::string& a, const std::string& b) {
  const record::Reader one(a), two(b);
  ASSERT_EQ(one.status(), record::Status::kFinished);
  ASSERT_EQ(two.status(), record::Status::kFinished);
  ASSERT_EQ(one.rows().samples, two.rows().samples);
  ASSERT_EQ(one.rows().ledger, two.rows().ledger);
  EXPECT_EQ(one.times(), two.times());
  for (const record::Channel& c : one.channels()) {
    EXPECT_TRUE((one.read(c.name).array() == two.read(c.name).array()).all()) << c.name;
  }
  for (const record::Channel& c : one.ledger_channels()) {
    EXPECT_TRUE((one.read_ledger(c.name).array() == two.read_ledger(c.name).array()).all()) << c.name;
  }
  EXPECT_EQ(one.events(), two.events());
}

class Process : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    ASSERT_TRUE(fs::exists(program())) << "build the target clatter_program first";
  }
};

}  // namespace clatter::app
