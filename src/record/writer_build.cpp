#include "record/writer_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "record/h5.hpp"

namespace clatter::record {
namespace {

void build_surfaces(hid_t file, const std::vector<Surface>& surfaces, const std::string& path) {
  if (surfaces.empty()) return;
  const h5::Handle all(H5Gcreate2(file, "surfaces", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    const Surface& s = surfaces[i];
    const std::size_t vertices = s.vertices.size() / 3, triangles = s.triangles.size() / 3;
    const bool whole = vertices > 0 && triangles > 0 && s.vertices.size() == 3 * vertices &&
                       s.triangles.size() == 3 * triangles && s.modes.size() % s.vertices.size() == 0 &&
                       std::all_of(s.triangles.begin(), s.triangles.end(), [&](auto v) { return v < vertices; });
    if (!whole) throw ResultError(path, fmt::format("the surface '{}' is not whole", s.name), "report this diagnosis");
    const h5::Handle one(H5Gcreate2(all, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    h5::put_text(one, "name", s.name, path);
    h5::create_numbers(one, "vertices", H5T_NATIVE_FLOAT, 3, vertices, s.vertices.data(), path);
    h5::create_numbers(one, "triangles", H5T_NATIVE_UINT32, 3, triangles, s.triangles.data(), path);
    if (!s.modes.empty())
      h5::create_numbers(one, "modes", H5T_NATIVE_FLOAT, s.vertices.size(), s.modes.size() / s.vertices.size(),
                         s.modes.data(), path);
  }
}

void build_checkpoints(hid_t file, const CheckpointSizes& size, const std::string& path) {
  // Rows of a checkpoint are written one at a time: a chunk of about a page keeps small ones from wasting space.
  const auto make = [&](const char* name, hid_t type, std::size_t width) {
    if (width > 0)
      h5::create_rows(file, std::string("checkpoints/") + name, type, width,
                      std::max<std::size_t>(1, 4096 / (8 * width)), path);
  };
  make("time", H5T_NATIVE_DOUBLE, 1);
  make("rows", H5T_NATIVE_UINT64, 4);
  make("state", H5T_NATIVE_DOUBLE, size.state);
  make("memory", H5T_NATIVE_DOUBLE, size.memory);
  make("counters", H5T_NATIVE_UINT64, size.counters);
  h5::create_rows(file, "checksums/checkpoints", H5T_NATIVE_UINT64, 1, 512, path);
}

// The counts of what is committed, in place before any reader looks.
void build_progress(hid_t file, const std::string& path) {
  const hsize_t entries = 8;
  const h5::Handle space(H5Screate_simple(1, &entries, nullptr), H5Sclose);
  const h5::Handle early(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
  h5::Handle(h5::need(H5Dcreate2(file, "progress", H5T_NATIVE_UINT64, space, H5P_DEFAULT, early, H5P_DEFAULT), path,
                      "create 'progress'"),
             H5Dclose);
}

// What the file tells about its run.
void build_info(hid_t file, const RunInfo& info, const std::string& path) {
  h5::put_text(file, "program_version", info.version, path);
  h5::put_text(file, "model_name", info.model_name, path);
  h5::put_text(file, "model_hash", info.model_hash, path);
  h5::put_text(file, "started", info.started, path);
  {
    const h5::Handle model(H5Gcreate2(file, "model", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    for (std::size_t i = 0; i < info.model_files.size(); ++i) {
      const h5::Handle text = h5::create_text(model, std::to_string(i), info.model_files[i].text, 0, path);
      h5::put_text(text, "path", info.model_files[i].path, path);
    }
  }
  if (!info.settings.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, value] : info.settings) rows.push_back({key, value});
    h5::create_text_table(file, "settings", rows, path);
  }
  if (!info.inputs.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, hash] : info.inputs) rows.push_back({name, hash});
    h5::create_text_table(file, "inputs", rows, path);
  }
  if (!info.scene.empty()) h5::create_text(file, "scene", info.scene, 0, path);
  build_surfaces(file, info.surfaces, path);
}

}  // namespace

void check_channels(const std::vector<Channel>& channels, const std::string& path) {
  const auto refuse = [&](const Channel& c, const std::string& problem, const std::string& advice) {
    throw ResultError(path, fmt::format("channel '{}' {}", c.name, problem), advice);
  };
  std::set<std::string> names;
  std::set<std::string> folders;
  for (const Channel& c : channels) {
    if (c.width < 1) refuse(c, fmt::format("has width {}", c.width), "record at least one component");
    if (!c.components.empty() && c.components.size() != static_cast<std::size_t>(c.width))
      refuse(c, fmt::format("has {} component labels for width {}", c.components.size(), c.width),
             "label every component or none");
    const std::string inside = "/" + c.name + "/";
    for (const char* bad : {"//", "/./", "/../"})
      if (inside.find(bad) != std::string::npos) refuse(c, "is not a usable name", "use words separated by single '/'");
    if (c.name.find('\0') != std::string::npos) refuse(c, "holds a zero byte", "use printable characters");
    if (!names.insert(c.name).second) refuse(c, "is recorded twice", "give every channel its own name");
    for (std::size_t at = c.name.find('/'); at != std::string::npos; at = c.name.find('/', at + 1))
      folders.insert(c.name.substr(0, at));
  }
  for (const Channel& c : channels)
    if (folders.contains(c.name)) refuse(c, "is also the folder of another channel", "rename one of them");
}

void build_result(h5::Handle& file, const std::string& built_path, const std::string& path, const RunInfo& info,
                  const std::vector<Channel>& channels, const std::vector<Channel>& ledger_channels,
                  const WriterOptions& options, WriterParts& parts) {
  h5::quiet();
  const h5::Handle access = h5::access_properties();
  const h5::Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE, false, 1);
  H5Pset_file_space_page_size(creation, 4096);
  file = h5::Handle(h5::need(H5Fcreate(built_path.c_str(), H5F_ACC_TRUNC, creation, access), path, "create the file",
                             "choose a place where you may write"),
                    H5Fclose);
  h5::put_text(file, "format", kFormatName, path);
  const bool wide = WriterTable::wide(channels) || WriterTable::wide(ledger_channels);
  h5::put_number(file, "format_version", wide ? 2 : 1, path);
  build_info(file, info, path);
  for (const char* group : {"samples", "samples/channels", "ledger", "ledger/channels", "checkpoints", "checksums",
                            "checksums/samples", "checksums/ledger", "checksums/events"})
    h5::Handle(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  parts.samples.create(file, "samples", channels, options.expected_rows, path);
  parts.ledger.create(file, "ledger", ledger_channels, options.expected_rows, path);
  h5::create_rows(file, "events", h5::event_type(), 1, kEventBuffer, path);
  parts.event_sums.create(file, "checksums/events", 1, kEventBuffer, path);
  const std::array<std::uint64_t, 2> none{};
  h5::create_numbers(file, "checksums/end", H5T_NATIVE_UINT64, 1, none.size(), none.data(), path, false);
  build_checkpoints(file, options.checkpoint, path);
  h5::create_text(file, "status", to_string(Status::kRunning), 16, path);
  h5::create_text(file, "message", "", kMessageBytes, path);
  h5::create_text(file, "summary", "", kSummaryBytes, path);
  build_progress(file, path);
  h5::need(H5Fflush(file, H5F_SCOPE_LOCAL), path, "write the file");
  if (!file.reset()) throw DiskError(path, "the file cannot be written", kDiskAdvice);
}

}  // namespace clatter::record
