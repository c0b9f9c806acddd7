#include "record/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/checksum.hpp"
#include "base/output_file.hpp"
#include "record/h5.hpp"
#include "record/reader.hpp"
#include "record/writer_build.hpp"
#include "record/writer_table.hpp"

namespace clatter::record {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void set_text(char* field, std::size_t bytes, const std::string& text) {
  std::memset(field, 0, bytes);
  if (text.size() <= bytes) {
    std::memcpy(field, text.data(), text.size());
  } else {
    const std::string cut = shortened(text, bytes);
    std::memcpy(field, cut.data(), cut.size());
  }
}

void check_folder(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (fs::path(path).filename().empty()) throw ResultError(path, "is not a file name", "give a name such as result.h5");
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw ResultError(path, fmt::format("the folder '{}' does not exist", folder.string()), "create it first");
  if (fs::is_directory(path, error)) throw ResultError(path, "is a folder", "give a file name inside it");
}

}  // namespace

class Writer::Impl {
 public:
  std::string path;        // what the user calls it
  std::string built_path;  // where it is until publish()
  WriterOptions options;
  h5::WriterLock lock;
  h5::Handle file;
  WriterTable samples;
  WriterTable ledger;
  std::vector<h5::EventRow> events;
  std::size_t events_buffered = 0;
  std::uint64_t events_committed = 0;
  std::uint64_t checkpoints = 0;
  h5::Handle event_type = h5::event_type();
  h5::Handle event_data, progress_data, status_data, message_data, summary_data;
  h5::Handle checkpoint_time, checkpoint_state, checkpoint_memory, checkpoint_counters, checkpoint_rows, checkpoint_sum;
  h5::Handle end_sums;
  RowSumsWriter event_sums;
  std::uint64_t commits = 0;
  Clock::time_point last_commit = Clock::now();
  bool broken = false;

