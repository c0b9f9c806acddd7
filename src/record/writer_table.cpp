#include "record/writer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace clatter::record {
namespace {

// Rows a chunk holds, which is also what the buffer gathers: about a megabyte over all channels, at most 4096 rows and
// at least 16, and no more than the run is expected to give.
std::size_t chunk_rows_for(std::size_t width, std::uint64_t expected_rows) {
  const std::size_t fitting = (std::size_t{1} << 20U) / (sizeof(double) * (width + 1));
  std::size_t rows = std::clamp<std::size_t>(fitting, 16, 4096);
  if (expected_rows > 0) rows = std::clamp<std::size_t>(expected_rows, 16, rows);
  return std::bit_floor(rows);
}

}  // namespace

void WriterTable::create(hid_t file, const std::string& name, const std::vector<Channel>& list,
                         std::uint64_t expected_rows, const std::string& path) {
  channels = list;
  std::size_t widest = 0;
  for (const Channel& c : channels) {
    const bool in_table = wide(channels) && !c.single && c.width <= kWidestColumns;
    first_.push_back(in_table ? table_width_ : kOwnDataSet);
    if (in_table) table_width_ += static_cast<std::size_t>(c.width);
    width += static_cast<std::size_t>(c.width);
    widest = std::max(widest, static_cast<std::size_t>(c.width));
  }
  chunk_rows = chunk_rows_for(width, expected_rows);
  times_.resize(chunk_rows);
  values_.resize(chunk_rows * width);
  column_.resize(chunk_rows * std::max(widest, table_width_));
  const h5::Handle time = h5::create_rows(file, name + "/time", H5T_NATIVE_DOUBLE, 1, chunk_rows, path);
  h5::put_text(time, "unit", "s", path);
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (first_[i] == kOwnDataSet) create_channel(file, name, i, path);
  if (wide(channels)) create_columns(file, name, path);
  const auto own = static_cast<std::size_t>(std::count(first_.begin(), first_.end(), kOwnDataSet));
  sums_.create(file, "checksums/" + name, 1 + own + (table_width_ + kStripeColumns - 1) / kStripeColumns, chunk_rows,
               path);
}

void WriterTable::create_channel(hid_t file, const std::string& name, std::size_t place,
                                 const std::string& path) const {
  const Channel& c = channels[place];
  const h5::Handle data =
      h5::create_rows(file, name + "/channels/" + c.name, c.single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                      static_cast<std::size_t>(c.width), chunk_rows, path);
  h5::put_text(data, "unit", c.unit, path);
  h5::put_text(data, "description", c.description, path);
  h5::put_number(data, "order", place, path);
  if (!c.components.empty()) h5::put_texts(data, "components", c.components, path);
}

