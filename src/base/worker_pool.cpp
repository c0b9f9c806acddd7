#include "base/worker_pool.hpp"

namespace clatter::contact {

namespace {

constexpr int kLooks = 2000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

WorkerPool::WorkerPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  leave_ = true;
  ++call_;
  call_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void WorkerPool::take_parts() {
  for (int part = next_.fetch_add(1); part < parts_; part = next_.fetch_add(1)) {
    job_call_(job_, part);
    done_.fetch_add(1);
  }
}

void WorkerPool::work() {
  unsigned seen = 0;
  for (;;) {
    // Sweeps follow each other within microseconds, sooner than a sleeper wakes.
    for (int look = 0; look < kLooks && call_.load(std::memory_order_relaxed) == seen; ++look) pause_briefly();
    call_.wait(seen);
    seen = call_.load();
    if (leave_) return;
    take_parts();
  }
}

void WorkerPool::run(int parts, Call call, const void* job) {
  if (workers_.empty() || parts < 2) {
    for (int part = 0; part < parts; ++part) call(job, part);
    return;
  }
  job_call_ = call;
  job_ = job;
  parts_ = parts;
  done_ = 0;
  next_ = 0;
  ++call_;
  call_.notify_all();
  take_parts();
  for (int look = 0; done_.load() != parts; ++look) look < kLooks ? pause_briefly() : std::this_thread::yield();
  next_ = nothing;
}

}  // namespace clatter::contact
