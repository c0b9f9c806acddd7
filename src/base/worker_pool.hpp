// WorkerPool: threads that wait for parts of one job. Which thread does which part does not matter to the result: parts
// share nothing that is written.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace clatter::contact {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // job(0) ... job(parts - 1), in any order and at once; returns when all are done. Takes no memory.
  template <class Job>
  void run(int parts, const Job& job) {
    run(
        parts, [](const void* what, int part) { (*static_cast<const Job*>(what))(part); }, &job);
  }

 private:
  using Call = void (*)(const void* job, int part);
  void run(int parts, Call call, const void* job);
  void work();
  void take_parts();

  std::vector<std::thread> workers_;
  Call job_call_ = nullptr;
  const void* job_ = nullptr;
  // next_ is beyond all parts while there is no job: whoever looks then finds nothing to do, and whoever finds a part
  // sees the job it belongs to.
  static constexpr int nothing = 1 << 30;
  std::atomic<int> parts_{0}, next_{nothing}, done_{0};
  std::atomic<unsigned> call_{0};
  std::atomic<bool> leave_{false};
};

}  // namespace clatter::contact
