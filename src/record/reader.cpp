#include "record/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/checksum.hpp"
#include "record/reader_file.hpp"

namespace clatter::record {

class Reader::Impl : public ReaderFile {
 public:
  RunInfo info;
  Status status = Status::kRunning;
  std::string message, summary;
  RowCounts rows;
  mutable ReaderTable samples, ledger;
  mutable DataSet events, checkpoint_time, checkpoint_rows, checkpoint_state, checkpoint_memory, checkpoint_counters;
  mutable DataSet checkpoint_sums;  // none in files of earlier versions
  mutable RowSumsReader event_sums;
  CheckpointSizes sizes;
  h5::Handle event_type = h5::event_type();

  explicit Impl(const std::string& name) : ReaderFile(name) {
    if (checksums) {
      samples.sums.open(file, "checksums/samples", path);
      ledger.sums.open(file, "checksums/ledger", path);
      event_sums.open(file, "checksums/events", path);
      checkpoint_sums = open_data("checksums/checkpoints");
    }
    load_progress();
    load_status();
    settled = status != Status::kRunning;
    info = load_info();
    load_table("samples", samples);
    load_table("ledger", ledger);
    events = open_data("events");
    if (!is_class(events.id, H5T_COMPOUND, sizeof(h5::EventRow))) damaged("'events' has another layout");
    load_checkpoint_layout();
    load_status();
  }

  void load_progress() {
    const h5::Handle data = h5::open_data(file, "progress", path);
    std::array<std::uint64_t, 8> progress{};
    if (h5::shape_of(data, path).rows != progress.size()) damaged("'progress' has another layout");
    // A writer may be faster than this: what was read then does not fit together, and is read again.
    constexpr int kAttempts = 20;
    for (int attempt = 1;; ++attempt) {
      if (H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, progress.data()) < 0)
        damaged("'progress' is unreadable");
      if (!checksums) break;
      const bool whole = progress[kProgressSum] == crc32c(0, progress.data(), kProgressSum * sizeof(progress[0]));
      if (whole && samples.sums.load(progress[0], path) && ledger.sums.load(progress[1], path) &&
          event_sums.load(progress[2], path))
        break;
      if (attempt == kAttempts || !watch.held_by_other())
        damaged(
            fmt::format("'progress' {}", whole ? "does not fit its checksums" : "is not what was recorded (checksum)"));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::uint64_t size = watch.file_size();
    if (size < progress[4]) damaged(fmt::format("is cut off: {} bytes of at least {} are there", size, progress[4]));
    // Without filters every row takes its bytes: more rows than bytes is nonsense that must not size an allocation.
    for (std::size_t i = 0; i < 4; ++i)
      if (progress[i] > size) damaged("counts more rows than it can hold");
    rows = {progress[0], progress[1], progress[2], progress[3]};
    commit = progress[5];
  }

  void load_status() {
    const std::string text = h5::read_text(h5::open_data(file, "status", path), path);
    const std::array all{Status::kRunning, Status::kFinished, Status::kFailed, Status::kInterrupted};
    const auto at = std::find_if(all.begin(), all.end(), [&](Status s) { return to_string(s) == text; });
    if (at == all.end()) damaged(fmt::format("has the unknown status '{}'", text));
    status = *at;
    std::array<std::uint32_t, 2> sums{};
    message = h5::read_text(h5::open_data(file, "message", path), path, sums.data());
    summary = h5::read_text(h5::open_data(file, "summary", path), path, sums.data() + 1);
    if (!checksums) return;
    if (status == Status::kRunning) {  // they may be half written, and then mean nothing yet
      message = summary = "";
      return;
    }
    std::array<std::uint64_t, 2> wanted{};
    const h5::Handle data = h5::open_data(file, "checksums/end", path);
    if (h5::shape_of(data, path).rows != wanted.size() ||
        H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, wanted.data()) < 0 || wanted[0] != sums[0] ||
        wanted[1] != sums[1])
      damaged("the closing message is not what was recorded (checksum)");
  }

  void load_checkpoint_layout() {
    const auto open_part = [&](const char* name, DataSet& part) -> std::size_t {
      const std::string full = std::string("checkpoints/") + name;
      if (!h5::exists(file, full)) return 0;
      part = open_data(full);
      return part.width;
    };
    const bool there = open_part("time", checkpoint_time) == 1 && open_part("rows", checkpoint_rows) == 4;
    if (!there) damaged("'checkpoints' has another layout");
    sizes = {open_part("state", checkpoint_state), open_part("memory", checkpoint_memory),
             open_part("counters", checkpoint_counters)};
  }

