#include "record/h5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/checksum.hpp"

namespace clatter::record {

void leave_nothing_to_exit() { H5dont_atexit(); }

}  // namespace clatter::record

namespace clatter::record::h5 {
namespace {

constexpr const char* kDamaged = "the file is damaged or incomplete: restore it from a copy or run the model again";

[[noreturn]] void damaged(const std::string& path, const std::string& problem) {
  throw ResultError(path, problem, kDamaged);
}

std::string until_zero(const char* data, std::size_t bytes) {
  return std::string(data, static_cast<std::size_t>(std::find(data, data + bytes, '\0') - data));
}

// Length of the fixed-length texts in an object of type `type`; anything else is damage.
std::size_t text_bytes(hid_t type, const std::string& path, const std::string& name) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0)
    damaged(path, fmt::format("'{}' is not a text", name));
  return H5Tget_size(type);
}

std::vector<std::string> split(const std::vector<char>& data, std::size_t bytes) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at + bytes <= data.size(); at += bytes) texts.push_back(until_zero(data.data() + at, bytes));
  return texts;
}

std::vector<char> padded(const std::vector<std::string>& texts, std::size_t bytes) {
  std::vector<char> data(texts.size() * bytes, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::memcpy(data.data() + i * bytes, texts[i].data(), std::min(bytes, texts[i].size()));
  return data;
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t bytes = 1;
  for (const std::string& text : texts) bytes = std::max(bytes, text.size());
  return bytes;
}

void put_attribute(hid_t object, const char* name, hid_t type, hid_t space, const void* data, const std::string& path) {
  const Handle attribute(
      need(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), path, fmt::format("write '{}'", name)),
      H5Aclose);
  need(H5Awrite(attribute, type, data), path, fmt::format("write '{}'", name));
}

Handle open_attribute(hid_t object, const char* name, const std::string& path) {
  const hid_t id = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  if (id < 0) damaged(path, fmt::format("attribute '{}' is missing", name));
  return {id, H5Aclose};
}

}  // namespace

void quiet() {
  thread_local bool done = false;
  if (!done) done = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
}

std::string system_reason() {
  std::string reason;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    constexpr std::string_view kMark = "error message = '";
    const std::string_view text = error->desc == nullptr ? "" : error->desc;
    const std::size_t at = text.find(kMark);
    if (at == std::string_view::npos) return 0;
    const std::string_view rest = text.substr(at + kMark.size());
    *static_cast<std::string*>(out) = std::string(rest.substr(0, rest.find('\'')));
    return 1;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
  return reason;
}

hid_t need(hid_t result, const std::string& path, const std::string& what, const std::string& advice) {
  if (result >= 0) return result;
  const std::string reason = system_reason();
  const std::string problem = "cannot " + what + (reason.empty() ? "" : " (" + reason + ")");
  for (const int number : {ENOSPC, EFBIG, EDQUOT, EIO})
    if (reason == std::strerror(number))
      throw DiskError(path, problem, advice.empty() ? "free some disk space, or choose another place" : advice);
  throw ResultError(path, problem, advice);
}

