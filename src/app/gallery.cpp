#include "app/gallery.hpp"

#include <algorithm>

#include "view/figure.hpp"
#include "view/json.hpp"

namespace clatter::app {

const Check& pictured(const std::vector<Check>& checks) {
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [](const Check& check) { return !check.quantity.starts_with("energy."); });
  return found == checks.end() ? checks.front() : *found;
}

void draw_course(const CourseSink& course, const std::string& quantity, const std::string& unit,
                 const std::string& path, bool force) {
  view::Figure figure;
  figure.x_label = "t";
  figure.x_unit = "s";
  figure.x_from = course.t().front();
  figure.x_to = std::max(course.t().back(), figure.x_from + 1e-9);
  figure.width = 360;
  figure.height = 180;
  // A small picture: the least and the greatest of every stretch of samples keep its outline.
  constexpr std::size_t kStretches = 400;
  view::Curve curve{quantity, unit, {}, {}};
  const std::size_t count = course.t().size(), length = std::max<std::size_t>(1, count / kStretches);
  for (std::size_t first = 0; first < count; first += length) {
    const auto begin = course.x().begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = course.x().begin() + static_cast<std::ptrdiff_t>(std::min(count, first + length));
    auto [low, high] = std::minmax_element(begin, end);
    if (high < low) std::swap(low, high);
    for (const auto& it : {low, high}) {
      curve.x.push_back(course.t()[static_cast<std::size_t>(it - course.x().begin())]);
      curve.y.push_back(*it);
    }
  }
  figure.curves.push_back(std::move(curve));
  constexpr std::size_t kMostMarks = 60;
  if (course.events().size() <= kMostMarks) figure.marks = course.events();
  const auto canvas = view::svg_canvas(figure.width, figure.height, quantity);
  view::draw(figure, *canvas);
  write_file(path, canvas->finish(), view::kFigure, {{}, force});
}

std::string gallery_json(const std::string& model, const std::string& picture, const study::Summary& summary) {
  view::Json json;
  json.object().put("model", model).put("title", summary.title).put("picture", picture);
  json.put("method", summary.method).put("seconds", summary.wall);
  json.key("checks").array();
  for (const study::CheckResult& r : summary.checks) {
    json.object().put("quantity", study::describe(r.check)).put("published", r.check.value);
    json.key("computed");
    if (r.known) {
      json.number(r.computed);
    } else {
      json.null();
    }
    json.put("tolerance", r.check.tolerance).put("ok", r.ok()).put("source", r.check.from).end();
  }
  return json.end().end().take();
}

}  // namespace clatter::app
