// Ctrl-C during a run: the first one (or a plain kill) asks for a stop, for which long steps look themselves; the
// second one ends the process.
#pragma once

#include <csignal>

#include <atomic>

#include "base/interrupt.hpp"

namespace clatter::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static const std::atomic<bool>& requested();

 private:
  struct sigaction old_int_ {
  }, old_term_{};
  InterruptScope interruptible_{&requested()};
};

}  // namespace clatter::app
