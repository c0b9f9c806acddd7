#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "record/export.hpp"

namespace clatter::record {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::vector<Channel> select(const Reader& reader, const std::vector<std::string>& globs) {
  if (globs.empty()) return reader.channels();
  std::vector<bool> wanted(reader.channels().size(), false);
  for (const std::string& glob : globs) {
    if (glob.find_first_of("*?") == std::string::npos) {  // a name: looked up, as there may be thousands
      wanted[static_cast<std::size_t>(&reader.channel(glob) - reader.channels().data())] = true;
      continue;
    }
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!matches_glob(glob, reader.channels()[i].name)) continue;
      wanted[i] = true;
      any = true;
    }
    if (any) continue;
    throw ResultError(reader.path(), fmt::format("no channel matches '{}'", glob),
                      "'clatter info' lists the channels of a result");
  }
  std::vector<Channel> selected;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) selected.push_back(reader.channels()[i]);
  return selected;
}

void write_header(std::ostream& out, const std::vector<Channel>& channels) {
  out << "time [s]";
  for (const Channel& c : channels) {
    for (int k = 0; k < c.width; ++k) {
      std::string title = c.name;
      if (!c.components.empty())
        title += "." + c.components[static_cast<std::size_t>(k)];
      else if (c.width > 1)
        title += fmt::format(".{}", k);
      if (!c.unit.empty()) title += fmt::format(" [{}]", c.unit);
      out << ',' << quoted(title);
    }
  }
  out << '\n';
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
  // Two-pointer match: on a mismatch the last star takes one character more.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void export_csv(const Reader& reader, std::ostream& out, const std::vector<std::string>& globs) {
  const std::vector<Channel> channels = select(reader, globs);
  write_header(out, channels);
  constexpr std::uint64_t kBlock = 1024;
  const std::uint64_t rows = reader.rows().samples;
  fmt::memory_buffer line;
  for (std::uint64_t first = 0; first < rows; first += kBlock) {
    const std::vector<double> times = reader.times(first, kBlock);
    std::vector<RowMatrix> columns;
    for (const Channel& c : channels) columns.push_back(reader.read(c.name, first, kBlock));
    for (std::size_t i = 0; i < times.size(); ++i) {
      line.clear();
      fmt::format_to(std::back_inserter(line), "{}", times[i]);
      for (const RowMatrix& column : columns)
        for (const double value : column.row(static_cast<Eigen::Index>(i)))
          fmt::format_to(std::back_inserter(line), ",{}", value);
      line.push_back('\n');
      out.write(line.data(), static_cast<std::streamsize>(line.size()));
    }
  }
}

void export_csv(const Reader& reader, const std::string& path, const std::vector<std::string>& globs,
                OutputRules rules) {
  rules.inputs.push_back(reader.path());
  OutputFile out(path, kTable, std::move(rules));
  export_csv(reader, out.stream(), globs);
  out.publish();
}

}  // namespace clatter::record
