// Pieces of a result as the viewer's page asks for them: little-endian 64 bit numbers, one after the other.
//
//   rows     n, t_1 .. t_n, then for each channel its n rows of `width` numbers
//   series   n, t_1 .. t_n, x_1 .. x_n of one number over time, thinned for drawing: where more than `points` rows lie
//            in the range they are taken in equal groups, and of each group the smallest and the largest value stay, in
//            their order, so that a polyline through them covers the same pixels as one through all rows
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/reader.hpp"

namespace clatter::view {

enum class TableName { samples, ledger };

struct RowsWanted {
  TableName table = TableName::samples;
  std::vector<std::size_t> channels;  // places in Reader::channels() or ledger_channels()
  std::uint64_t first = 0, count = 0, stride = 1;
};
std::string rows_block(const record::Reader& reader, const RowsWanted& wanted);

struct SeriesWanted {
  TableName table = TableName::samples;
  std::size_t channel = 0;
  int component = 0;  // -1: the vector's length
  double from = 0, to = 0;
  std::uint64_t points = 4000;
};
struct Series {
  std::vector<double> t, x;
};
Series series(const record::Reader& reader, const SeriesWanted& wanted);
std::string series_block(const record::Reader& reader, const SeriesWanted& wanted);

// First row of the table whose time is not before t (the number of rows when all are).
std::uint64_t row_at(const record::Reader& reader, TableName table, double t);

}  // namespace clatter::view
