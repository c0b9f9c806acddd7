// Checksums of rows that grow (format.hpp, CHECKSUMS). The rows of a table are taken in blocks of `block_rows`, its
// numbers in stripes: the time axis, each data set of a channel, 64 columns of a wide table. Every whole block of every
// stripe has one sum, written once; the rows after the last whole block have one each that grows with them and is kept
// twice in turns, so that a kill between two commits leaves the one that fits. The room's own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/h5.hpp"

namespace clatter::record {

inline constexpr std::size_t kProgressSum = 6;  // entry of /progress: checksum of those before it

// Of a checkpoint: all its parts, one after the other.
std::uint64_t checkpoint_checksum(double t, std::span<const double> state, std::span<const double> memory,
                                  std::span<const std::uint64_t> counters, const std::array<std::uint64_t, 4>& rows);

class RowSumsWriter {
 public:
  void create(hid_t file, const std::string& folder, std::size_t stripes, std::size_t block_rows,
              const std::string& path);
  void open(hid_t file, const std::string& path);
  void close();

  // Rows of one stripe that this commit adds, `bytes` of each lying `pitch` apart.
  void add(std::size_t stripe, const void* rows, std::size_t count, std::size_t bytes, std::size_t pitch);
  // When every stripe has added its `count` rows: what is in the file afterwards is `total` rows of the table.
  void write(std::size_t count, std::uint64_t total, const std::string& path);

 private:
  std::string folder_;
  std::size_t block_rows_ = 1, filled_ = 0;  // filled_: rows after the last whole block
  std::uint64_t blocks_ = 0, turns_ = 0;
  std::vector<std::uint32_t> growing_, whole_;
  std::vector<std::uint64_t> line_;  // total, then the sums
  h5::Handle blocks_data_, tail_data_[2];
};

class RowSumsReader {
 public:
  // Nothing where the file has none (results of earlier versions).
  void open(hid_t file, const std::string& folder, const std::string& path);
  bool there() const { return stripes_ > 0; }
  std::size_t stripes() const { return stripes_; }

  // Takes in the sums of a table of `total` rows; false while they speak of another number of rows (a writer is
  // faster).
  bool load(std::uint64_t total, const std::string& path);

  // Looks at every block of [first, first + count) that was not looked at before. `read` gives the bytes of the rows
  // (first, count) of that stripe. Throws ResultError where a sum differs.
  template <class Read>
  void check(std::size_t stripe, std::uint64_t first, std::uint64_t count, const std::string& name,
             const std::string& path, const Read& read) {
    if (!there() || count == 0) return;
    for (std::uint64_t block = first / block_rows_; block <= (first + count - 1) / block_rows_; ++block) {
      const std::uint64_t begin = block * block_rows_;
      const std::uint64_t rows = std::min<std::uint64_t>(block_rows_, total_ - begin);
      if (seen(stripe, block, rows)) continue;
      compare(stripe, block, rows, read(begin, static_cast<std::size_t>(rows)), name, path);
    }
  }

 private:
  bool seen(std::size_t stripe, std::uint64_t block, std::uint64_t rows) const;
  void compare(std::size_t stripe, std::uint64_t block, std::uint64_t rows, const std::vector<char>& bytes,
               const std::string& name, const std::string& path);
  std::uint32_t sum_of_block(std::size_t stripe, std::uint64_t block, const std::string& path);

  std::size_t stripes_ = 0;
  std::uint64_t block_rows_ = 1, total_ = 0;
  std::vector<std::uint64_t> tail_;               // of each stripe, of the rows after the last whole block
  std::vector<std::uint32_t> blocks_;             // block by block, as far as they were read
  std::vector<std::vector<std::uint16_t>> seen_;  // of each stripe and block: rows found to be right
  h5::Handle blocks_data_, tail_data_[2];
};

}  // namespace clatter::record
