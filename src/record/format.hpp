// The results room: what a run leaves behind. It takes names, units and numbers and knows nothing of mechanics.
// From outside one needs writer.hpp, reader.hpp, export.hpp and hash.hpp; h5.hpp is the room's own.
//
// FORMAT, versions 1 and 2. A result is one HDF5 file (superblock 3, the 1.10 format, no filters, no variable-length
// data, so that one writer and many readers may share it). All texts are UTF-8, fixed length, padded with zero bytes.
//
//   /                          attributes: format = "clatter result", format_version, program_version,
//                              model_name, model_hash, started (ISO 8601)
//   /model/0, /model/1, ...    text of each model file, the main file first; attribute: path
//   /settings                  [n x 2] texts: key, value (absent when there are none)
//   /scene                     what to draw, JSON (docs/results.md); absent in files without one
//   /surfaces/<i>/vertices     [n x 3] 32 bit, /triangles [m x 3] unsigned 32 bit, /modes [k x 3n] 32 bit (absent when
//                              rigid): a body's skin in its own axes; attribute of /surfaces/<i>: name
//   /samples/time              [N], attribute: unit
//   /samples/channels/<name>   [N] for one component, else [N x width]; a name may hold slashes and is then a path; 64
//                              bit, fields over a body's skin 32 bit;
//                              attributes: unit, description, order (place among the channels), components (texts;
//                              absent when unnamed)
//   /ledger/time, /ledger/channels/<name>    the same for the energy ledger, which has a time axis of its own
//                              Version 2, written only where there are more than kMostDataSets channels: those of 64
//                              bit and at most kWidestColumns components lie side by side in one data set,
//   /samples/table             [N x W], 64 bit, and of all channels, in their order, there is
//   /samples/columns/          name, unit, description [n] texts; components [n] texts, labels with line ends between
//                              them; first, width [n] unsigned 64 bit: columns of the table, first = 2^64 - 1 for a
//                              channel with a data set of its own. Ledger alike.
//   /events                    [E] of {t, kind (32 bytes), element (128), text (512)}
//   /checkpoints/time          [K]
//   /checkpoints/state         [K x s]   what the integrator needs to go on; each absent when its width is zero
//   /checkpoints/memory        [K x m]
//   /checkpoints/counters      [K x c]   unsigned 64 bit
//   /checkpoints/rows          [K x 4]   rows of samples, ledger, events, checkpoints (with this one) at that moment
//   /progress                  [8] unsigned 64 bit: complete rows of samples, ledger, events, checkpoints; file size
//                              that holds them; number of commits; CRC-32C of these six; a reserved zero
//   /status                    running | finished | failed | interrupted
//   /message, /summary         one line on how the run ended; the closing summary
//
//   /inputs                    [n x 2] texts: path and SHA-256 of each further file the model reads (meshes, matrices,
//                              modes); absent when there are none
//   /checksums/                absent in files of earlier versions (below)
//
// CHECKSUMS. All are CRC-32C of bytes as they lie in the file; HDF5 has its own for its metadata. What is written once
// has its sum as the attribute `crc32c`. Rows are summed in blocks and stripes (row_sums.hpp):
//   /checksums/samples/blocks  [B x S] unsigned 32 bit, of each whole block of rows (attribute: rows, their number) and
//                              each stripe: the time axis, each data set of a channel in the order of the channels,
//                              then the table 64 columns at a time
//   /checksums/samples/tail_a, tail_b   [1 + S] unsigned 64 bit: a number of rows, and of each stripe the sum of those
//                              after the last whole block. Written in turns; the one whose number is that of /progress
//                              counts.
//   /checksums/ledger/, /checksums/events/   alike; events have one stripe
//   /checksums/checkpoints     [K] unsigned 64 bit, of each: time, state, memory, counters, rows, one after the other
//   /checksums/end             [2] unsigned 64 bit: of /message and /summary (all their bytes), once the status is not
//                              `running`
// A filter would not do: HDF5 writes a chunk with one anew for every commit, so that a kill could cost committed rows.
//
// WHY IT SURVIVES A KILL. Rows are gathered in memory and go out in commits:
//   1. each data set is lengthened and its new rows written past the page cache of HDF5 (no chunk cache, no sieve
//      buffer), the time axis of a table after its channels, then their checksums, of which the last are left alone;
//   2. the metadata are flushed, which single-writer mode orders so that every state on disk is a readable file;
//   3. /progress is overwritten in place, 64 bytes inside one page.
// A reader believes /progress and nothing beyond it: rows past it may be half written. Space is handed out in 4 kB
// pages so that no small metadata block straddles a page of the operating system, the one place where a kill can cut a
// write in two. Nothing here protects against loss of power.
//
// WHY A TABLE. Each data set has metadata of its own, and single-writer mode has HDF5 order their way to the disk: the
// cost of a commit grows with the square of their number, to minutes for 20 000, and beyond 32 MB of metadata HDF5 1.10
// fails while it makes room for more. A thousand data sets take some ten milliseconds a commit.
//
// WHO WRITES. The writer holds an open-file-description lock on byte 2^62 of the file; the system drops it when the
// process dies. `status = running` without that lock is a run that was killed. HDF5's own whole-file lock is not used.
// Other programs read a running or killed file with single-writer reading switched on (h5py: swmr=True) and a finished
// one plainly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clatter::record {

