// Why each data set remembers the commit it was refreshed at: HDF5 keeps the metadata of an open data set (length,
// chunk index) in memory. A length read early can already cover rows whose chunks the cached index does not know yet,
// and such rows would read as garbage. So a data set is refreshed before the first read after every new commit. A
// result that was finished when it was opened is as it will be, and is not refreshed: HDF5 shares what is open between
// all readers of a file in one program, and takes it from the others.
#include "record/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/checksum.hpp"
#include "record/h5.hpp"
#include "record/row_sums.hpp"

namespace clatter::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDamaged = "the file is damaged or incomplete: restore it from a copy or run the model again";
constexpr const char* kGiveResult = "give a file written by 'clatter run'";

struct DataSet {
  h5::Handle id;
  std::size_t width = 1;
  std::uint64_t refreshed_at = 0;  // commit
  std::string name = {};
  std::size_t stripe = 0;  // of the checksums, its first
};

struct Table {
  std::vector<Channel> channels;
  std::vector<std::size_t> by_name;  // places of the channels, sorted by their names
  DataSet time;
  std::vector<DataSet> data;         // of each channel; empty where the table has it
  DataSet wide;                      // /table, where there is one
  std::vector<std::uint64_t> first;  // column of each channel in it, or kOwnDataSet
  RowSumsReader sums;

  void index() {
    by_name.resize(channels.size());
    std::iota(by_name.begin(), by_name.end(), std::size_t{0});
    std::sort(by_name.begin(), by_name.end(),
              [&](std::size_t a, std::size_t b) { return channels[a].name < channels[b].name; });
  }
  std::optional<std::size_t> place(std::string_view name) const {
    const auto at = std::lower_bound(by_name.begin(), by_name.end(), name,
                                     [&](std::size_t i, std::string_view n) { return channels[i].name < n; });
    if (at == by_name.end() || channels[*at].name != name) return std::nullopt;
    return *at;
  }
};

// Levenshtein distance, to name the channel that was probably meant.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::size_t find_channel(const Table& table, std::string_view name, const std::string& path) {
  if (const auto place = table.place(name)) return *place;
  const std::vector<Channel>& channels = table.channels;
  const auto nearest = std::min_element(channels.begin(), channels.end(), [&](const Channel& a, const Channel& b) {
    return distance(a.name, name) < distance(b.name, name);
  });
  throw ResultError(path, fmt::format("has no channel '{}'", name),
                    nearest == channels.end() ? "it records none" : fmt::format("did you mean '{}'?", nearest->name));
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  if (text.empty()) return lines;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

bool is_class(hid_t data_set, H5T_class_t wanted, std::size_t bytes) {
  const h5::Handle type(H5Dget_type(data_set), H5Tclose);
  return H5Tget_class(type) == wanted && H5Tget_size(type) == bytes;
}

std::vector<std::string> data_set_names(hid_t group) {
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
    if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  H5Ovisit2(group, H5_INDEX_NAME, H5_ITER_INC, visit, &names, H5O_INFO_BASIC);
  return names;
}

}  // namespace

class Reader::Impl {
 public:
  std::string path;
  h5::WriterLock watch;  // never taken, only asked
  h5::Handle file;
  RunInfo info;
  Status status = Status::kRunning;
  std::string message, summary;
  RowCounts rows;
  bool settled = false;  // finished when its data sets were opened
  std::uint64_t commit = 0;
  mutable Table samples, ledger;
  mutable DataSet events, checkpoint_time, checkpoint_rows, checkpoint_state, checkpoint_memory, checkpoint_counters;
  mutable DataSet checkpoint_sums;  // none in files of earlier versions
  bool checksums = false;           // the file has them
  mutable RowSumsReader event_sums;
  CheckpointSizes sizes;
  h5::Handle event_type = h5::event_type();

  explicit Impl(const std::string& name) : path(name) {
    h5::quiet();
    watch = h5::WriterLock::open(path, false);
    open_file();
    check_identity();
    checksums = h5::exists(file, "checksums");
    if (checksums) {
      samples.sums.open(file, "checksums/samples", path);
      ledger.sums.open(file, "checksums/ledger", path);
      event_sums.open(file, "checksums/events", path);
      checkpoint_sums = open_data("checksums/checkpoints");
    }
    load_progress();
    load_status();
    settled = status != Status::kRunning;
    load_info();
    load_table("samples", samples);
    load_table("ledger", ledger);
    events = open_data("events");
    if (!is_class(events.id, H5T_COMPOUND, sizeof(h5::EventRow))) damaged("'events' has another layout");
    load_checkpoint_layout();
    load_status();
  }

  [[noreturn]] void damaged(const std::string& problem) const { throw ResultError(path, problem, kDamaged); }

