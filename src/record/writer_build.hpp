// The skeleton of a result file. The room's own.
#pragma once

#include <string>
#include <vector>

#include "record/format.hpp"
#include "record/h5.hpp"
#include "record/row_sums.hpp"
#include "record/writer.hpp"
#include "record/writer_table.hpp"

namespace clatter::record {

inline constexpr std::size_t kEventBuffer = 64;
inline constexpr const char* kDiskAdvice = "free some disk space and go on from the last checkpoint";

// What fills the file row by row.
struct WriterParts {
  WriterTable& samples;
  WriterTable& ledger;
  RowSumsWriter& event_sums;
};

// Names and widths that a file can hold; others are refused with the channel's name.
void check_channels(const std::vector<Channel>& channels, const std::string& path);

// Makes the file with everything in it that single-writer mode will not let us add later, and closes it: `file` is
// the handle while it is made, `path` its name in messages.
void build_result(h5::Handle& file, const std::string& built_path, const std::string& path, const RunInfo& info,
                  const std::vector<Channel>& channels, const std::vector<Channel>& ledger_channels,
                  const WriterOptions& options, WriterParts& parts);

}  // namespace clatter::record