Handle access_properties(unsigned attempts) {
  Handle p(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(p, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_cache(p, 0, 0, 0, 0.0);
  H5Pset_sieve_buf_size(p, 0);
  H5Pset_file_locking(p, false, true);
  // Readers try again when a checksum fails, after 1 ns, 2 ns, 4 ns, ...: 0.1 s in all when patient, then the file is
  // damaged.
  H5Pset_metadata_read_attempts(p, attempts);
  // A file that failed half-way must still close when its last user handle goes.
  H5Pset_fclose_degree(p, H5F_CLOSE_STRONG);
  return p;
}

Handle writer_properties() {
  Handle p = access_properties();
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(p, &cache);
  cache.evictions_enabled = false;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(p, &cache);
  return p;
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(bytes, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

Handle event_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(EventRow)), H5Tclose);
  H5Tinsert(type, "t", offsetof(EventRow, t), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "kind", offsetof(EventRow, kind), text_type(kEventKindBytes));
  H5Tinsert(type, "element", offsetof(EventRow, element), text_type(kEventElementBytes));
  H5Tinsert(type, "text", offsetof(EventRow, text), text_type(kEventTextBytes));
  return type;
}

void put_text(hid_t object, const char* name, std::string_view text, const std::string& path) {
  const Handle type = text_type(text.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  put_attribute(object, name, type, space, text.empty() ? "" : text.data(), path);
}

void put_texts(hid_t object, const char* name, const std::vector<std::string>& texts, const std::string& path) {
  const std::size_t bytes = longest(texts);
  const Handle type = text_type(bytes);
  const hsize_t count = texts.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  put_attribute(object, name, type, space, padded(texts, bytes).data(), path);
}

void put_number(hid_t object, const char* name, std::uint64_t number, const std::string& path) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  put_attribute(object, name, H5T_NATIVE_UINT64, space, &number, path);
}

std::vector<std::string> get_texts(hid_t object, const char* name, const std::string& path) {
  const Handle attribute = open_attribute(object, name, path);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  const std::size_t bytes = text_bytes(type, path, name);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 0 || H5Aget_storage_size(attribute) != bytes * static_cast<std::size_t>(count))
    damaged(path, fmt::format("attribute '{}' has no readable size", name));
  std::vector<char> data(bytes * static_cast<std::size_t>(count));
  if (!data.empty() && H5Aread(attribute, type, data.data()) < 0)
    damaged(path, fmt::format("attribute '{}' is unreadable", name));
  return split(data, bytes);
}

std::string get_text(hid_t object, const char* name, const std::string& path) {
  std::vector<std::string> texts = get_texts(object, name, path);
  if (texts.size() != 1) damaged(path, fmt::format("attribute '{}' is not one text", name));
  return std::move(texts.front());
}

std::uint64_t get_number(hid_t object, const char* name, const std::string& path) {
  const Handle attribute = open_attribute(object, name, path);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  std::uint64_t number = 0;
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != H5T_INTEGER ||
      H5Aread(attribute, H5T_NATIVE_UINT64, &number) < 0)
    damaged(path, fmt::format("attribute '{}' is not one number", name));
  return number;
}

void seal(hid_t data_set, const void* data, std::size_t bytes, const std::string& path) {
  put_number(data_set, "crc32c", crc32c(0, data, bytes), path);
}

void check_seal(hid_t data_set, const std::string& name, const void* data, std::size_t bytes, const std::string& path) {
  const htri_t sealed = H5Aexists(data_set, "crc32c");
  if (sealed < 0) damaged(path, fmt::format("'{}' is unreadable", name));
  if (sealed > 0 && get_number(data_set, "crc32c", path) != crc32c(0, data, bytes))
    damaged(path, fmt::format("'{}' is not what was recorded (checksum)", name));
}

Handle create_text(hid_t group, const std::string& name, std::string_view text, std::size_t bytes,
                   const std::string& path) {
  const Handle type = text_type(std::max(bytes, text.size()));
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  Handle data_set(need(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), path,
                       fmt::format("create '{}'", name)),
                  H5Dclose);
  overwrite_text(data_set, text, path);
  if (bytes == 0) {
    const std::size_t room = std::max<std::size_t>(1, text.size());
    seal(data_set, padded({std::string(text)}, room).data(), room, path);
  }
  return data_set;
}

std::uint32_t overwrite_text(hid_t data_set, std::string_view text, const std::string& path) {
  const Handle type(H5Dget_type(data_set), H5Tclose);
  const std::size_t bytes = H5Tget_size(type);
  const std::vector<char> data = padded({shortened(text, bytes)}, bytes);
  need(H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), path, "write a text");
  return crc32c(0, data.data(), data.size());
}

std::string read_text(hid_t data_set, const std::string& path, std::uint32_t* sum) {
  const Handle type(H5Dget_type(data_set), H5Tclose);
  const Handle space(H5Dget_space(data_set), H5Sclose);
  const std::size_t bytes = text_bytes(type, path, "a text");
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Dget_storage_size(data_set) != bytes)
    damaged(path, "a text has no readable size");
  std::vector<char> data(bytes);
  if (H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0) damaged(path, "a text is unreadable");
  check_seal(data_set, "a text", data.data(), bytes, path);
  if (sum != nullptr) *sum = crc32c(0, data.data(), bytes);
  return until_zero(data.data(), bytes);
}

