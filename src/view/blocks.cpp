#include "view/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace clatter::view {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are written as they lie in memory");

std::uint64_t total_rows(const record::Reader& reader, TableName table) {
  return table == TableName::samples ? reader.rows().samples : reader.rows().ledger;
}
std::vector<double> times(const record::Reader& reader, TableName table, std::uint64_t first, std::uint64_t count) {
  return table == TableName::samples ? reader.times(first, count) : reader.ledger_times(first, count);
}
record::RowMatrix read(const record::Reader& reader, TableName table, std::size_t channel, std::uint64_t first,
                       std::uint64_t count) {
  return table == TableName::samples ? reader.read(reader.channels()[channel].name, first, count)
                                     : reader.read_ledger(reader.ledger_channels()[channel].name, first, count);
}

void put(std::string& out, const double* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(double));
}

// Beyond this, single rows cost less than the rows between them.
constexpr std::uint64_t kFarApart = 32;

// Every stride-th row of [first, first + count), `width` numbers each, one after the other.
template <class ReadRows>
void put_every(std::string& out, std::uint64_t first, std::uint64_t end, std::uint64_t stride, std::size_t width,
               const ReadRows& read_rows) {
  if (first >= end) return;
  if (stride >= kFarApart) {
    for (std::uint64_t row = first; row < end; row += stride) put(out, read_rows(row, 1).data(), width);
    return;
  }
  const auto block = read_rows(first, end - first);
  if (stride == 1) {
    put(out, block.data(), static_cast<std::size_t>(end - first) * width);
    return;
  }
  for (std::uint64_t row = 0; row < end - first; row += stride) put(out, block.data() + row * width, width);
}

double component(const record::RowMatrix& rows, Eigen::Index row, int component) {
  return component < 0 ? rows.row(row).norm() : rows(row, component);
}

}  // namespace

std::string rows_block(const record::Reader& reader, const RowsWanted& wanted) {
  const std::uint64_t total = total_rows(reader, wanted.table);
  const std::uint64_t first = std::min(wanted.first, total);
  const std::uint64_t stride = std::max<std::uint64_t>(1, wanted.stride);
  const std::uint64_t most = (total - first + stride - 1) / stride;
  const std::uint64_t n = std::min(wanted.count, most);
  const std::uint64_t end = n == 0 ? first : first + (n - 1) * stride + 1;
  std::string out;
  const auto number = static_cast<double>(n);
  put(out, &number, 1);
  put_every(out, first, end, stride, 1,
            [&](std::uint64_t at, std::uint64_t count) { return times(reader, wanted.table, at, count); });
  const auto& channels = wanted.table == TableName::samples ? reader.channels() : reader.ledger_channels();
  for (const std::size_t channel : wanted.channels)
    put_every(out, first, end, stride, static_cast<std::size_t>(channels[channel].width),
              [&](std::uint64_t at, std::uint64_t count) { return read(reader, wanted.table, channel, at, count); });
  return out;
}

std::uint64_t row_at(const record::Reader& reader, TableName table, double t) {
  std::uint64_t low = 0, high = total_rows(reader, table);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (times(reader, table, middle, 1).at(0) < t)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

Series series(const record::Reader& reader, const SeriesWanted& wanted) {
  const std::uint64_t total = total_rows(reader, wanted.table);
  // One row beyond each end, so that lines reach the edge of the picture.
  std::uint64_t first = row_at(reader, wanted.table, wanted.from);
  if (first > 0) --first;
  std::uint64_t last =
      std::min(total, row_at(reader, wanted.table, std::nextafter(wanted.to, std::numeric_limits<double>::max())) + 1);
  last = std::max(last, first);
  const std::uint64_t rows = last - first;
  const std::uint64_t groups = std::max<std::uint64_t>(1, wanted.points / 2);
  const bool thin = rows > wanted.points;
  Series out;
  if (!thin) {
    out.t = times(reader, wanted.table, first, rows);
    if (rows == 0) return out;
    const record::RowMatrix block = read(reader, wanted.table, wanted.channel, first, rows);
    for (Eigen::Index i = 0; i < block.rows(); ++i) out.x.push_back(component(block, i, wanted.component));
    return out;
  }
  constexpr std::uint64_t kBlock = 1U << 16U;
  struct Extreme {
    double t = 0, x = 0;
    std::uint64_t row = 0;
  };
  Extreme low, high;
  std::uint64_t group = 0;
  bool empty = true;
  const auto close = [&] {
    if (empty) return;
    const Extreme& a = low.row <= high.row ? low : high;
    const Extreme& b = low.row <= high.row ? high : low;
    out.t.push_back(a.t);
    out.x.push_back(a.x);
    if (a.row != b.row) {
      out.t.push_back(b.t);
      out.x.push_back(b.x);
    }
    empty = true;
  };
  for (std::uint64_t at = first; at < last; at += kBlock) {
    const std::uint64_t count = std::min(kBlock, last - at);
    const std::vector<double> t = times(reader, wanted.table, at, count);
    const record::RowMatrix block = read(reader, wanted.table, wanted.channel, at, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t row = at - first + i;
      const std::uint64_t of = row * groups / rows;
      if (of != group) {
        close();
        group = of;
      }
      const Extreme here{t[i], component(block, static_cast<Eigen::Index>(i), wanted.component), row};
      if (empty || here.x < low.x) low = here;
      if (empty || here.x > high.x) high = here;
      empty = false;
    }
  }
  close();
  return out;
}

std::string series_block(const record::Reader& reader, const SeriesWanted& wanted) {
  const Series s = series(reader, wanted);
  std::string out;
  const auto number = static_cast<double>(s.t.size());
  put(out, &number, 1);
  put(out, s.t.data(), s.t.size());
  put(out, s.x.data(), s.x.size());
  return out;
}

}  // namespace clatter::view