void WriterTable::create_columns(hid_t file, const std::string& name, const std::string& path) const {
  if (table_width_ > 0)
    h5::create_rows(file, name + "/table", H5T_NATIVE_DOUBLE, table_width_, chunk_rows, path, kStripeColumns);
  const h5::Handle group(h5::need(H5Gcreate2(file, (name + "/columns").c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                  path, fmt::format("create '{}/columns'", name)),
                         H5Gclose);
  std::vector<std::string> names, units, descriptions, components;
  std::vector<std::uint64_t> widths;
  for (const Channel& c : channels) {
    names.push_back(c.name);
    units.push_back(c.unit);
    descriptions.push_back(c.description);
    components.push_back(fmt::format("{}", fmt::join(c.components, "\n")));
    widths.push_back(static_cast<std::uint64_t>(c.width));
  }
  h5::create_text_list(group, "name", names, path);
  h5::create_text_list(group, "unit", units, path);
  h5::create_text_list(group, "description", descriptions, path);
  h5::create_text_list(group, "components", components, path);
  h5::create_numbers(group, "first", H5T_NATIVE_UINT64, 1, first_.size(), first_.data(), path);
  h5::create_numbers(group, "width", H5T_NATIVE_UINT64, 1, widths.size(), widths.data(), path);
}

void WriterTable::open(hid_t file, const std::string& name, const std::string& path) {
  time_data_ = h5::open_data(file, name + "/time", path);
  if (table_width_ > 0) table_data_ = h5::open_data(file, name + "/table", path);
  for (std::size_t i = 0; i < channels.size(); ++i)
    channel_data_.push_back(first_[i] == kOwnDataSet ? h5::open_data(file, name + "/channels/" + channels[i].name, path)
                                                     : h5::Handle());
  sums_.open(file, path);
}

void WriterTable::close() {
  time_data_.reset();
  table_data_.reset();
  channel_data_.clear();
  sums_.close();
}

void WriterTable::add(double t, std::span<const double> row, const std::string& path) {
  if (row.size() != width)
    throw ResultError(path, fmt::format("a row of {} values was given for {}", row.size(), width),
                      "give the values of all channels in order");
  double sum = t * 0.0;
  for (const double x : row) sum += x * 0.0;  // NaN if any is NaN or infinite
  if (std::isnan(sum)) refuse_not_finite(t, row, path);
  times_[buffered] = t;
  std::copy(row.begin(), row.end(), values_.begin() + static_cast<std::ptrdiff_t>(buffered * width));
  ++buffered;
}

void WriterTable::refuse_not_finite(double t, std::span<const double> row, const std::string& path) const {
  if (!std::isfinite(t))
    throw ResultError(path, fmt::format("a row was given at the time {}", t), "report this diagnosis");
  std::size_t at = 0;
  for (const Channel& c : channels)
    for (int k = 0; k < c.width; ++k, ++at)
      if (!std::isfinite(row[at]))
        throw ResultError(path,
                          fmt::format("channel '{}' component {} is {} at t = {} s", c.name, k,
                                      std::isnan(row[at]) ? "NaN" : "infinite", t),
                          "the rows before it are kept");
}

void WriterTable::gather(std::size_t offset, std::size_t count, std::size_t into, std::size_t stride) {
  for (std::size_t row = 0; row < buffered; ++row)
    std::copy_n(values_.data() + row * width + offset, count, column_.data() + row * stride + into);
}

void WriterTable::write_channel(std::size_t place, std::size_t offset, std::size_t stripe, const std::string& path) {
  const auto w = static_cast<std::size_t>(channels[place].width);
  gather(offset, w, 0, w);
  const hid_t data = channel_data_[place];
  if (!channels[place].single) {
    h5::write_rows(data, H5T_NATIVE_DOUBLE, w, committed, buffered, column_.data(), path);
    sums_.add(stripe, column_.data(), buffered, w * sizeof(double), w * sizeof(double));
    return;
  }
  single_.assign(column_.begin(), column_.begin() + static_cast<std::ptrdiff_t>(buffered * w));
  h5::write_rows(data, H5T_NATIVE_FLOAT, w, committed, buffered, single_.data(), path);
  sums_.add(stripe, single_.data(), buffered, w * sizeof(float), w * sizeof(float));
}

void WriterTable::write_table(std::size_t stripe, const std::string& path) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const auto w = static_cast<std::size_t>(channels[i].width);
    if (first_[i] != kOwnDataSet) gather(offset, w, static_cast<std::size_t>(first_[i]), table_width_);
    offset += w;
  }
  h5::write_rows(table_data_, H5T_NATIVE_DOUBLE, table_width_, committed, buffered, column_.data(), path);
  for (std::size_t column = 0; column < table_width_; column += kStripeColumns)
    sums_.add(stripe++, column_.data() + column, buffered,
              std::min(kStripeColumns, table_width_ - column) * sizeof(double), table_width_ * sizeof(double));
}

void WriterTable::write(const std::string& path) {
  if (buffered == 0) return;
  std::size_t offset = 0, stripe = 1;  // 0: the time axis
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (first_[i] == kOwnDataSet) write_channel(i, offset, stripe++, path);
    offset += static_cast<std::size_t>(channels[i].width);
  }
  if (table_width_ > 0) write_table(stripe, path);
  h5::write_rows(time_data_, H5T_NATIVE_DOUBLE, 1, committed, buffered, times_.data(), path);
  sums_.add(0, times_.data(), buffered, sizeof(double), sizeof(double));
  committed += buffered;
  sums_.write(buffered, committed, path);
  buffered = 0;
}

}  // namespace clatter::record
