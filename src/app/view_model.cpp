// `clatter view MODEL`: a run in a process of its own, and its result's page as soon as there is something to see.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <thread>

#include "app/commands.hpp"
#include "app/result_page.hpp"
#include "base/error.hpp"
#include "record/reader.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

ino_t file_at(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

bool readable(const std::string& path) {
  try {
    return record::Reader(path).rows().samples > 1;
  } catch (const std::exception&) {
    return false;  // its first lines are being written
  }
}

// The run. Ends with this object: asked to stop where it still goes on, so that its result is closed.
class ModelRun {
 public:
  ModelRun(const RunOptions& options, const Console& console) {
    console.out.flush();
    console.err.flush();
    child_ = ::fork();  // no thread has been started, no file opened yet
    if (child_ < 0) throw InputError("the run could not be started", "try clatter run, then clatter view");
    if (child_ > 0) return;
    const int code = guarded(console, [&] { return run(options, console); });
    console.out.flush();
    console.err.flush();
    ::_exit(code);
  }
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;
  ~ModelRun() {
    if (ended()) return;
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }

  bool ended() {
    int status = 0;
    if (!ended_ && ::waitpid(child_, &status, WNOHANG) == child_) {
      ended_ = true;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSolveFailed;
    }
    return ended_;
  }
  int code() const { return code_; }  // once it has ended

 private:
  pid_t child_ = -1;
  bool ended_ = false;
  int code_ = kDone;
};

}  // namespace

int view_model(const ViewOptions& options, const Console& console) {
  load_page();  // without it nothing is run
  RunOptions run_options;
  run_options.model = options.result;
  ViewOptions shown = options;
  shown.result = fs::path(options.result).filename().replace_extension(".h5").string();
  const ino_t before = file_at(shown.result);
  ModelRun simulation(run_options, console);
  // Short runs are over before anybody looks; long ones are followed.
  const Clock::time_point began = Clock::now();
  while (!simulation.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const ino_t now = file_at(shown.result);
    if (Clock::now() - began > std::chrono::seconds(2) && now != 0 && now != before && readable(shown.result)) break;
  }
  if (simulation.ended() && (simulation.code() == kBadInput || file_at(shown.result) == 0)) return simulation.code();
  return view_result(shown, console);
}

}  // namespace clatter::app
