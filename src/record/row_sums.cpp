#include "record/row_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checksum.hpp"

namespace clatter::record {
namespace {

constexpr const char* kDamaged = "the file is damaged: restore it from a copy or run the model again";
constexpr const char* kTails[] = {"/tail_a", "/tail_b"};

}  // namespace

std::uint64_t checkpoint_checksum(double t, std::span<const double> state, std::span<const double> memory,
                                  std::span<const std::uint64_t> counters, const std::array<std::uint64_t, 4>& rows) {
  std::uint32_t sum = crc32c(0, &t, sizeof t);
  sum = crc32c(sum, state.data(), state.size_bytes());
  sum = crc32c(sum, memory.data(), memory.size_bytes());
  sum = crc32c(sum, counters.data(), counters.size_bytes());
  return crc32c(sum, rows.data(), sizeof rows);
}

void RowSumsWriter::create(hid_t file, const std::string& folder, std::size_t stripes, std::size_t block_rows,
                           const std::string& path) {
  folder_ = folder;
  block_rows_ = block_rows;
  growing_.assign(stripes, 0);
  whole_.assign(stripes, 0);
  line_.assign(stripes + 1, 0);
  const std::size_t page = std::max<std::size_t>(1, 4096 / (sizeof(std::uint32_t) * stripes));
  const h5::Handle blocks = h5::create_rows(file, folder + "/blocks", H5T_NATIVE_UINT32, stripes, page, path);
  h5::put_number(blocks, "rows", block_rows, path);
  for (const char* tail : kTails)
    h5::create_numbers(file, folder + tail, H5T_NATIVE_UINT64, 1, line_.size(), line_.data(), path, false);
}

void RowSumsWriter::open(hid_t file, const std::string& path) {
  blocks_data_ = h5::open_data(file, folder_ + "/blocks", path);
  for (std::size_t i = 0; i < 2; ++i) tail_data_[i] = h5::open_data(file, folder_ + kTails[i], path);
}

void RowSumsWriter::close() {
  blocks_data_.reset();
  for (h5::Handle& tail : tail_data_) tail.reset();
}

void RowSumsWriter::add(std::size_t stripe, const void* rows, std::size_t count, std::size_t bytes, std::size_t pitch) {
  const char* row = static_cast<const char*>(rows);
  std::size_t filled = filled_;
  while (count > 0) {
    const std::size_t now = std::min(count, block_rows_ - filled);
    if (pitch == bytes)
      growing_[stripe] = crc32c(growing_[stripe], row, now * bytes);
    else
      for (std::size_t i = 0; i < now; ++i) growing_[stripe] = crc32c(growing_[stripe], row + i * pitch, bytes);
    row += now * pitch;
    count -= now;
    filled += now;
    if (filled < block_rows_) break;
    whole_[stripe] = std::exchange(growing_[stripe], 0);
    filled = 0;
  }
}

void RowSumsWriter::write(std::size_t count, std::uint64_t total, const std::string& path) {
  if (count == 0) return;
  filled_ += count;
  if (filled_ >= block_rows_) {  // a commit holds at most a block, so that no more than one became whole
    h5::write_rows(blocks_data_, H5T_NATIVE_UINT32, whole_.size(), blocks_++, 1, whole_.data(), path);
    filled_ -= block_rows_;
  }
  line_[0] = total;
  std::copy(growing_.begin(), growing_.end(), line_.begin() + 1);
  h5::need(H5Dwrite(tail_data_[turns_++ % 2], H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, line_.data()), path,
           "write checksums", "free some disk space and go on from the last checkpoint");
}

void RowSumsReader::open(hid_t file, const std::string& folder, const std::string& path) {
  blocks_data_ = h5::open_data(file, folder + "/blocks", path);
  stripes_ = h5::shape_of(blocks_data_, path).width;
  block_rows_ = h5::get_number(blocks_data_, "rows", path);
  for (std::size_t i = 0; i < 2; ++i) {
    tail_data_[i] = h5::open_data(file, folder + kTails[i], path);
    if (h5::shape_of(tail_data_[i], path).rows != stripes_ + 1)
      throw ResultError(path, fmt::format("'{}' has another layout", folder), kDamaged);
  }
  if (block_rows_ < 1 || block_rows_ > 0xFFFF)
    throw ResultError(path, fmt::format("'{}' has another layout", folder), kDamaged);
  seen_.resize(stripes_);
}

bool RowSumsReader::load(std::uint64_t total, const std::string& path) {
  std::vector<std::uint64_t> line(stripes_ + 1);
  for (const h5::Handle& tail : tail_data_) {
    h5::need(H5Dread(tail, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, line.data()), path, "read checksums",
             kDamaged);
    if (line[0] != total) continue;
    total_ = total;
    tail_.assign(line.begin() + 1, line.end());
    return true;
  }
  return false;
}

bool RowSumsReader::seen(std::size_t stripe, std::uint64_t block, std::uint64_t rows) const {
  return block < seen_[stripe].size() && seen_[stripe][block] == rows;
}

std::uint32_t RowSumsReader::sum_of_block(std::size_t stripe, std::uint64_t block, const std::string& path) {
  const std::uint64_t known = blocks_.size() / stripes_;
  if (block >= known) {
    const std::uint64_t there = total_ / block_rows_;
    // Only a file that grew after it was opened is brought up to date (reader.cpp tells why).
    if (h5::shape_of(blocks_data_, path).rows < there) H5Drefresh(blocks_data_);
    if (h5::shape_of(blocks_data_, path).rows < there) throw ResultError(path, "has too few checksums", kDamaged);
    blocks_.resize(there * stripes_);
    h5::read_rows(blocks_data_, H5T_NATIVE_UINT32, stripes_, known, static_cast<std::size_t>(there - known),
                  blocks_.data() + known * stripes_, path);
  }
  return blocks_[block * stripes_ + stripe];
}

void RowSumsReader::compare(std::size_t stripe, std::uint64_t block, std::uint64_t rows, const std::vector<char>& bytes,
                            const std::string& name, const std::string& path) {
  const std::uint64_t wanted = rows == block_rows_ ? sum_of_block(stripe, block, path) : tail_[stripe];
  if (crc32c(0, bytes.data(), bytes.size()) != wanted)
    throw ResultError(path,
                      fmt::format("rows {} to {} of '{}' are not what was recorded (checksum)", block * block_rows_,
                                  block * block_rows_ + rows - 1, name),
                      kDamaged);
  if (seen_[stripe].size() <= block) seen_[stripe].resize(block + 1, 0);
  seen_[stripe][block] = static_cast<std::uint16_t>(rows);
}

}  // namespace clatter::record