  // What a read is about: a data set, how its items lie in the file, and the checksums that cover it.
  struct Source {
    DataSet& data;
    hid_t stored;  // type in the file, with its bytes
    std::size_t bytes;
    RowSumsReader* sums;  // none: checked by the caller, or not at all
  };

  // Rows [first, first + count) that are committed, as `type`, read into what `resize` gives for its size; of all
  // columns, or of `columns` of them from `column` on. Whatever was not compared with its checksum before is now.
  template <class Resize>
  void read(const Source& from, hid_t type, std::uint64_t total, std::uint64_t first, std::uint64_t count,
            const Resize& resize, std::size_t column = 0, std::size_t columns = 0) const {
    h5::quiet();
    DataSet& data = from.data;
    first = std::min(first, total);
    count = std::min(count, total - first);
    if (data.refreshed_at != commit) {
      if (H5Drefresh(data.id) < 0) damaged("a table cannot be brought up to date");
      data.refreshed_at = commit;
    }
    const h5::Shape shape = h5::shape_of(data.id, path);
    if (shape.width != data.width || shape.rows < total) damaged("a table is shorter than its committed rows");
    if (count > watch.file_size() / (from.bytes * data.width)) damaged("counts more rows than it can hold");
    if (from.sums != nullptr) check(from, first, count, column, columns);
    void* out = resize(static_cast<std::size_t>(count), columns > 0 ? columns : data.width);
    if (columns > 0)
      h5::read_columns(data.id, type, column, columns, first, static_cast<std::size_t>(count), out, path);
    else
      h5::read_rows(data.id, type, data.width, first, static_cast<std::size_t>(count), out, path);
  }

  void check(const Source& from, std::uint64_t first, std::uint64_t count, std::size_t column,
             std::size_t columns) const {
    const DataSet& data = from.data;
    std::vector<char> bytes;
    if (columns == 0) {
      from.sums->check(
          data.stripe, first, count, data.name, path, [&](std::uint64_t at, std::size_t n) -> auto& {
            bytes.resize(n * data.width * from.bytes);
            h5::read_rows(data.id, from.stored, data.width, at, n, bytes.data(), path);
            return bytes;
          });
      return;
    }
    for (std::size_t stripe = column / kStripeColumns; stripe <= (column + columns - 1) / kStripeColumns; ++stripe) {
      const std::size_t begin = stripe * kStripeColumns, width = std::min(kStripeColumns, data.width - begin);
      from.sums->check(
          data.stripe + stripe, first, count, data.name, path, [&](std::uint64_t at, std::size_t n) -> auto& {
            bytes.resize(n * width * from.bytes);
            h5::read_columns(data.id, from.stored, begin, width, at, n, bytes.data(), path);
            return bytes;
          });
    }
  }

  template <class T>
  std::vector<T> read_vector(DataSet& data, hid_t type, RowSumsReader* sums, std::uint64_t total, std::uint64_t first,
                             std::uint64_t count) const {
    std::vector<T> out;
    read({data, type, sizeof(T), sums}, type, total, first, count, [&](std::size_t n, std::size_t width) {
      out.resize(n * width);
      return out.data();
    });
    return out;
  }

  RowMatrix read_matrix(ReaderTable& table, std::string_view name, std::uint64_t total, std::uint64_t first,
                        std::uint64_t count) const {
    RowMatrix out;
    const std::size_t place = find_channel(table, name, path);
    const Channel& c = table.channels[place];
    const auto resize = [&](std::size_t n, std::size_t width) {
      out.resize(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(width));
      return out.data();
    };
    const Source own{table.data[place], c.single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                     c.single ? sizeof(float) : sizeof(double), &table.sums};
    const Source wide{table.wide, H5T_NATIVE_DOUBLE, sizeof(double), &table.sums};
    if (table.first[place] == kOwnDataSet)
      read(own, H5T_NATIVE_DOUBLE, total, first, count, resize);
    else
      read(wide, H5T_NATIVE_DOUBLE, total, first, count, resize, static_cast<std::size_t>(table.first[place]),
           static_cast<std::size_t>(c.width));
    return out;
  }

