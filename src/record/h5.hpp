// The room's own thin layer over the HDF5 C library: handles that close themselves, failures that become ResultErrors,
// and the few fixed-length kinds of data the format uses. Nothing outside this folder includes it.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/format.hpp"

namespace clatter::record::h5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // True when nothing was open or closing succeeded.
  bool reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// Switches off HDF5's printing of error stacks in the calling thread (the library keeps the switch per thread).
void quiet();

// The system's own words in the last HDF5 failure ("No space left on device"), or empty.
std::string system_reason();

// Throws ResultError(path, "cannot <what> (<reason>)", advice), a DiskError where the disk is the reason, when an HDF5
// call returned a negative number.
hid_t need(hid_t result, const std::string& path, const std::string& what, const std::string& advice = "");

// File access properties of both sides: 1.10 format, no chunk cache, no sieve buffer, no whole-file lock.
// `attempts`: how often metadata are read whose checksum is wrong.
inline constexpr unsigned kPatient = 27, kHasty = 10;
Handle access_properties(unsigned attempts = kPatient);
// The same for a writer, whose metadata stay in memory until the file is closed: a file that is given up after a failed
// write must close without reading anything again. It costs about 1.5 kB a data set and 8 bytes a chunk.
Handle writer_properties();

struct File {
  Handle id;
  std::string path;  // for messages
};

// Fixed-length text of `bytes` bytes (at least one), UTF-8, zero-padded.
Handle text_type(std::size_t bytes);
// {t, kind, element, text} as laid out in EventRow.
Handle event_type();
struct EventRow {
  double t;
  char kind[kEventKindBytes];
  char element[kEventElementBytes];
  char text[kEventTextBytes];
};

// Attributes.
void put_text(hid_t object, const char* name, std::string_view text, const std::string& path);
void put_texts(hid_t object, const char* name, const std::vector<std::string>& texts, const std::string& path);
void put_number(hid_t object, const char* name, std::uint64_t number, const std::string& path);
std::string get_text(hid_t object, const char* name, const std::string& path);
std::vector<std::string> get_texts(hid_t object, const char* name, const std::string& path);
std::uint64_t get_number(hid_t object, const char* name, const std::string& path);

// The checksum of a data set that is written once, as its attribute `crc32c`; and the comparison with what was read,
// which results of earlier versions, without it, pass. Throws ResultError.
void seal(hid_t data_set, const void* data, std::size_t bytes, const std::string& path);
void check_seal(hid_t data_set, const std::string& name, const void* data, std::size_t bytes, const std::string& path);

// Data sets that hold one text, sealed; `bytes` reserves room for a text written later, in place, without a seal.
Handle create_text(hid_t group, const std::string& name, std::string_view text, std::size_t bytes,
                   const std::string& path);
// Returns the checksum of all its bytes.
std::uint32_t overwrite_text(hid_t data_set, std::string_view text, const std::string& path);
// `sum`: where the checksum of all its bytes goes.
std::string read_text(hid_t data_set, const std::string& path, std::uint32_t* sum = nullptr);

// A table of texts, all rows of the same number of columns.
void create_text_table(hid_t group, const char* name, const std::vector<std::vector<std::string>>& rows,
                       const std::string& path);
std::vector<std::vector<std::string>> read_text_table(hid_t group, const char* name, const std::string& path);

// A list of texts.
void create_text_list(hid_t group, const std::string& name, const std::vector<std::string>& texts,
                      const std::string& path);
std::vector<std::string> read_text_list(hid_t group, const std::string& name, const std::string& path);

// Data sets that grow by rows: [N] when width is one, [N x width] otherwise. Chunks are whole rows, or at most
// `chunk_width` columns of them.
Handle create_rows(hid_t group, const std::string& name, hid_t type, std::size_t width, std::size_t chunk_rows,
                   const std::string& path, std::size_t chunk_width = ~std::size_t{0});
void write_rows(hid_t data_set, hid_t type, std::size_t width, std::uint64_t first, std::size_t count, const void* data,
                const std::string& path);
void read_rows(hid_t data_set, hid_t type, std::size_t width, std::uint64_t first, std::size_t count, void* data,
               const std::string& path);
// The same of the columns [column, column + width) of a table of more of them.
void read_columns(hid_t data_set, hid_t type, std::size_t column, std::size_t width, std::uint64_t first,
                  std::size_t count, void* data, const std::string& path);
// Numbers that are written once, [rows x width], or [rows] when width is one; not sealed where they will change.
void create_numbers(hid_t group, const std::string& name, hid_t type, std::size_t width, std::size_t rows,
                    const void* data, const std::string& path, bool sealed = true);
struct Shape {
  std::uint64_t rows = 0;
  std::size_t width = 0;
};
Shape shape_of(hid_t data_set, const std::string& path);

Handle open_data(hid_t group, const std::string& name, const std::string& path);
bool exists(hid_t group, const std::string& name);

// The writer's lock (see format.hpp). An open descriptor that keeps the lock, -1 when another process holds it;
// file systems without such locks count as unlocked.
class WriterLock {
 public:
  WriterLock() = default;
  WriterLock(WriterLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  WriterLock& operator=(WriterLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();
  static WriterLock open(const std::string& path, bool writable);
  bool acquire();  // false when someone else holds it
  bool held_by_other() const;
  std::uint64_t file_size() const;

 private:
  int fd_ = -1;
};

}  // namespace clatter::record::h5