  Impl(const std::string& target, const RunInfo& info, const std::vector<Channel>& channels,
       const std::vector<Channel>& ledger_channels, const WriterOptions& wanted)
      : path(target), options(wanted) {
    built_path = name_beside(path);
    try {
      WriterParts parts{samples, ledger, event_sums};
      build_result(file, built_path, path, info, channels, ledger_channels, options, parts);
      events.resize(kEventBuffer);
      open();
    } catch (...) {
      broken = true;
      turn_away();
      close_all();
      ::unlink(built_path.c_str());
      throw;
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    if (!built_path.empty()) {  // never published
      close_all();
      ::unlink(built_path.c_str());
      return;
    }
    if (!file.valid()) return;
    try {
      end(Status::kInterrupted, "the run stopped before its end", "");
    } catch (const std::exception&) {
      close_all();
    }
  }

  void publish() {
    commit();
    if (const int error = publish_part(built_path, path); error != 0)
      throw ResultError(path, fmt::format("cannot be written ({})", std::strerror(error)), "choose another place");
    built_path.clear();
  }

  RowCounts rows() const { return {samples.rows(), ledger.rows(), events_committed + events_buffered, checkpoints}; }

  void need_open() const {
    if (broken) throw ResultError(path, "an earlier write failed, nothing more can be recorded", kDiskAdvice);
    if (!file.valid()) throw ResultError(path, "the file was already finished", "resume it to go on");
  }

  void append(WriterTable& table, double t, std::span<const double> values) {
    need_open();
    table.add(t, values, path);
    if (table.buffered == table.chunk_rows)
      commit();
    else
      commit_if_due();
  }

  void append_event(const Event& event) {
    need_open();
    if (!std::isfinite(event.t))
      throw ResultError(path, fmt::format("an event was given at the time {}", event.t), "report this diagnosis");
    h5::EventRow& row = events[events_buffered++];
    row.t = event.t;
    set_text(row.kind, kEventKindBytes, event.kind);
    set_text(row.element, kEventElementBytes, event.element);
    set_text(row.text, kEventTextBytes, event.text);
    if (events_buffered == kEventBuffer)
      commit();
    else
      commit_if_due();
  }

  void write_checkpoint(double t, std::span<const double> state, std::span<const double> memory,
                        std::span<const std::uint64_t> counters, RowCounts at) {
    need_open();
    const CheckpointSizes& size = options.checkpoint;
    if (state.size() != size.state || memory.size() != size.memory || counters.size() != size.counters)
      throw ResultError(
          path,
          fmt::format("a checkpoint of {}, {}, {} numbers was given where {}, {}, {} were reserved", state.size(),
                      memory.size(), counters.size(), size.state, size.memory, size.counters),
          "give the sizes named at creation");
    const std::array<std::uint64_t, 4> counts{at.samples, at.ledger, at.events, at.checkpoints};
    guarded([&] {
      const std::uint64_t row = checkpoints;
      if (size.state > 0) h5::write_rows(checkpoint_state, H5T_NATIVE_DOUBLE, size.state, row, 1, state.data(), path);
      if (size.memory > 0)
        h5::write_rows(checkpoint_memory, H5T_NATIVE_DOUBLE, size.memory, row, 1, memory.data(), path);
      if (size.counters > 0)
        h5::write_rows(checkpoint_counters, H5T_NATIVE_UINT64, size.counters, row, 1, counters.data(), path);
      h5::write_rows(checkpoint_rows, H5T_NATIVE_UINT64, counts.size(), row, 1, counts.data(), path);
      const std::uint64_t sum = checkpoint_checksum(t, state, memory, counters, counts);
      h5::write_rows(checkpoint_sum, H5T_NATIVE_UINT64, 1, row, 1, &sum, path);
      h5::write_rows(checkpoint_time, H5T_NATIVE_DOUBLE, 1, row, 1, &t, path);
      ++checkpoints;
    });
  }

  void commit_if_due() {
    if (Clock::now() - last_commit > std::chrono::duration<double>(options.commit_interval)) commit();
  }

  void commit() {
    need_open();
    guarded([&] {
      samples.write(path);
      ledger.write(path);
      h5::write_rows(event_data, event_type, 1, events_committed, events_buffered, events.data(), path);
      event_sums.add(0, events.data(), events_buffered, sizeof(h5::EventRow), sizeof(h5::EventRow));
      events_committed += events_buffered;
      event_sums.write(std::exchange(events_buffered, 0), events_committed, path);
      h5::need(H5Fflush(file, H5F_SCOPE_LOCAL), path, "flush the file", kDiskAdvice);
      write_progress();
    });
    last_commit = Clock::now();
  }

  void end(Status status, const std::string& message, const std::string& summary) {
    commit();
    guarded([&] { write_end(status, message, summary); });
    if (!close_all()) throw ResultError(path, "closing the file failed", "what was committed can still be read");
  }

 private:
  // A write that failed half-way leaves HDF5 with metadata it can neither finish nor forget, and closing would write
  // them in a wrong order over a sound file. So the end is noted in the room reserved for it, and the library's
  // descriptor is turned away from the file: on disk all stays as a kill at this moment would leave it. What the
  // library still wants to write goes to a file in memory, where it succeeds: HDF5 1.10 keeps the handle of a file that
  // failed to close and ends the program with a crash.
  template <class Work>
  void guarded(const Work& work) {
    h5::quiet();
    try {
      work();
    } catch (const std::exception& error) {
      broken = true;
      abandon(error.what());
      throw;
    }
  }

  void abandon(const std::string& why) {
    try {
      write_end(Status::kFailed, why, "");
    } catch (const std::exception&) {  // the status stays `running`, as after a kill
    }
    turn_away();
  }

  // The status last: it says that the rest is there.
  void write_end(Status status, const std::string& message, const std::string& summary) const {
    const std::array<std::uint64_t, 2> sums{h5::overwrite_text(message_data, message, path),
                                            h5::overwrite_text(summary_data, summary, path)};
    h5::need(H5Dwrite(end_sums, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, sums.data()), path, "write checksums",
             kDiskAdvice);
    h5::overwrite_text(status_data, to_string(status), path);
  }

  void turn_away() const {
    if (!file.valid()) return;
    void* descriptor = nullptr;
    int elsewhere = ::memfd_create("given-up", MFD_CLOEXEC);
    if (elsewhere < 0) elsewhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0 && descriptor != nullptr && elsewhere >= 0)
      ::dup2(elsewhere, *static_cast<const int*>(descriptor));
    if (elsewhere >= 0) ::close(elsewhere);
  }

