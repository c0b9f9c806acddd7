// What the viewer's page is told about a result, besides its numbers (view/blocks.hpp): texts as JSON. Shared by
// `clatter view`, which answers while the page asks, and `clatter report`, which puts everything into the page.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/output_file.hpp"
#include "record/reader.hpp"

namespace clatter::app {

// Everything that does not change while a run goes on: model, settings, channels, scene, and progress at this moment.
std::string meta_json(const record::Reader& reader);
// What changes: rows, state, message, summary.
std::string progress_json(const record::Reader& reader);
// Events [first, first + count).
std::string events_json(const record::Reader& reader, std::uint64_t first, std::uint64_t count);
// The model's checks against what is recorded, with the line each stands in.
std::string checks_json(const record::Reader& reader);

inline constexpr std::uint64_t kMostEvents = 5000;  // that a page is given

// Throws InputError when `path` is a model, with the command that makes a result of it.
void refuse_model(const std::string& path, const std::string& command);

// Samples that a report of at most that many megabytes of numbers holds one of.
struct ReportStride {
  std::uint64_t samples = 1, ledger = 1;
};
// The page with the result in it, complete (`clatter report`).
ReportStride write_report(const record::Reader& reader, double megabytes, std::ostream& out);
// The same as a file, by the rules of base/output_file.hpp.
ReportStride write_report_file(const record::Reader& reader, double megabytes, const std::string& path, bool force);
inline constexpr OutputKind kReport{"a report of `clatter report`", "<!-- clatter report -->"};

// The built page; a ResultError tells how to get it where it is missing.
std::string load_page();

}  // namespace clatter::app
