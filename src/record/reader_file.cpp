#include "record/reader_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace clatter::record {
namespace {

namespace fs = std::filesystem;

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

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  if (text.empty()) return lines;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
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

void ReaderTable::index() {
  by_name.resize(channels.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  std::sort(by_name.begin(), by_name.end(),
            [&](std::size_t a, std::size_t b) { return channels[a].name < channels[b].name; });
}

std::optional<std::size_t> ReaderTable::place(std::string_view name) const {
  const auto at = std::lower_bound(by_name.begin(), by_name.end(), name,
                                   [&](std::size_t i, std::string_view n) { return channels[i].name < n; });
  if (at == by_name.end() || channels[*at].name != name) return std::nullopt;
  return *at;
}

std::size_t find_channel(const ReaderTable& table, std::string_view name, const std::string& path) {
  if (const auto place = table.place(name)) return *place;
  const std::vector<Channel>& channels = table.channels;
  const auto nearest = std::min_element(channels.begin(), channels.end(), [&](const Channel& a, const Channel& b) {
    return distance(a.name, name) < distance(b.name, name);
  });
  throw ResultError(path, fmt::format("has no channel '{}'", name),
                    nearest == channels.end() ? "it records none" : fmt::format("did you mean '{}'?", nearest->name));
}

bool is_class(hid_t data_set, H5T_class_t wanted, std::size_t bytes) {
  const h5::Handle type(H5Dget_type(data_set), H5Tclose);
  return H5Tget_class(type) == wanted && H5Tget_size(type) == bytes;
}

ReaderFile::ReaderFile(const std::string& name) : path(name) {
  h5::quiet();
  watch = h5::WriterLock::open(path, false);
  open_file();
  check_identity();
  checksums = h5::exists(file, "checksums");
}

void ReaderFile::damaged(const std::string& problem) const { throw ResultError(path, problem, kDamaged); }

void ReaderFile::open_file() {
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

void ReaderFile::check_identity() const {
  if (H5Aexists(file, "format") <= 0 || h5::get_text(file, "format", path) != kFormatName)
    throw ResultError(path, "is an HDF5 file but not a Clatter result", kGiveResult);
  const std::uint64_t version = h5::get_number(file, "format_version", path);
  if (version == 0) damaged("has the format version 0");
  if (version > kFormatVersion)
    throw ResultError(path, fmt::format("has format version {}, this program reads up to {}", version, kFormatVersion),
                      "use a newer version of Clatter");
}

DataSet ReaderFile::open_data(const std::string& name) const {
  DataSet data;
  data.name = name;
  data.id = h5::open_data(file, name, path);
  data.width = h5::shape_of(data.id, path).width;
  if (settled) data.refreshed_at = commit;
  return data;
}

void ReaderFile::load_table(const std::string& name, ReaderTable& table) const {
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
void ReaderFile::load_channels(const std::string& name, ReaderTable& table) const {
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
void ReaderFile::load_columns(const std::string& name, ReaderTable& table) const {
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

void ReaderFile::damaged_channel(const std::string& name) const {
  damaged(fmt::format("channel '{}' has another layout", name));
}

// Whether a channel's own numbers have 32 bit.
bool ReaderFile::is_single(const DataSet& data, const std::string& name) const {
  const bool single = is_class(data.id, H5T_FLOAT, sizeof(float));
  if (!single && !is_class(data.id, H5T_FLOAT, sizeof(double))) damaged_channel(name);
  return single;
}

void ReaderFile::check_components(const Channel& c) const {
  if (!c.components.empty() && c.components.size() != static_cast<std::size_t>(c.width))
    damaged(fmt::format("channel '{}' has {} labels for {} components", c.name, c.components.size(), c.width));
}

RunInfo ReaderFile::load_info() const {
  RunInfo info;
  info.version = h5::get_text(file, "program_version", path);
  info.model_name = h5::get_text(file, "model_name", path);
  info.model_hash = h5::get_text(file, "model_hash", path);
  info.started = h5::get_text(file, "started", path);
  for (int i = 0; h5::exists(file, fmt::format("model/{}", i)); ++i) {
    const h5::Handle text = h5::open_data(file, fmt::format("model/{}", i), path);
    info.model_files.push_back({h5::get_text(text, "path", path), h5::read_text(text, path)});
  }
  if (h5::exists(file, "scene")) info.scene = h5::read_text(h5::open_data(file, "scene", path), path);
  load_surfaces(info);
  load_pairs("settings", info.settings);
  load_pairs("inputs", info.inputs);
  return info;
}

void ReaderFile::load_pairs(const char* name, std::vector<std::pair<std::string, std::string>>& pairs) const {
  if (!h5::exists(file, name)) return;
  for (auto& row : h5::read_text_table(file, name, path)) {
    if (row.size() != 2) damaged(fmt::format("'{}' has another layout", name));
    pairs.emplace_back(std::move(row[0]), std::move(row[1]));
  }
}

void ReaderFile::load_surfaces(RunInfo& info) const {
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

}  // namespace clatter::record
