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

// How far preparations are that have stages rather than times: the reduction of a flexible body.
class StageBar {
 public:
  StageBar(std::string what, bool quiet, std::FILE* out = stderr);
  ~StageBar();
  StageBar(const StageBar&) = delete;
  StageBar& operator=(const StageBar&) = delete;
  void update(const std::string& stage, double fraction);
  void clear();
  double wall() const;  // seconds since it began

 private:
  std::string what_;
  std::FILE* out_;
  bool quiet_, terminal_, utf8_;
  bool drawn_ = false;
  double next_draw_;
  std::chrono::steady_clock::time_point began_;
};
// "body `rod`: computing modes  42%  3.1 s", with a bar of `bar` columns before it.
std::string stage_text(const std::string& what, const std::string& stage, double fraction, double wall, int bar,
                       bool utf8);

}  // namespace clatter::app
