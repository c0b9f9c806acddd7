// Writes a result file while a run goes on. Rows are gathered in memory and committed together, so that readers see
// whole rows only and a kill loses no committed row (format.hpp tells how). append* copy into buffers made at
// creation: no allocation until a commit is due.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "record/format.hpp"

namespace clatter::record {

struct WriterOptions {
  CheckpointSizes checkpoint;
  std::uint64_t expected_rows = 0;  // of samples; 0: unknown. Keeps short runs' files small.
  double commit_interval = 0.5;     // wall seconds
  bool replace_any = false;         // a file under that name that is no result, too
};

class Writer {
 public:
  // The file appears under `path` complete and open for readers, or not at all (ResultError). An older result under
  // that name is replaced; any other file, or the file of a run in progress, is not.
  static Writer create(const std::string& path, const RunInfo& info, const std::vector<Channel>& channels,
                       const std::vector<Channel>& ledger, const WriterOptions& options = {});

  // Goes on from checkpoint `row` of a file whose run was killed, interrupted, failed or finished: everything recorded
  // after that checkpoint is dropped. The rows kept are copied to a new file that then takes the name, so that a kill
  // during resume leaves the old file as it was.
  static Writer resume(const std::string& path, std::uint64_t row);

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // without finish(): commits and leaves the status `interrupted`

  // Values of all channels in order. What is not finite is refused with the channel's name.
  void append(double t, std::span<const double> values);
  void append_ledger(double t, std::span<const double> values);
  void append_event(const Event& event);
  // Also commits, so that a checkpoint never speaks of rows that are not there.
  void checkpoint(double t, std::span<const double> state, std::span<const double> memory,
                  std::span<const std::uint64_t> counters);

  void commit();
  // commit() when the last one is older than the interval; for callers whose steps are long.
  void commit_if_due();

  // Last call: message in one line, summary as long as the program likes (up to kSummaryBytes).
  void finish(Status status, const std::string& message, const std::string& summary = "");

  RowCounts rows() const;  // appended so far
  const std::string& path() const;
  const std::vector<Channel>& channels() const;
  const std::vector<Channel>& ledger_channels() const;

 private:
  class Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace clatter::record