  Checkpoint checkpoint(std::uint64_t row) const {
    if (row >= rows.checkpoints)
      throw ResultError(path, fmt::format("has {} checkpoints, number {} is not there", rows.checkpoints, row),
                        rows.checkpoints == 0 ? "run the model from its start" : "use the last one");
    Checkpoint c;
    const auto numbers = [&](DataSet& part) {
      return read_vector<double>(part, H5T_NATIVE_DOUBLE, nullptr, rows.checkpoints, row, 1);
    };
    const auto whole_numbers = [&](DataSet& part) {
      return read_vector<std::uint64_t>(part, H5T_NATIVE_UINT64, nullptr, rows.checkpoints, row, 1);
    };
    c.t = numbers(checkpoint_time).at(0);
    if (sizes.state > 0) c.state = numbers(checkpoint_state);
    if (sizes.memory > 0) c.memory = numbers(checkpoint_memory);
    if (sizes.counters > 0) c.counters = whole_numbers(checkpoint_counters);
    const std::vector<std::uint64_t> counts = whole_numbers(checkpoint_rows);
    if (checksums &&
        whole_numbers(checkpoint_sums).at(0) !=
            checkpoint_checksum(c.t, c.state, c.memory, c.counters, {counts[0], counts[1], counts[2], counts[3]}))
      damaged(fmt::format("checkpoint {} is not what was recorded (checksum)", row));
    c.rows = {counts[0], counts[1], counts[2], counts[3]};
    if (c.rows.samples > rows.samples || c.rows.ledger > rows.ledger || c.rows.events > rows.events ||
        c.rows.checkpoints != row + 1)
      damaged(fmt::format("checkpoint {} speaks of rows that are not there", row));
    return c;
  }
};

Reader::Reader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

bool Reader::is_result(const std::string& path) {
  h5::quiet();
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, h5::access_properties()), H5Fclose);
  try {
    return file.valid() && H5Aexists(file, "format") > 0 && h5::get_text(file, "format", path) == kFormatName;
  } catch (const ResultError&) {
    return false;
  }
}

bool Reader::refresh() {
  h5::quiet();
  const std::uint64_t before = impl_->commit;
  const Status status_before = impl_->status;
  // The status first: once it says finished, the progress read after it is the last there will be.
  impl_->load_status();
  impl_->load_progress();
  return impl_->commit != before || impl_->status != status_before;
}

const std::string& Reader::path() const { return impl_->path; }
const RunInfo& Reader::info() const { return impl_->info; }
Status Reader::status() const { return impl_->status; }
bool Reader::being_written() const { return impl_->watch.held_by_other(); }
bool Reader::killed() const { return impl_->status == Status::kRunning && !being_written(); }
const std::string& Reader::message() const { return impl_->message; }
const std::string& Reader::summary() const { return impl_->summary; }
RowCounts Reader::rows() const { return impl_->rows; }
const std::vector<Channel>& Reader::channels() const { return impl_->samples.channels; }
const std::vector<Channel>& Reader::ledger_channels() const { return impl_->ledger.channels; }
CheckpointSizes Reader::checkpoint_sizes() const { return impl_->sizes; }
Checkpoint Reader::checkpoint(std::uint64_t row) const { return impl_->checkpoint(row); }

bool Reader::has(std::string_view name) const { return impl_->samples.place(name).has_value(); }

const Channel& Reader::channel(std::string_view name) const {
  return channels()[find_channel(impl_->samples, name, impl_->path)];
}

std::vector<double> Reader::times(std::uint64_t first, std::uint64_t count) const {
  return impl_->read_vector<double>(impl_->samples.time, H5T_NATIVE_DOUBLE, &impl_->samples.sums, impl_->rows.samples,
                                    first, count);
}

RowMatrix Reader::read(std::string_view channel, std::uint64_t first, std::uint64_t count) const {
  return impl_->read_matrix(impl_->samples, channel, impl_->rows.samples, first, count);
}

std::vector<double> Reader::ledger_times(std::uint64_t first, std::uint64_t count) const {
  return impl_->read_vector<double>(impl_->ledger.time, H5T_NATIVE_DOUBLE, &impl_->ledger.sums, impl_->rows.ledger,
                                    first, count);
}

RowMatrix Reader::read_ledger(std::string_view channel, std::uint64_t first, std::uint64_t count) const {
  return impl_->read_matrix(impl_->ledger, channel, impl_->rows.ledger, first, count);
}

std::vector<Event> Reader::events(std::uint64_t first, std::uint64_t count) const {
  const auto text = [](const char* field, std::size_t bytes) {
    return std::string(field, static_cast<std::size_t>(std::find(field, field + bytes, '\0') - field));
  };
  std::vector<Event> out;
  for (const h5::EventRow& row : impl_->read_vector<h5::EventRow>(impl_->events, impl_->event_type, &impl_->event_sums,
                                                                  impl_->rows.events, first, count))
    out.push_back({row.t, text(row.kind, kEventKindBytes), text(row.element, kEventElementBytes),
                   text(row.text, kEventTextBytes)});
  return out;
}

std::optional<Checkpoint> Reader::last_checkpoint() const {
  if (impl_->rows.checkpoints == 0) return std::nullopt;
  return impl_->checkpoint(impl_->rows.checkpoints - 1);
}

}  // namespace clatter::record