  void write_progress() {
    std::array<std::uint64_t, 8> progress{
        samples.committed, ledger.committed, events_committed, checkpoints, lock.file_size(), ++commits, 0, 0};
    progress[kProgressSum] = crc32c(0, progress.data(), kProgressSum * sizeof(progress[0]));
    h5::need(H5Dwrite(progress_data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, progress.data()), path,
             "write the progress", kDiskAdvice);
  }

  // Opens the finished skeleton for one writer and many readers and takes the writer's lock.
  void open() {
    file = h5::Handle(h5::need(H5Fopen(built_path.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, h5::writer_properties()),
                               path, "open the file for writing"),
                      H5Fclose);
    samples.open(file, "samples", path);
    ledger.open(file, "ledger", path);
    event_data = h5::open_data(file, "events", path);
    event_sums.open(file, path);
    end_sums = h5::open_data(file, "checksums/end", path);
    checkpoint_sum = h5::open_data(file, "checksums/checkpoints", path);
    progress_data = h5::open_data(file, "progress", path);
    status_data = h5::open_data(file, "status", path);
    message_data = h5::open_data(file, "message", path);
    summary_data = h5::open_data(file, "summary", path);
    const auto open_part = [&](const char* name, std::size_t width) {
      return width > 0 ? h5::open_data(file, std::string("checkpoints/") + name, path) : h5::Handle();
    };
    checkpoint_time = open_part("time", 1);
    checkpoint_rows = open_part("rows", 4);
    checkpoint_state = open_part("state", options.checkpoint.state);
    checkpoint_memory = open_part("memory", options.checkpoint.memory);
    checkpoint_counters = open_part("counters", options.checkpoint.counters);
    lock = h5::WriterLock::open(built_path, true);
    lock.acquire();
  }

  bool close_all() {
    h5::quiet();
    for (h5::Handle* handle :
         {&event_data, &progress_data, &status_data, &message_data, &summary_data, &checkpoint_time, &checkpoint_rows,
          &checkpoint_state, &checkpoint_memory, &checkpoint_counters, &checkpoint_sum, &end_sums})
      handle->reset();
    event_sums.close();
    samples.close();
    ledger.close();
    // A limit on the size of files holds in memory, too; what is given up may pass it as far as it is ours to say.
    rlimit limit{};
    const bool limited = broken && ::getrlimit(RLIMIT_FSIZE, &limit) == 0;
    if (limited) {
      const rlimit most{limit.rlim_max, limit.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &most);
    }
    const bool closed = file.reset();
    if (limited) ::setrlimit(RLIMIT_FSIZE, &limit);
    lock = h5::WriterLock();
    return closed;
  }
};

namespace {

// Refuses to replace what is not ours to replace; otherwise returns the lock that keeps others from doing the same.
h5::WriterLock claim(const std::string& path, bool any) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  try {
    const Reader existing(path);
  } catch (const ResultError&) {
    if (!any && !Reader::is_result(path))
      throw ResultError(path, "exists and is not a Clatter result", "choose another name, or replace it with --force");
  }
  h5::WriterLock lock = h5::WriterLock::open(path, true);
  if (!lock.acquire())
    throw ResultError(path, "another run is writing this file", "wait for it to end or choose another name");
  return lock;
}

}  // namespace

