// A small result with channels, ledger, events and checkpoints, whole or damaged, as a file that disappears with the
// process.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "record/writer.hpp"

// HDF5 1.10 itself loses memory on the way out of files that it refuses.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

namespace clatter::fuzz {

class ResultFile {
 public:
  ResultFile() : path_(folder() + "clatter-fuzz-" + std::to_string(::getpid()) + ".h5") {
    using namespace record;
    RunInfo info;
    info.model_name = "fuzz";
    info.model_files = {{"fuzz.yaml", "clatter: 1\n"}};
    info.model_hash = "0123";
    info.version = "0";
    info.settings = {{"method", "dopri5"}};
    info.scene = "{\"bodies\": []}";
    info.surfaces = {{"rod", {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}, {}}};
    WriterOptions options;
    options.checkpoint = {4, 3, 2};
    {
      Writer w = Writer::create(path_, info, {{"rod/position", "m", 3, {"x", "y", "z"}, "", false}},
                                {{"stored", "J", 1, {}, "", false}}, options);
      const std::array<double, 4> state{1, 2, 3, 4};
      const std::array<double, 3> memory{5, 6, 7};
      const std::array<std::uint64_t, 2> counters{8, 9};
      for (int i = 0; i < 4; ++i) {
        const std::array<double, 3> x{0.1 * i, 0.2 * i, 0.3 * i};
        w.append(i, x);
        w.append_ledger(i, std::array<double, 1>{1.5 * i});
        w.append_event({1.0 * i, "impact", "rod", "it knocks"});
        w.checkpoint(i, state, memory, counters);
      }
      w.finish(Status::kInterrupted, "stopped", "summary");
    }
    std::ifstream in(path_, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    whole_ = all.str();
  }
  ~ResultFile() { std::filesystem::remove(path_); }
  const std::string& whole() const { return whole_; }
  const std::string& write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

 private:
  // In memory where there is such a place: thousands of files a minute are written.
  static std::string folder() { return std::filesystem::is_directory("/dev/shm") ? "/dev/shm/" : ""; }
  std::string path_, whole_;
};

}  // namespace clatter::fuzz