void create_text_table(hid_t group, const char* name, const std::vector<std::vector<std::string>>& rows,
                       const std::string& path) {
  std::vector<std::string> cells;
  for (const auto& row : rows) cells.insert(cells.end(), row.begin(), row.end());
  const std::size_t bytes = longest(cells);
  const Handle type = text_type(bytes);
  const std::array<hsize_t, 2> size{rows.size(), cells.size() / rows.size()};
  const Handle space(H5Screate_simple(2, size.data(), nullptr), H5Sclose);
  const Handle data_set(need(H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path,
                             fmt::format("create '{}'", name)),
                        H5Dclose);
  const std::vector<char> data = padded(cells, bytes);
  need(H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), path, fmt::format("write '{}'", name));
  seal(data_set, data.data(), data.size(), path);
}

std::vector<std::vector<std::string>> read_text_table(hid_t group, const char* name, const std::string& path) {
  const Handle data_set = open_data(group, name, path);
  const Handle type(H5Dget_type(data_set), H5Tclose);
  const std::size_t bytes = text_bytes(type, path, name);
  const Shape shape = shape_of(data_set, path);
  if (H5Dget_storage_size(data_set) != shape.rows * shape.width * bytes)
    damaged(path, fmt::format("'{}' has no readable size", name));
  std::vector<char> data(shape.rows * shape.width * bytes);
  if (H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0)
    damaged(path, fmt::format("'{}' is unreadable", name));
  check_seal(data_set, name, data.data(), data.size(), path);
  const std::vector<std::string> cells = split(data, bytes);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t at = 0; at < cells.size(); at += shape.width)
    rows.emplace_back(cells.begin() + static_cast<std::ptrdiff_t>(at),
                      cells.begin() + static_cast<std::ptrdiff_t>(at + shape.width));
  return rows;
}

void create_text_list(hid_t group, const std::string& name, const std::vector<std::string>& texts,
                      const std::string& path) {
  const std::size_t bytes = longest(texts);
  const Handle type = text_type(bytes);
  const hsize_t size = texts.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle data_set(need(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path,
                             fmt::format("create '{}'", name)),
                        H5Dclose);
  const std::vector<char> data = padded(texts, bytes);
  need(H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), path, fmt::format("write '{}'", name));
  seal(data_set, data.data(), data.size(), path);
}

std::vector<std::string> read_text_list(hid_t group, const std::string& name, const std::string& path) {
  const Handle data_set = open_data(group, name, path);
  const Handle type(H5Dget_type(data_set), H5Tclose);
  const std::size_t bytes = text_bytes(type, path, name);
  const Shape shape = shape_of(data_set, path);
  if (shape.width != 1 || H5Dget_storage_size(data_set) != shape.rows * bytes)
    damaged(path, fmt::format("'{}' has no readable size", name));
  std::vector<char> data(shape.rows * bytes);
  if (H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0)
    damaged(path, fmt::format("'{}' is unreadable", name));
  check_seal(data_set, name, data.data(), data.size(), path);
  return split(data, bytes);
}

Handle create_rows(hid_t group, const std::string& name, hid_t type, std::size_t width, std::size_t chunk_rows,
                   const std::string& path, std::size_t chunk_width) {
  const int rank = width == 1 ? 1 : 2;
  const std::array<hsize_t, 2> now{0, width};
  const std::array<hsize_t, 2> limit{H5S_UNLIMITED, width};
  const std::array<hsize_t, 2> chunk{chunk_rows, std::min(width, chunk_width)};
  const Handle space(H5Screate_simple(rank, now.data(), limit.data()), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation, rank, chunk.data());
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);  // with it a chunk goes to the file without passing a cache
  const Handle link(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(link, 1);
  return {need(H5Dcreate2(group, name.c_str(), type, space, link, creation, H5P_DEFAULT), path,
               fmt::format("create '{}'", name)),
          H5Dclose};
}

