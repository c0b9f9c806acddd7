// `clatter report`: the viewer's page with the result inside it, one file that opens without this program and without
// a network.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>

#include "app/commands.hpp"
#include "app/result_page.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "view/blocks.hpp"
#include "view/json.hpp"
#include "view/pack.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPlace = "<!--clatter:data-->";
// As the server has it (view/loopback_server.cpp), less the connection to it.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">";

void put_block(std::ostream& out, const std::string& name, std::string_view bytes, std::size_t item) {
  out << "<script type=\"text/plain\" id=\"" << name << "\">" << view::packed(bytes, item) << "</script>\n";
}

// All channels of a table, each a block of its own behind the times.
void put_table(std::ostream& out, const record::Reader& reader, view::TableName table, std::uint64_t stride) {
  const bool samples = table == view::TableName::samples;
  const auto& channels = samples ? reader.channels() : reader.ledger_channels();
  const std::string name = samples ? "samples" : "ledger";
  const auto whole = [&](std::vector<std::size_t> list) {
    return view::rows_block(reader, {table, std::move(list), 0, record::Reader::kAll, stride});
  };
  const std::string times = whole({});
  put_block(out, name + "-time", std::string_view(times).substr(sizeof(double)), sizeof(double));
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::string block = whole({i});
    put_block(out, fmt::format("{}-{}", name, i), std::string_view(block).substr(times.size()), sizeof(double));
  }
}

std::size_t row_bytes(const std::vector<record::Channel>& channels) {
  std::size_t width = 1;
  for (const record::Channel& c : channels) width += static_cast<std::size_t>(c.width);
  return sizeof(double) * width;
}

std::uint64_t stride_for(std::uint64_t rows, std::size_t bytes, double most) {
  const double total = static_cast<double>(rows) * static_cast<double>(bytes);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(total / most)));
}

}  // namespace

ReportStride write_report(const record::Reader& reader, double megabytes, std::ostream& out) {
  const std::string page = load_page();
  const std::size_t place = page.find(kPlace);
  if (place == std::string::npos)
    throw record::ResultError("viewer.html", "is not the viewer's page", "run tools/setup.sh to build it again");
  const double most = megabytes * 1e6;
  const ReportStride stride{stride_for(reader.rows().samples, row_bytes(reader.channels()), most),
                            stride_for(reader.rows().ledger, row_bytes(reader.ledger_channels()), most / 4)};

  view::Json json;
  json.object().put("stride", stride.samples).put("ledger_stride", stride.ledger);
  json.key("meta").raw(meta_json(reader)).key("checks").raw(checks_json(reader));
  json.key("events").raw(events_json(reader, 0, kMostEvents)).end();
  const std::string_view text = page;
  const std::size_t begin = text.find('>') + 1;  // behind the document type
  const std::size_t head = std::min(text.find("<head>", begin), place);
  out << text.substr(0, begin) << "\n" << kReport.mark << text.substr(begin, head - begin);
  if (head < place) out << "<head>\n" << kPolicy << text.substr(head + 6, place - head - 6);
  out << "<script type=\"application/json\" id=\"clatter-report\">" << json.str() << "</script>\n";
  put_table(out, reader, view::TableName::samples, stride.samples);
  put_table(out, reader, view::TableName::ledger, stride.ledger);
  const auto& surfaces = reader.info().surfaces;
  const auto bytes = [](const auto& list) {
    return std::string_view(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
  };
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    put_block(out, fmt::format("surface-{}-vertices", i), bytes(surfaces[i].vertices), 4);
    put_block(out, fmt::format("surface-{}-triangles", i), bytes(surfaces[i].triangles), 4);
    put_block(out, fmt::format("surface-{}-modes", i), bytes(surfaces[i].modes), 4);
  }
  out << std::string_view(page).substr(place + kPlace.size());
  return stride;
}

ReportStride write_report_file(const record::Reader& reader, double megabytes, const std::string& path, bool force) {
  OutputFile out(path, kReport, {{reader.path()}, force});
  const ReportStride stride = write_report(reader, megabytes, out.stream());
  out.publish();
  return stride;
}

int report(const ReportOptions& options, const Console& console) {
  refuse_model(options.result, "report");
  const record::Reader reader(options.result);
  const std::string path =
      options.output.empty() ? fs::path(options.result).replace_extension(".html").filename().string() : options.output;
  const ReportStride stride = write_report_file(reader, options.megabytes, path, options.force);
  std::error_code ignored;
  const double size = static_cast<double>(fs::file_size(path, ignored));
  fmt::print(console.out, "{}: {} MB, opens in any browser\n", path, number(size / 1e6, 3));
  if (stride.samples > 1)
    fmt::print(console.err, "note: it holds every {}. sample; --size gives it more room\n", whole(stride.samples));
  return kDone;
}

}  // namespace clatter::app
