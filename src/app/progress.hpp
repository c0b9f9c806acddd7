// How far a run is: a bar that is redrawn in place on a terminal, plain lines every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace clatter::app {

struct ProgressReport {
  double start = 0, end = 0;  // simulated time
  double first = 0;           // where this process began (a continued run begins later than `start`)
  double t = 0;
  double step = 0;
  std::uint64_t steps = 0, events = 0;
  double wall = 0;  // seconds since this process began
};

// The text of one report. `bar` columns of it are the bar itself; 0: none.
std::string progress_text(const ProgressReport& report, int bar, bool utf8);

class ProgressBar {
 public:
  // Draws on `out` (stderr in the program). `quiet`: draws nothing.
  ProgressBar(double start, double end, double first, bool quiet, std::FILE* out = stderr);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Cheap enough for every step: a look at the clock.
  void update(double t, double step, std::uint64_t steps, std::uint64_t events);
  // Wipes the bar, so that what follows starts on a clean line.
  void clear();

 private:
  void draw();

  ProgressReport report_;
  std::FILE* out_;
  bool quiet_, terminal_, utf8_;
  bool drawn_ = false;
  double next_draw_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace clatter::app
