// `clatter plot`: quantities of a result as a figure for a paper.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <ostream>

#include "app/commands.hpp"
#include "app/result_page.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "record/export.hpp"
#include "study/channels.hpp"
#include "view/blocks.hpp"
#include "view/figure.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

struct Number {
  std::string name, unit;
  std::size_t channel = 0;
  int component = 0;  // -1: length of the vector
};

// Every number a result records, by name, and the lengths of vectors as |rod.velocity|.
std::vector<Number> recorded_numbers(const record::Reader& reader) {
  std::vector<Number> all;
  for (std::size_t i = 0; i < reader.channels().size(); ++i) {
    const record::Channel& c = reader.channels()[i];
    const std::string name = study::quantity_of_channel(c.name);
    if (c.single) continue;  // a field over a skin is no curve
    for (int k = 0; k < c.width; ++k)
      all.push_back(
          {c.components.empty() ? name : name + "." + c.components[static_cast<std::size_t>(k)], c.unit, i, k});
    if (c.width == 3) all.push_back({"|" + name + "|", c.unit, i, -1});
  }
  return all;
}

// What a name stands for: a number, all components of a vector, or everything that matches a glob.
std::vector<Number> chosen(const record::Reader& reader, const std::vector<Number>& all, const std::string& name) {
  std::vector<Number> found;
  for (const Number& n : all) {
    const bool length = n.name.front() == '|' && name.front() != '|';
    const std::string owner = study::quantity_of_channel(reader.channels()[n.channel].name);
    if (!length && (record::matches_glob(name, n.name) || name == owner)) found.push_back(n);
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const Number& n : all) known.push_back(n.name);
  throw InputError(fmt::format("{} records no `{}`", reader.path(), name), did_you_mean(name, known));
}

enum class Format { svg, pdf, png };

Format format_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".svg") return Format::svg;
  if (extension == ".pdf") return Format::pdf;
  if (extension == ".png") return Format::png;
  throw InputError(fmt::format("the figure `{}` has no known format", path), "end its name in .svg, .pdf or .png");
}

view::Curve over_time(const record::Reader& reader, const Number& n, double from, double to) {
  constexpr std::uint64_t kPoints = 6000;
  view::Series s = view::series(reader, {view::TableName::samples, n.channel, n.component, from, to, kPoints});
  return {n.name, n.unit, std::move(s.t), std::move(s.x)};
}

// Against another quantity extremes say nothing, so rows are skipped evenly.
std::vector<double> every_row(const record::Reader& reader, const Number& n, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kRows = 20000, kBlock = 1U << 16U;
  const std::uint64_t stride = std::max<std::uint64_t>(1, (last - first) / kRows);
  std::vector<double> x;
  for (std::uint64_t at = first; at < last; at += kBlock - kBlock % stride) {
    const record::RowMatrix rows =
        reader.read(reader.channels()[n.channel].name, at, std::min(kBlock - kBlock % stride, last - at));
    for (Eigen::Index i = 0; i < rows.rows(); i += static_cast<Eigen::Index>(stride))
      x.push_back(n.component < 0 ? rows.row(i).norm() : rows(i, n.component));
  }
  return x;
}

}  // namespace

int plot(const PlotOptions& options, const Console& console) {
  refuse_model(options.result, "plot");
  const record::Reader reader(options.result);
  const Format format = format_of(options.output);
  OutputFile out(options.output, view::kFigure, {{options.result}, options.force});
  const std::vector<Number> all = recorded_numbers(reader);
  std::vector<Number> numbers;
  for (const std::string& name : options.quantities)
    for (const Number& n : chosen(reader, all, name))
      if (std::none_of(numbers.begin(), numbers.end(), [&](const Number& other) { return other.name == n.name; }))
        numbers.push_back(n);
  constexpr std::size_t kMost = 40;
  if (numbers.size() > kMost)
    throw InputError(fmt::format("{} curves are too many for a figure", numbers.size()), "name fewer quantities");
  const std::uint64_t rows = reader.rows().samples;
  if (rows < 2) throw InputError(fmt::format("{} has {}, nothing to plot", options.result, counted(rows, "sample")));

  view::Figure figure;
  constexpr double kPointsPerMillimetre = 72 / 25.4;
  figure.width = options.width * kPointsPerMillimetre;
  figure.height = options.height * kPointsPerMillimetre;
  figure.title = options.title;
  const double start = reader.times(0, 1).front(), end = reader.times(rows - 1, 1).front();
  const double from = options.from.value_or(start), to = options.to.value_or(end);
  if (!(to > from)) throw InputError(fmt::format("--from {} must lie before --to {}", number(from), number(to)));
  if (from > end || to < start)
    throw InputError(fmt::format("the result goes from {} s to {} s", number(start), number(end)),
                     "choose --from and --to inside");
  if (options.over.empty()) {
    figure.x_label = "t";
    figure.x_unit = "s";
    figure.x_from = from;
    figure.x_to = to;
    for (const Number& n : numbers) figure.curves.push_back(over_time(reader, n, from, to));
    if (options.events) {
      // More lines than can be told apart would hide the curves.
      constexpr std::size_t kMostMarks = 200;
      for (const record::Event& e : reader.events()) {
        if (e.t < from || e.t > to) continue;
        if (figure.marks.empty() || e.t > figure.marks.back()) figure.marks.push_back(e.t);
      }
      if (figure.marks.size() > kMostMarks) {
        fmt::print(console.err, "note: {} are too many to mark; --from and --to choose a part\n",
                   counted(figure.marks.size(), "event"));
        figure.marks.clear();
      }
    }
  } else {
    const std::vector<Number> over = chosen(reader, all, options.over);
    if (over.size() != 1)
      throw InputError(fmt::format("--over needs one number, `{}` has {}", options.over, over.size()),
                       fmt::format("for example  --over {}", over.front().name));
    const std::uint64_t first = view::row_at(reader, view::TableName::samples, from);
    const std::uint64_t last =
        view::row_at(reader, view::TableName::samples, std::nextafter(to, std::numeric_limits<double>::max()));
    const std::vector<double> x = every_row(reader, over.front(), first, last);
    figure.x_label = over.front().name;
    figure.x_unit = over.front().unit;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const double pad = *high > *low ? 0.04 * (*high - *low) : std::max(0.1 * std::abs(*low), 1e-12);
    figure.x_from = *low - pad;
    figure.x_to = *high + pad;
    for (const Number& n : numbers) figure.curves.push_back({n.name, n.unit, x, every_row(reader, n, first, last)});
  }

  const std::string title = figure.title.empty() ? fs::path(options.result).stem().string() : figure.title;
  const std::unique_ptr<view::Canvas> canvas =
      format == Format::svg   ? view::svg_canvas(figure.width, figure.height, title)
      : format == Format::pdf ? view::pdf_canvas(figure.width, figure.height, title)
                              : view::png_canvas(figure.width, figure.height, options.dots_per_inch);
  view::draw(figure, *canvas);
  out.stream() << canvas->finish();
  out.publish();
  fmt::print(console.out, "{}: {}\n", options.output, counted(figure.curves.size(), "curve"));
  return kDone;
}

}  // namespace clatter::app
