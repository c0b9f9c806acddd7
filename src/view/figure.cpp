#include "view/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clatter::view {
namespace {

constexpr double kText = 8, kSmall = 7.5, kTitle = 9.5;
constexpr const char* kInk = "#222222";
constexpr const char* kFaint = "#dddddd";
constexpr const char* kMark = "#b0359a";
// Told apart by readers of all kinds of colour vision; dashes help where colour is lost.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a07800", "#56b4e9", "#000000"};
const std::vector<double> kDashes[] = {{}, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}};

Stroke curve_stroke(std::size_t i) {
  // The first of a panel are solid in different colours, then dashes begin.
  return {kColors[i % std::size(kColors)], 1.1, kDashes[i < 3 ? 0 : (i - 2) % std::size(kDashes)]};
}

std::string superscript(int n) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : fmt::format("{}", n)) out += c == '-' ? std::string("⁻") : kDigits[c - '0'];
  return out;
}

std::string with_minus(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != text.npos; at += 3) text.replace(at, 1, "−");
  return text;
}

// "ball.position.y, 10⁻³ m"
std::string axis_label(const std::string& name, const std::string& unit, int exponent) {
  std::string out = name;
  std::string scale = exponent != 0 ? "10" + superscript(exponent) : "";
  const std::string u = printed_unit(unit);
  if (!u.empty()) scale += (scale.empty() ? "" : " ") + u;
  if (!scale.empty()) out += (out.empty() ? "" : ", ") + scale;
  return out;
}

struct Panel {
  std::string unit;
  std::vector<const Curve*> curves;
  double low = 0, high = 1;
  Ticks y;
  std::vector<std::vector<std::size_t>> legend;  // rows of curves; none for a single curve that its axis names
  double top = 0, height = 0;
};

void find_range(Panel& panel, double from, double to) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Curve* c : panel.curves)
    for (std::size_t i = 0; i < c->y.size(); ++i) {
      if (c->x[i] < from || c->x[i] > to) continue;
      low = std::min(low, c->y[i]);
      high = std::max(high, c->y[i]);
    }
  if (!(high >= low)) low = 0, high = 1;
  const double size = std::max(std::abs(low), std::abs(high));
  // A constant, with the noise of rounding or without.
  const double pad = high - low <= 1e-12 * size ? (size > 0 ? 0.1 * size : 1) : 0.05 * (high - low);
  panel.low = low - pad;
  panel.high = high + pad;
}

class Drawing {
 public:
  Drawing(const Figure& figure, Canvas& canvas) : figure_(figure), canvas_(canvas) {}

  void draw() {
    arrange();
    if (!figure_.title.empty())
      canvas_.text({left_, kTitle + 4}, figure_.title, {kTitle, Anchor::start, false, true, kInk});
    for (const Panel& panel : panels_) {
      draw_frame(panel);
      draw_curves(panel);
      draw_legend(panel);
    }
    draw_x_labels();
  }

 private:
  void arrange() {
    for (const Curve& curve : figure_.curves) {
      auto panel = std::find_if(panels_.begin(), panels_.end(), [&](const Panel& p) { return p.unit == curve.unit; });
      if (panel == panels_.end()) panel = panels_.insert(panels_.end(), Panel{curve.unit, {}, 0, 1, {}, {}, 0, 0});
      panel->curves.push_back(&curve);
    }
    constexpr double kGap = 10, kRight = 12, kBelow = 32;
    const double above = figure_.title.empty() ? 6 : kTitle + 12;
    right_ = figure_.width - kRight;

    double widest = 0;
    for (Panel& panel : panels_) find_range(panel, figure_.x_from, figure_.x_to);
    const double share = (figure_.height - above - kBelow) / static_cast<double>(panels_.size());
    for (Panel& panel : panels_) {
      const double wanted = std::max(18.0, std::min(34.0, share / 4));
      panel.y = ticks(panel.low, panel.high, (panel.high - panel.low) * wanted / share);
      for (const std::string& label : panel.y.labels) widest = std::max(widest, canvas_.text_width(label, kSmall));
    }
    left_ = widest + kText + 16;

    double top = above;
    for (Panel& panel : panels_) {
      const std::string label = axis_label(panel.curves[0]->name, panel.unit, panel.y.exponent);
      if (panel.curves.size() > 1 || canvas_.text_width(label, kText) > share - kGap) {
        double x = left_;
        panel.legend.emplace_back();
        for (std::size_t i = 0; i < panel.curves.size(); ++i) {
          const double width = kSample + 5 + canvas_.text_width(panel.curves[i]->name, kSmall) + 14;
          if (x + width > right_ + 14 && !panel.legend.back().empty()) {
            panel.legend.emplace_back();
            x = left_;
          }
          panel.legend.back().push_back(i);
          x += width;
        }
      }
      const double words = kLine * static_cast<double>(panel.legend.size()) + (panel.legend.empty() ? 0 : 3);
      panel.top = top + words;
      panel.height = share - words - (&panel == &panels_.back() ? 0 : kGap);
      top += share;
    }
    x_ = ticks(figure_.x_from, figure_.x_to, (figure_.x_to - figure_.x_from) * 45 / (right_ - left_));
  }

  double x(double value) const {
    return left_ + (value - figure_.x_from) / (figure_.x_to - figure_.x_from) * (right_ - left_);
  }
  static double y(const Panel& p, double value) { return p.top + p.height * (p.high - value) / (p.high - p.low); }
  void segment(Point a, Point b, const Stroke& stroke) {
    const Point ends[] = {a, b};
    canvas_.polyline(ends, stroke);
  }

