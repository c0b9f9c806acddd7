// Reads a result file: finished, still being written, or left behind by a killed run. What a Reader shows is the state
// at opening or at the last refresh(); it never shows a row that is not complete.
// Anything that is not such a file gives a ResultError.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.hpp"

namespace clatter::record {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class Reader {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

  explicit Reader(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Whether the file claims to be a result, readable or not.
  static bool is_result(const std::string& path);

  // Takes in what was committed since; true when something changed.
  bool refresh();

  const std::string& path() const;
  const RunInfo& info() const;
  Status status() const;
  bool being_written() const;  // a writer holds the file now
  bool killed() const;         // status running, but nobody writes
  const std::string& message() const;
  const std::string& summary() const;
  RowCounts rows() const;

  const std::vector<Channel>& channels() const;
  const std::vector<Channel>& ledger_channels() const;
  bool has(std::string_view channel) const;
  // The named channel; the error for an unknown one names the nearest.
  const Channel& channel(std::string_view name) const;

  // Rows [first, first + count), cut to what is there.
  std::vector<double> times(std::uint64_t first = 0, std::uint64_t count = kAll) const;
  RowMatrix read(std::string_view channel, std::uint64_t first = 0, std::uint64_t count = kAll) const;
  std::vector<double> ledger_times(std::uint64_t first = 0, std::uint64_t count = kAll) const;
  RowMatrix read_ledger(std::string_view channel, std::uint64_t first = 0, std::uint64_t count = kAll) const;
  std::vector<Event> events(std::uint64_t first = 0, std::uint64_t count = kAll) const;

  CheckpointSizes checkpoint_sizes() const;
  Checkpoint checkpoint(std::uint64_t row) const;
  std::optional<Checkpoint> last_checkpoint() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace clatter::record
