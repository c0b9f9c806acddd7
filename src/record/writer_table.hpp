// The writer's side of a table: time and channels on one time axis, with the rows that are not yet committed. Few
// channels have a data set each; many lie side by side in one (format.hpp, version 2). The room's own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/format.hpp"
#include "record/h5.hpp"
#include "record/row_sums.hpp"

namespace clatter::record {

struct WriterTable {
  std::vector<Channel> channels;
  std::size_t width = 0;
  std::size_t chunk_rows = 0;
  std::size_t buffered = 0;
  std::uint64_t committed = 0;

  // Whether so many channels need a data set in common.
  static bool wide(const std::vector<Channel>& channels) { return channels.size() > kMostDataSets; }

  void create(hid_t file, const std::string& name, const std::vector<Channel>& list, std::uint64_t expected_rows,
              const std::string& path);
  void open(hid_t file, const std::string& name, const std::string& path);
  void close();

  std::uint64_t rows() const { return committed + buffered; }
  // Takes in a row; what is not finite is refused with the channel's name.
  void add(double t, std::span<const double> row, const std::string& path);
  // Writes what was taken in since, with its checksums; the time axis last.
  void write(const std::string& path);

 private:
  void create_channel(hid_t file, const std::string& name, std::size_t place, const std::string& path) const;
  void create_columns(hid_t file, const std::string& name, const std::string& path) const;
  void refuse_not_finite(double t, std::span<const double> row, const std::string& path) const;
  void write_channel(std::size_t place, std::size_t offset, std::size_t stripe, const std::string& path);
  void write_table(std::size_t stripe, const std::string& path);
  // Columns [offset, offset + count) of the rows taken in, from place `into` of each row of `column_`, `stride` long.
  void gather(std::size_t offset, std::size_t count, std::size_t into, std::size_t stride);

  std::vector<std::uint64_t> first_;  // column of the table, or kOwnDataSet
  std::size_t table_width_ = 0;
  std::vector<double> times_;
  std::vector<double> values_;  // row by row
  std::vector<double> column_;  // what a data set gets, as the file wants it
  std::vector<float> single_;   // the same of a channel of 32 bit
  RowSumsWriter sums_;
  h5::Handle time_data_, table_data_;
  std::vector<h5::Handle> channel_data_;  // none where the table has the channel
};

}  // namespace clatter::record
