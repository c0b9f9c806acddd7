// Notices a run that no longer comes forward: attempts so short that, at their pace, a million million of them would
// not reach the end. A few such steps are ordinary (a start, an impact); a window full of them that do not grow is not.
#pragma once

namespace clatter {

class StallWatch {
 public:
  void start(double t, double end) {
    *this = {};
    begin_ = t;
    window_ = kWindow * (end - t);
  }
  // After a step of length h with its rejected attempts, which may have ended at an event. True when a window went by
  // without progress.
  bool stalled(double t, double h, long attempts, bool at_event) {
    attempts_ += attempts;
    events_ += at_event;
    if (attempts_ < kWindow) return false;
    step_ = (t - begin_) / static_cast<double>(attempts_);
    eventful_ = 4 * events_ >= attempts_;
    const bool stuck = t - begin_ < (eventful_ ? kEventPace : kPace) * window_ && h <= kGrown * step_;
    begin_ = t;
    attempts_ = events_ = 0;
    return stuck;
  }
  double mean_step() const { return step_; }   // of the last window
  bool eventful() const { return eventful_; }  // a quarter of its attempts ended at events

 private:
  static constexpr long kWindow = 3000;
  static constexpr double kPace = 1e-12;      // of the run, an attempt
  static constexpr double kEventPace = 1e-8;  // ... where a quarter of them end at events
  static constexpr double kGrown = 4;         // a step this much longer than the mean is on its way out

  double begin_ = 0, window_ = 0, step_ = 0;
  long attempts_ = 0, events_ = 0;
  bool eventful_ = false;
};

}  // namespace clatter
