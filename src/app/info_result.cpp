#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>
#include <sstream>

#include "app/info.hpp"
#include "app/text.hpp"
#include "record/reader.hpp"
#include "study/channels.hpp"

namespace clatter::app {

namespace {

std::string state_of(const record::Reader& reader) {
  if (reader.being_written()) return "being written now";
  if (reader.killed()) return "killed while it was running";
  return std::string(record::to_string(reader.status()));
}

// Without the characters by which a text from a file could steer a terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; }, '?');
  return text;
}

void describe(const record::Reader& reader, const std::string& path, std::ostream& out) {
  const record::RunInfo& info = reader.info();
  const record::RowCounts rows = reader.rows();

  fmt::print(out, "{}: result of {} ({})\n", path, info.model_name, state_of(reader));
  if (!reader.message().empty()) fmt::print(out, "  {}\n", reader.message());
  fmt::print(out, "  started {}, program version {}\n", info.started, info.version);
  fmt::print(out, "  model hash {}\n", info.model_hash.substr(0, 16));
  for (const record::SourceFile& file : info.model_files) fmt::print(out, "  model text: {}\n", file.path);
  if (rows.samples > 0) {
    const double first = reader.times(0, 1).front(), last = reader.times(rows.samples - 1, 1).front();
    fmt::print(out, "  {} from {} s to {} s, {}\n", counted(rows.samples, "sample"), number(first), number(last),
               counted(rows.events, "event"));
  } else {
    fmt::print(out, "  no samples\n");
  }
  if (const auto checkpoint = reader.last_checkpoint()) {
    fmt::print(out, "  last checkpoint at {} s", number(checkpoint->t));
    const bool open = reader.status() != record::Status::kFinished && !reader.being_written();
    fmt::print(out, "{}\n", open ? fmt::format("; go on with  clatter run --continue {}", path) : "");
  }

  Table settings({"setting", "value"});
  for (const auto& [key, value] : info.settings) settings.row({key, value});
  if (!settings.empty()) fmt::print(out, "\n{}", settings.text());

  Table channels({"quantity", "unit", "components", "description"});
  for (const record::Channel& c : reader.channels()) {
    // Long lists are numbered ones: elastic coordinates.
    constexpr std::size_t kMostNamed = 9;
    std::string components;
    if (c.components.size() > kMostNamed)
      components = c.components.front() + " to " + c.components.back();
    else
      for (const std::string& name : c.components) components += (components.empty() ? "" : " ") + name;
    channels.row({study::quantity_of_channel(c.name), c.unit, components, c.description});
  }
  fmt::print(out, "\n{}", channels.text());

  constexpr std::uint64_t kShown = 20;
  const auto events = reader.events(0, kShown);
  if (!events.empty()) {
    Table table({"time/s", "event", "element", ""}, {Table::Align::right});
    for (const record::Event& e : events) table.row({number(e.t, 8), e.kind, e.element, e.text});
    fmt::print(out, "\n{}", table.text());
    if (rows.events > kShown) fmt::print(out, "  and {} more\n", whole(rows.events - kShown));
  }
  if (!reader.summary().empty()) fmt::print(out, "\n{}", reader.summary());
}

}  // namespace

int info_result(const std::string& path, const Console& console) {
  std::ostringstream out;
  describe(record::Reader(path), path, out);
  console.out << printable(out.str());
  return kDone;
}

}  // namespace clatter::app