// Before anything else in a program of its own: keeps HDF5 from closing at exit what it failed to close before, which
// crashes it. Results are closed by their writers and readers.
void leave_nothing_to_exit();

inline constexpr std::string_view kFormatName = "clatter result";
inline constexpr std::uint64_t kFormatVersion = 2;  // the newest that is understood
inline constexpr std::size_t kMostDataSets = 1000;
inline constexpr int kWidestColumns = 64;
// Columns in a chunk of a table: who reads one channel reads 64 of them, and a commit writes pieces of 512 bytes.
inline constexpr std::size_t kStripeColumns = 64;
inline constexpr std::uint64_t kOwnDataSet = ~std::uint64_t{0};  // `first` of a channel that is not in the table

// One line for the user: the file, what is wrong, what to do.
class ResultError : public std::runtime_error {
 public:
  ResultError(const std::string& path, const std::string& problem, const std::string& advice);
};

// The disk is full, or takes nothing more for another reason.
class DiskError : public ResultError {
 public:
  using ResultError::ResultError;
};

// One recorded quantity, e.g. "bodies/rod/position" in "m" with the components x, y, z.
struct Channel {
  std::string name;
  std::string unit;
  int width = 1;
  std::vector<std::string> components;  // empty, or one label a component
  std::string description;
  bool single = false;  // 32 bit in the file
  bool operator==(const Channel&) const = default;
};

struct SourceFile {
  std::string path;
  std::string text;
  bool operator==(const SourceFile&) const = default;
};

// Skin of a body, for pictures. Vertex i stands at vertices[i] + sum_k eta_k modes[k][i] in the body's axes, eta being
// the channel that the scene names with it.
struct Surface {
  std::string name;
  std::vector<float> vertices;           // x y z of each
  std::vector<std::uint32_t> triangles;  // three vertices each, counter-clockwise from outside
  std::vector<float> modes;              // mode by mode, x y z of each vertex
  bool operator==(const Surface&) const = default;
};

struct RunInfo {
  std::string model_name;
  std::vector<SourceFile> model_files;  // the main file first, then its includes
  std::string model_hash;               // see hash.hpp
  std::string version;                  // of the program
  std::vector<std::pair<std::string, std::string>> settings;
  std::string started;  // ISO 8601
  std::string scene;    // JSON, or empty
  std::vector<Surface> surfaces;
  // Path and SHA-256 of what the model reads besides its texts.
  std::vector<std::pair<std::string, std::string>> inputs = {};
  bool operator==(const RunInfo&) const = default;
};

// Texts are cut, with an ellipsis, to the lengths the format gives them.
struct Event {
  double t = 0.0;
  std::string kind;
  std::string element;
  std::string text;
  bool operator==(const Event&) const = default;
};
inline constexpr std::size_t kEventKindBytes = 32;
inline constexpr std::size_t kEventElementBytes = 128;
inline constexpr std::size_t kEventTextBytes = 512;
inline constexpr std::size_t kMessageBytes = 1024;
inline constexpr std::size_t kSummaryBytes = 32768;

// Widths of the three parts of a checkpoint, fixed for the life of a file.
struct CheckpointSizes {
  std::size_t state = 0;
  std::size_t memory = 0;
  std::size_t counters = 0;
};

// Complete rows of each table.
struct RowCounts {
  std::uint64_t samples = 0;
  std::uint64_t ledger = 0;
  std::uint64_t events = 0;
  std::uint64_t checkpoints = 0;
  bool operator==(const RowCounts&) const = default;
};

struct Checkpoint {
  double t = 0.0;
  std::vector<double> state;
  std::vector<double> memory;
  std::vector<std::uint64_t> counters;
  RowCounts rows;
};

enum class Status { kRunning, kFinished, kFailed, kInterrupted };
std::string_view to_string(Status status);

// At most `bytes` bytes of `text`, whole UTF-8 characters, ending in an ellipsis where something was cut.
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace clatter::record