  void open_file() {
    std::error_code error;
    if (!fs::exists(path, error)) throw ResultError(path, "no such file", "check the name");
    if (fs::is_directory(path, error)) throw ResultError(path, "is a folder", kGiveResult);
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw ResultError(path, "cannot be read", "check its permissions");
    std::array<char, 9> head{};
    stream.read(head.data(), head.size());
    if (stream.gcount() == 0) throw ResultError(path, "is empty", kGiveResult);
    constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
    if (std::string_view(head.data(), 8) != kSignature)
      throw ResultError(path, "is not an HDF5 file, so not a Clatter result", kGiveResult);
    if (stream.gcount() < 9) damaged("ends inside its first bytes");
    if (head[8] != 3) throw ResultError(path, "is an HDF5 file but not a Clatter result", kGiveResult);
    // Where nobody writes there is nothing to wait for.
    const h5::Handle access = h5::access_properties(watch.held_by_other() ? h5::kPatient : h5::kHasty);
    file = h5::Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access), H5Fclose);
    if (!file.valid()) damaged("cannot be opened as an HDF5 file");
  }

  void check_identity() const {
    if (H5Aexists(file, "format") <= 0 || h5::get_text(file, "format", path) != kFormatName)
      throw ResultError(path, "is an HDF5 file but not a Clatter result", kGiveResult);
    const std::uint64_t version = h5::get_number(file, "format_version", path);
    if (version == 0) damaged("has the format version 0");
    if (version > kFormatVersion)
      throw ResultError(path,
                        fmt::format("has format version {}, this program reads up to {}", version, kFormatVersion),
                        "use a newer version of Clatter");
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

  void load_info() {
    info.version = h5::get_text(file, "program_version", path);
    info.model_name = h5::get_text(file, "model_name", path);
    info.model_hash = h5::get_text(file, "model_hash", path);
    info.started = h5::get_text(file, "started", path);
    for (int i = 0; h5::exists(file, fmt::format("model/{}", i)); ++i) {
      const h5::Handle text = h5::open_data(file, fmt::format("model/{}", i), path);
      info.model_files.push_back({h5::get_text(text, "path", path), h5::read_text(text, path)});
    }
    if (h5::exists(file, "scene")) info.scene = h5::read_text(h5::open_data(file, "scene", path), path);
    load_surfaces();
    load_pairs("settings", info.settings);
    load_pairs("inputs", info.inputs);
  }

  void load_pairs(const char* name, std::vector<std::pair<std::string, std::string>>& pairs) const {
    if (!h5::exists(file, name)) return;
    for (auto& row : h5::read_text_table(file, name, path)) {
      if (row.size() != 2) damaged(fmt::format("'{}' has another layout", name));
      pairs.emplace_back(std::move(row[0]), std::move(row[1]));
    }
  }

  void load_surfaces() {
    if (!h5::exists(file, "surfaces")) return;
    for (int i = 0; h5::exists(file, fmt::format("surfaces/{}", i)); ++i) {
      const std::string folder = fmt::format("surfaces/{}", i);
      const h5::Handle group(H5Gopen2(file, folder.c_str(), H5P_DEFAULT), H5Gclose);
      if (!group.valid()) damaged(fmt::format("'{}' cannot be opened", folder));
      Surface& s = info.surfaces.emplace_back();
      s.name = h5::get_text(group, "name", path);
      const auto numbers = [&](const char* name, hid_t type, H5T_class_t kind, auto& out) {
        const h5::Handle data = h5::open_data(group, name, path);
        const h5::Shape shape = h5::shape_of(data, path);
        if (!is_class(data, kind, sizeof(out[0])) ||
            shape.rows > watch.file_size() / (sizeof(out[0]) * std::max<std::size_t>(1, shape.width)))
          damaged(fmt::format("'{}/{}' has another layout", folder, name));
        out.resize(static_cast<std::size_t>(shape.rows) * shape.width);
        h5::need(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), path, "read a surface", kDamaged);
        h5::check_seal(data, folder + "/" + name, out.data(), out.size() * sizeof(out[0]), path);
      };
      numbers("vertices", H5T_NATIVE_FLOAT, H5T_FLOAT, s.vertices);
      numbers("triangles", H5T_NATIVE_UINT32, H5T_INTEGER, s.triangles);
      if (h5::exists(group, "modes")) numbers("modes", H5T_NATIVE_FLOAT, H5T_FLOAT, s.modes);
      const std::size_t n = s.vertices.size() / 3;
      if (std::any_of(s.triangles.begin(), s.triangles.end(), [&](auto v) { return v >= n; }) ||
          (!s.modes.empty() && s.modes.size() % s.vertices.size() != 0))
        damaged(fmt::format("'{}' is not a surface", folder));
    }
  }

  DataSet open_data(const std::string& name) const {
    DataSet data;
    data.name = name;
    data.id = h5::open_data(file, name, path);
    data.width = h5::shape_of(data.id, path).width;
    if (settled) data.refreshed_at = commit;
    return data;
  }

  void load_table(const std::string& name, Table& table) const {
    table.time = open_data(name + "/time");
    if (h5::exists(file, name + "/columns"))
      load_columns(name, table);
    else
      load_channels(name, table);
    table.index();
    std::size_t stripes = 1;
    for (DataSet& data : table.data)
      if (data.id.valid()) data.stripe = stripes++;
    table.wide.stripe = stripes;
    if (table.wide.id.valid()) stripes += (table.wide.width + kStripeColumns - 1) / kStripeColumns;
    if (checksums && table.sums.stripes() != stripes) damaged(fmt::format("'checksums/{}' has another layout", name));
  }

  // Version 1: a data set each, which tells all about its channel.
  void load_channels(const std::string& name, Table& table) const {
    const std::string folder = name + "/channels";
    const h5::Handle group(H5Gopen2(file, folder.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) damaged(fmt::format("'{}' is missing", folder));
    const std::vector<std::string> names = data_set_names(group);
    table.channels.resize(names.size());
    table.data.resize(names.size());
    table.first.assign(names.size(), kOwnDataSet);
    for (const std::string& channel_name : names) {
      DataSet data = open_data(folder + "/" + channel_name);
      const std::uint64_t order = h5::get_number(data.id, "order", path);
      if (order >= names.size() || table.data[order].id.valid()) damaged_channel(channel_name);
      Channel& c = table.channels[order];
      c.name = channel_name;
      c.unit = h5::get_text(data.id, "unit", path);
      c.description = h5::get_text(data.id, "description", path);
      c.width = static_cast<int>(data.width);
      c.single = is_single(data, channel_name);
      if (H5Aexists(data.id, "components") > 0) c.components = h5::get_texts(data.id, "components", path);
      check_components(c);
      table.data[order] = std::move(data);
    }
  }

  // Version 2: lists of all channels, most of them columns of one table.
  void load_columns(const std::string& name, Table& table) const {
    const std::string folder = name + "/columns";
    const std::vector<std::string> names = h5::read_text_list(file, folder + "/name", path),
                                   units = h5::read_text_list(file, folder + "/unit", path),
                                   descriptions = h5::read_text_list(file, folder + "/description", path),
                                   components = h5::read_text_list(file, folder + "/components", path);
    const std::size_t n = names.size();
    const auto numbers = [&](const char* which) {
      const h5::Handle data = h5::open_data(file, folder + "/" + which, path);
      const h5::Shape shape = h5::shape_of(data, path);
      std::vector<std::uint64_t> list(n);
      if (shape.rows != n || shape.width != 1 || !is_class(data, H5T_INTEGER, sizeof(std::uint64_t)) ||
          H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()) < 0)
        damaged(fmt::format("'{}' has another layout", folder));
      h5::check_seal(data, folder + "/" + which, list.data(), list.size() * sizeof(list[0]), path);
      return list;
    };
    table.first = numbers("first");
    const std::vector<std::uint64_t> widths = numbers("width");
    if (units.size() != n || descriptions.size() != n || components.size() != n)
      damaged(fmt::format("'{}' has another layout", folder));
    if (h5::exists(file, name + "/table")) {
      table.wide = open_data(name + "/table");
      if (!is_class(table.wide.id, H5T_FLOAT, sizeof(double)))
        damaged(fmt::format("'{}/table' has another layout", name));
    }
    table.channels.resize(n);
    table.data.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      Channel& c = table.channels[i];
      c.name = names[i];
      c.unit = units[i];
      c.description = descriptions[i];
      c.components = split_lines(components[i]);
      if (table.first[i] == kOwnDataSet) {
        table.data[i] = open_data(name + "/channels/" + c.name);
        c.single = is_single(table.data[i], c.name);
        if (table.data[i].width != widths[i]) damaged_channel(c.name);
      } else if (!table.wide.id.valid() || widths[i] < 1 || widths[i] > static_cast<std::uint64_t>(kWidestColumns) ||
                 table.first[i] > table.wide.width || widths[i] > table.wide.width - table.first[i]) {
        damaged_channel(c.name);
      }
      c.width = static_cast<int>(widths[i]);
      check_components(c);
    }
  }

  [[noreturn]] void damaged_channel(const std::string& name) const {
    damaged(fmt::format("channel '{}' has another layout", name));
  }

  // Whether a channel's own numbers have 32 bit.
  bool is_single(const DataSet& data, const std::string& name) const {
    const bool single = is_class(data.id, H5T_FLOAT, sizeof(float));
    if (!single && !is_class(data.id, H5T_FLOAT, sizeof(double))) damaged_channel(name);
    return single;
  }

  void check_components(const Channel& c) const {
    if (!c.components.empty() && c.components.size() != static_cast<std::size_t>(c.width))
      damaged(fmt::format("channel '{}' has {} labels for {} components", c.name, c.components.size(), c.width));
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

  RowMatrix read_matrix(Table& table, std::string_view name, std::uint64_t total, std::uint64_t first,
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