Writer Writer::create(const std::string& path, const RunInfo& info, const std::vector<Channel>& channels,
                      const std::vector<Channel>& ledger, const WriterOptions& options) {
  h5::quiet();
  check_channels(channels, path);
  check_channels(ledger, path);
  check_folder(path);
  const h5::WriterLock old = claim(path, options.replace_any);
  auto impl = std::make_unique<Impl>(path, info, channels, ledger, options);
  impl->publish();
  return Writer(std::move(impl));
}

Writer Writer::resume(const std::string& path, std::uint64_t row) {
  h5::quiet();
  std::unique_ptr<Impl> impl;
  h5::WriterLock old;
  {
    const Reader reader(path);
    old = h5::WriterLock::open(path, true);
    if (!old.acquire()) throw ResultError(path, "another run is writing this file", "wait for it to end");
    const RowCounts keep = reader.checkpoint(row).rows;
    WriterOptions options;
    options.checkpoint = reader.checkpoint_sizes();
    impl = std::make_unique<Impl>(path, reader.info(), reader.channels(), reader.ledger_channels(), options);

    const auto copy_table = [&](WriterTable& table, std::uint64_t rows, bool is_ledger) {
      std::vector<double> line(table.width);
      for (std::uint64_t first = 0; first < rows; first += table.chunk_rows) {
        const std::uint64_t count = std::min<std::uint64_t>(table.chunk_rows, rows - first);
        const std::vector<double> times = is_ledger ? reader.ledger_times(first, count) : reader.times(first, count);
        std::vector<RowMatrix> columns;
        for (const Channel& c : table.channels)
          columns.push_back(is_ledger ? reader.read_ledger(c.name, first, count) : reader.read(c.name, first, count));
        for (std::uint64_t i = 0; i < count; ++i) {
          auto out = line.begin();
          for (const RowMatrix& column : columns) {
            const auto values = column.row(static_cast<Eigen::Index>(i));
            out = std::copy(values.begin(), values.end(), out);
          }
          impl->append(table, times[i], line);
        }
      }
    };
    copy_table(impl->samples, keep.samples, false);
    copy_table(impl->ledger, keep.ledger, true);
    for (std::uint64_t first = 0; first < keep.events; first += kEventBuffer)
      for (const Event& event : reader.events(first, std::min<std::uint64_t>(kEventBuffer, keep.events - first)))
        impl->append_event(event);
    for (std::uint64_t i = 0; i <= row; ++i) {
      const Checkpoint c = reader.checkpoint(i);
      impl->write_checkpoint(c.t, c.state, c.memory, c.counters, c.rows);
    }
  }
  impl->publish();
  return Writer(std::move(impl));
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::append(double t, std::span<const double> values) { impl_->append(impl_->samples, t, values); }
void Writer::append_ledger(double t, std::span<const double> values) { impl_->append(impl_->ledger, t, values); }
void Writer::append_event(const Event& event) { impl_->append_event(event); }

void Writer::checkpoint(double t, std::span<const double> state, std::span<const double> memory,
                        std::span<const std::uint64_t> counters) {
  RowCounts at = impl_->rows();
  ++at.checkpoints;
  impl_->write_checkpoint(t, state, memory, counters, at);
  impl_->commit();
}

void Writer::commit() { impl_->commit(); }
void Writer::commit_if_due() { impl_->commit_if_due(); }

void Writer::finish(Status status, const std::string& message, const std::string& summary) {
  impl_->need_open();
  impl_->end(status, message, summary);
}

RowCounts Writer::rows() const { return impl_->rows(); }
const std::string& Writer::path() const { return impl_->path; }
const std::vector<Channel>& Writer::channels() const { return impl_->samples.channels; }
const std::vector<Channel>& Writer::ledger_channels() const { return impl_->ledger.channels; }

}  // namespace clatter::record