void create_numbers(hid_t group, const std::string& name, hid_t type, std::size_t width, std::size_t rows,
                    const void* data, const std::string& path, bool sealed) {
  const hsize_t size[] = {rows, width};
  const Handle space(H5Screate_simple(width == 1 ? 1 : 2, size, nullptr), H5Sclose);
  const Handle data_set(need(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path,
                             fmt::format("create '{}'", name)),
                        H5Dclose);
  need(H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path, fmt::format("write '{}'", name));
  if (sealed) seal(data_set, data, rows * width * H5Tget_size(type), path);
}

void write_rows(hid_t data_set, hid_t type, std::size_t width, std::uint64_t first, std::size_t count, const void* data,
                const std::string& path) {
  if (count == 0) return;
  constexpr const char* kAdvice = "free some disk space and go on from the last checkpoint";
  const int rank = width == 1 ? 1 : 2;
  const std::array<hsize_t, 2> total{first + count, width};
  const std::array<hsize_t, 2> start{first, 0};
  const std::array<hsize_t, 2> size{count, width};
  need(H5Dset_extent(data_set, total.data()), path, "lengthen a table", kAdvice);
  const Handle file_space(H5Dget_space(data_set), H5Sclose);
  H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  const Handle memory_space(H5Screate_simple(rank, size.data(), nullptr), H5Sclose);
  need(H5Dwrite(data_set, type, memory_space, file_space, H5P_DEFAULT, data), path, "write to the file", kAdvice);
}

void read_rows(hid_t data_set, hid_t type, std::size_t width, std::uint64_t first, std::size_t count, void* data,
               const std::string& path) {
  if (count == 0) return;
  const int rank = width == 1 ? 1 : 2;
  const std::array<hsize_t, 2> start{first, 0};
  const std::array<hsize_t, 2> size{count, width};
  const Handle file_space(H5Dget_space(data_set), H5Sclose);
  const Handle memory_space(H5Screate_simple(rank, size.data(), nullptr), H5Sclose);
  if (H5Sget_simple_extent_ndims(file_space) != rank ||
      H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
      H5Dread(data_set, type, memory_space, file_space, H5P_DEFAULT, data) < 0)
    damaged(path, fmt::format("rows {} to {} of a table are unreadable", first, first + count));
}

void read_columns(hid_t data_set, hid_t type, std::size_t column, std::size_t width, std::uint64_t first,
                  std::size_t count, void* data, const std::string& path) {
  if (count == 0) return;
  const std::array<hsize_t, 2> start{first, column};
  const std::array<hsize_t, 2> size{count, width};
  const Handle file_space(H5Dget_space(data_set), H5Sclose);
  const Handle memory_space(H5Screate_simple(2, size.data(), nullptr), H5Sclose);
  if (H5Sget_simple_extent_ndims(file_space) != 2 ||
      H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
      H5Dread(data_set, type, memory_space, file_space, H5P_DEFAULT, data) < 0)
    damaged(path, fmt::format("rows {} to {} of a table are unreadable", first, first + count));
}

Shape shape_of(hid_t data_set, const std::string& path) {
  const Handle space(H5Dget_space(data_set), H5Sclose);
  std::array<hsize_t, 2> size{0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space, size.data(), nullptr) < 0 || size[1] < 1)
    damaged(path, "a table has an impossible shape");
  return {size[0], static_cast<std::size_t>(size[1])};
}

Handle open_data(hid_t group, const std::string& name, const std::string& path) {
  const hid_t id = H5Dopen2(group, name.c_str(), H5P_DEFAULT);
  if (id < 0) damaged(path, fmt::format("'{}' is missing", name));
  return {id, H5Dclose};
}

bool exists(hid_t group, const std::string& name) { return H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0; }

namespace {
struct flock writer_byte() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t{1} << 62;
  lock.l_len = 1;
  return lock;
}
}  // namespace

WriterLock::~WriterLock() {
  if (fd_ >= 0) ::close(fd_);
}

WriterLock WriterLock::open(const std::string& path, bool writable) {
  WriterLock lock;
  lock.fd_ = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  return lock;
}

bool WriterLock::acquire() {
  struct flock lock = writer_byte();
  return ::fcntl(fd_, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool WriterLock::held_by_other() const {
  struct flock lock = writer_byte();
  return fd_ >= 0 && ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::uint64_t WriterLock::file_size() const {
  struct stat info {};
  return fd_ >= 0 && ::fstat(fd_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace clatter::record::h5