  void draw_frame(const Panel& p) {
    const double bottom = p.top + p.height;
    for (const double v : x_.values) segment({x(v), p.top}, {x(v), bottom}, {kFaint, 0.4, {}});
    for (const double v : p.y.values) segment({left_, y(p, v)}, {right_, y(p, v)}, {kFaint, 0.4, {}});
    for (const double t : figure_.marks)
      if (t >= figure_.x_from && t <= figure_.x_to) segment({x(t), p.top}, {x(t), bottom}, {kMark, 0.4, {1.5, 1.5}});
    const Point box[] = {{left_, p.top}, {right_, p.top}, {right_, bottom}, {left_, bottom}, {left_, p.top}};
    canvas_.polyline(box, {kInk, 0.6, {}});
    for (const double v : x_.values) segment({x(v), bottom}, {x(v), bottom - 3}, {kInk, 0.6, {}});
    for (std::size_t i = 0; i < p.y.values.size(); ++i) {
      const double at = y(p, p.y.values[i]);
      segment({left_, at}, {left_ + 3, at}, {kInk, 0.6, {}});
      canvas_.text({left_ - 4, at + 0.35 * kSmall}, p.y.labels[i], {kSmall, Anchor::end, false, false, kInk});
    }
    const std::string name = p.legend.empty() ? p.curves[0]->name : "";
    canvas_.text({kText + 2, p.top + p.height / 2}, axis_label(name, p.unit, p.y.exponent),
                 {kText, Anchor::middle, true, false, kInk});
  }

  void draw_curves(const Panel& p) {
    canvas_.clip({left_, p.top}, right_ - left_, p.height);
    std::vector<Point> points;
    for (std::size_t i = 0; i < p.curves.size(); ++i) {
      points.clear();
      for (std::size_t k = 0; k < p.curves[i]->x.size(); ++k)
        points.push_back({x(p.curves[i]->x[k]), y(p, p.curves[i]->y[k])});
      canvas_.polyline(points, curve_stroke(i));
    }
    canvas_.unclip();
  }

  void draw_legend(const Panel& p) {
    double base = p.top - kLine * static_cast<double>(p.legend.size()) + kSmall - 2;
    for (const std::vector<std::size_t>& row : p.legend) {
      double at = left_;
      for (const std::size_t i : row) {
        segment({at, base - 2.5}, {at + kSample, base - 2.5}, curve_stroke(i));
        canvas_.text({at + kSample + 5, base}, p.curves[i]->name, {kSmall, Anchor::start, false, false, kInk});
        at += kSample + 5 + canvas_.text_width(p.curves[i]->name, kSmall) + 14;
      }
      base += kLine;
    }
  }

  void draw_x_labels() {
    if (panels_.empty()) return;
    const double bottom = panels_.back().top + panels_.back().height;
    for (std::size_t i = 0; i < x_.values.size(); ++i)
      canvas_.text({x(x_.values[i]), bottom + kSmall + 3}, x_.labels[i], {kSmall, Anchor::middle, false, false, kInk});
    canvas_.text({(left_ + right_) / 2, bottom + 2 * kSmall + 9},
                 axis_label(figure_.x_label, figure_.x_unit, x_.exponent), {kText, Anchor::middle, false, false, kInk});
  }

  static constexpr double kSample = 18, kLine = 11;
  const Figure& figure_;
  Canvas& canvas_;
  std::vector<Panel> panels_;
  double left_ = 40, right_ = 400;
  Ticks x_;
};

}  // namespace

void draw(const Figure& figure, Canvas& canvas) { Drawing(figure, canvas).draw(); }

Ticks ticks(double low, double high, double wanted_step) {
  Ticks out;
  if (!(high > low) || !(wanted_step > 0)) return out;
  const double power = std::pow(10, std::floor(std::log10(wanted_step)));
  double step = 10 * power;
  for (const double lead : {1.0, 2.0, 2.5, 5.0})
    if (lead * power >= wanted_step * (1 - 1e-9)) {
      step = lead * power;
      break;
    }
  const double size = std::max(std::abs(low), std::abs(high));
  if (size >= 1e5 || size < 1e-2) out.exponent = 3 * static_cast<int>(std::floor(std::log10(size) / 3));
  const double scale = std::pow(10, out.exponent);
  // Digits that tell neighbours apart: those of the step.
  const double shown = step / scale;
  int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(shown) - 1e-9)));
  if (std::abs(shown * std::pow(10, digits) - std::round(shown * std::pow(10, digits))) > 1e-6) ++digits;  // 2.5
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    const double value = i * step;
    out.values.push_back(value);
    out.labels.push_back(i == 0 ? "0" : with_minus(fmt::format("{:.{}f}", value / scale, digits)));
  }
  return out;
}

std::string printed_unit(const std::string& unit) {
  if (unit == "1") return "";
  std::string out;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit[i] == '^') {
      int n = 0;
      int sign = 1;
      while (i + 1 < unit.size() && (unit[i + 1] == '-' || (unit[i + 1] >= '0' && unit[i + 1] <= '9'))) {
        ++i;
        if (unit[i] == '-')
          sign = -1;
        else
          n = 10 * n + (unit[i] - '0');
      }
      out += superscript(sign * n);
    } else if (unit[i] == '*') {
      out += "·";
    } else {
      out += unit[i];
    }
  }
  return out;
}

}  // namespace clatter::view
