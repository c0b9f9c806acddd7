// The reader's side of a result file: the open file, its data sets, and its tables with their channels. The room's own.
//
// Why each data set remembers the commit it was refreshed at: HDF5 keeps the metadata of an open data set (length,
// chunk index) in memory. A length read early can already cover rows whose chunks the cached index does not know yet,
// and such rows would read as garbage. So a data set is refreshed before the first read after every new commit. A
// result that was finished when it was opened is as it will be, and is not refreshed: HDF5 shares what is open between
// all readers of a file in one program, and takes it from the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.hpp"
#include "record/h5.hpp"
#include "record/row_sums.hpp"

namespace clatter::record {

inline constexpr const char* kDamaged =
    "the file is damaged or incomplete: restore it from a copy or run the model again";
inline constexpr const char* kGiveResult = "give a file written by 'clatter run'";

struct DataSet {
  h5::Handle id;
  std::size_t width = 1;
  std::uint64_t refreshed_at = 0;  // commit
  std::string name = {};
  std::size_t stripe = 0;  // of the checksums, its first
};

struct ReaderTable {
  std::vector<Channel> channels;
  std::vector<std::size_t> by_name;  // places of the channels, sorted by their names
  DataSet time;
  std::vector<DataSet> data;         // of each channel; empty where the table has it
  DataSet wide;                      // /table, where there is one
  std::vector<std::uint64_t> first;  // column of each channel in it, or kOwnDataSet
  RowSumsReader sums;

  void index();  // by name, once the channels are there
  std::optional<std::size_t> place(std::string_view name) const;
};

// A result that is open for reading, and what its data sets need to know of it.
struct ReaderFile {
  std::string path;
  h5::WriterLock watch;  // never taken, only asked
  h5::Handle file;
  bool settled = false;  // finished when its data sets were opened
  std::uint64_t commit = 0;
  bool checksums = false;  // the file has them

  // Opens it, and refuses by name what is no result of this program.
  explicit ReaderFile(const std::string& name);
  [[noreturn]] void damaged(const std::string& problem) const;
  DataSet open_data(const std::string& name) const;
  // `samples` or `ledger`: its channels and data sets.
  void load_table(const std::string& name, ReaderTable& table) const;
  // What the file tells about its run.
  RunInfo load_info() const;

 private:
  void open_file();
  void check_identity() const;
  void load_channels(const std::string& name, ReaderTable& table) const;
  void load_columns(const std::string& name, ReaderTable& table) const;
  [[noreturn]] void damaged_channel(const std::string& name) const;
  bool is_single(const DataSet& data, const std::string& name) const;
  void check_components(const Channel& c) const;
  void load_pairs(const char* name, std::vector<std::pair<std::string, std::string>>& pairs) const;
  void load_surfaces(RunInfo& info) const;
};

// The place of a channel; the error for an unknown one names the nearest.
std::size_t find_channel(const ReaderTable& table, std::string_view name, const std::string& path);
// Whether the items of a data set are of this kind and size.
bool is_class(hid_t data_set, H5T_class_t wanted, std::size_t bytes);

}  // namespace clatter::record
