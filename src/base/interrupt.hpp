// A wish to stop that long computations look for themselves.
//
// A step may take minutes: many repeated attempts, the search of an event, a problem of thousands of contacts. Whoever
// runs one announces where the wish will appear (InterruptScope); loops that may last look there between two rounds
// and leave by the exception Interrupted, which no step takes for a failure of its own. The state of the last accepted
// step is untouched. The announcement is the thread's own; without one nothing is looked at.
#pragma once

#include <atomic>
#include <exception>

namespace clatter {

class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

namespace detail {
inline thread_local const std::atomic<bool>* interrupt_wish = nullptr;
}

class InterruptScope {
 public:
  explicit InterruptScope(const std::atomic<bool>* wish) : outer_(detail::interrupt_wish) {
    detail::interrupt_wish = wish;
  }
  ~InterruptScope() { detail::interrupt_wish = outer_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

inline void leave_if_interrupted() {
  if (detail::interrupt_wish != nullptr && detail::interrupt_wish->load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace clatter
