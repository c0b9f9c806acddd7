// `clatter STUDY MODEL`: asks a model, with progress, and prints the answer as a table or writes it as CSV.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cstdio>
#include <filesystem>
#include <ostream>

#include "app/body_making.hpp"
#include "app/commands.hpp"
#include "app/progress.hpp"
#include "app/stop_signals.hpp"
#include "app/summary_text.hpp"
#include "app/text.hpp"
#include "base/output_file.hpp"
#include "study/changes.hpp"
#include "study/input_files.hpp"
#include "study/study.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

using study::ResultTable;

constexpr OutputKind kAnswer{"a table of a study", "study,", OutputKind::At::start};

std::string heading(const ResultTable::Column& column, const char* form) {
  return column.unit.empty() ? column.name : fmt::format(fmt::runtime(form), column.name, column.unit);
}

std::string table_text(const ResultTable& table) {
  std::vector<std::string> names;
  std::vector<Table::Align> align;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    names.push_back(heading(table.columns[i], "{}/{}"));
    const bool words = !table.rows.empty() && std::holds_alternative<std::string>(table.rows.front()[i]);
    align.push_back(words ? Table::Align::left : Table::Align::right);
  }
  Table out(names, align);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const ResultTable::Cell& cell : row)
      cells.push_back(std::holds_alternative<double>(cell) ? number(std::get<double>(cell), 8)
                                                           : std::get<std::string>(cell));
    out.row(std::move(cells));
  }
  return out.text();
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Numbers with all their digits; the study's word in front of every row, so that tables can be put together.
void write_csv(std::string_view study, const ResultTable& table, std::ostream& out) {
  out << "study";
  for (const ResultTable::Column& column : table.columns) fmt::print(out, ",{}", quoted(heading(column, "{} [{}]")));
  for (const auto& row : table.rows) {
    out << "\n" << study;
    for (const ResultTable::Cell& cell : row) {
      if (std::holds_alternative<double>(cell))
        fmt::print(out, ",{}", std::get<double>(cell));
      else
        fmt::print(out, ",{}", quoted(std::get<std::string>(cell)));
    }
  }
  out << "\n";
}

study::Answer answered(const study::Study& question, const AskOptions& options, study::Prepared& prepared) {
  const StopSignals signals;
  StageBar bar(std::string(question.name()), options.quiet);
  study::Request request;
  request.stop = &StopSignals::requested();
  request.progress = [&](const study::Progress& p) {
    bar.update(fmt::format("{} at {:.4g}", counted(p.steps, "step"), p.at), p.done);
  };
  return question.run(prepared, request);
}

}  // namespace

int ask(const AskOptions& options, const Console& console) {
  const study::Study& question = study::study_named(options.study);
  study::Prepared prepared =
      study::prepare(study::load_changed(options.model, options.changes, making_shown(options.quiet)));
  const Model& model = prepared.system->model;
  std::optional<OutputFile> file;
  if (options.csv && *options.csv != "-")
    file.emplace(
        options.csv->empty() ? fs::path(options.model).filename().replace_extension(".csv").string() : *options.csv,
        kAnswer, OutputRules{study::files_of(model), options.force});
  const study::Answer answer = answered(question, options, prepared);
  if (options.csv && *options.csv == "-") {
    write_csv(question.name(), answer.table, console.out);
  } else {
    fmt::print(console.out, "{}{}, {}\n{}", model.title.empty() ? "" : model.title + ": ", answer.method,
               duration(answer.wall), table_text(answer.table));
    for (const std::string& note : answer.notes) fmt::print(console.out, "  note: {}\n", note);
    for (const std::string& warning : answer.warnings) fmt::print(console.out, "  warning: {}\n", warning);
    if (!answer.checks.empty()) fmt::print(console.out, "\n{}", checks_table(answer.checks));
  }
  if (file) {
    write_csv(question.name(), answer.table, file->stream());
    file->publish();
    fmt::print(console.out, "table: {}\n", file->path());
  }
  if (answer.status == study::Status::failed) {
    fmt::print(console.err, "error: the solve failed: {}\n", answer.failure->what());
    return kSolveFailed;
  }
  if (answer.status == study::Status::stopped) {
    fmt::print(console.err, "interrupted at {}\n", number(answer.reached));
    return kInterrupted;
  }
  return kDone;
}

}  // namespace clatter::app
