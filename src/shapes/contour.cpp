#include "shapes/contour.hpp"

#include <algorithm>
#include <cmath>

#include "model/formula.hpp"

namespace clatter::contact {

bool is_contour(ContactShape::Kind kind) {
  return kind == ContactShape::Kind::ellipse || kind == ContactShape::Kind::curve || kind == ContactShape::Kind::spline;
}

ContourPoint contour_at(const Geometry& g, double s) {
  ContourPoint p;
  if (g.closed) s = contour_wrap(g, s);
  switch (g.kind) {
    case ContactShape::Kind::ellipse: {
      const double c = std::cos(s), d = std::sin(s), a = g.size.x(), b = g.size.y();
      p.r = {a * c, b * d};
      p.d1 = {-a * d, b * c};
      p.d2 = -p.r;
      p.d3 = -p.d1;
      return p;
    }
    case ContactShape::Kind::curve: {
      const auto x = formula_at(*g.x, s), y = formula_at(*g.y, s);
      p.r = {x[0], y[0]};
      p.d1 = {x[1], y[1]};
      p.d2 = {x[2], y[2]};
      p.d3 = {x[3], y[3]};
      return p;
    }
    default: {
      const auto above = std::upper_bound(g.knots.begin(), g.knots.end(), s);
      const auto last = static_cast<std::ptrdiff_t>(g.spline.size()) - 1;
      const auto i = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - g.knots.begin() - 1, 0, last));
      const double u = s - g.knots[i];
      const auto& c = g.spline[i];
      p.r = c.row(0) + u * (c.row(1) + u * (c.row(2) + u * c.row(3)));
      p.d1 = c.row(1) + u * (2 * c.row(2) + 3 * u * c.row(3));
      p.d2 = 2 * c.row(2) + 6 * u * c.row(3);
      p.d3 = 6 * c.row(3);
      return p;
    }
  }
}

double contour_wrap(const Geometry& g, double s) {
  if (!g.closed) return std::clamp(s, g.from, g.to);
  const double period = g.to - g.from;
  return s - period * std::floor((s - g.from) / period);
}

double sample_parameter(const Geometry& g, int i) {
  const auto intervals = static_cast<double>(g.points.size()) - (g.closed ? 0 : 1);
  return g.from + (g.to - g.from) * i / intervals;
}

}  // namespace clatter::contact
