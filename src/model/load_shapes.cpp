// Shapes that may touch: as described under `shapes`, or the solid of a body (of a beam: its sides, load_sides.cpp).
//
// The solid of a planar body becomes its section with the x-y plane: sphere, and cylinder or capsule along z, a circle;
// box, and cylinder in the plane, a rectangle.
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

namespace {

using Kind = ContactShape::Kind;

constexpr double in_plane = 1e-9;  // what rounding of rotations may leave outside the plane
constexpr double meets = 1e-6;     // of a closed curve's size: how well its ends fit

Kind kind_named(const std::string& type) {
  static const std::vector<std::pair<std::string, Kind>> kinds{
      {"line", Kind::line},   {"circle", Kind::circle},   {"polygon", Kind::polygon},   {"ellipse", Kind::ellipse},
      {"curve", Kind::curve}, {"spline", Kind::spline},   {"plane", Kind::plane},       {"sphere", Kind::sphere},
      {"box", Kind::box},     {"capsule", Kind::capsule}, {"cylinder", Kind::cylinder}, {"polytope", Kind::polytope}};
  for (const auto& [name, kind] : kinds)
    if (name == type) return kind;
  return Kind::sphere;
}

bool about_z(const Quat& q) { return std::hypot(q.x(), q.y()) <= in_plane; }

double turn(const Vec3& a, const Vec3& b, const Vec3& c) {
  return (b.x() - a.x()) * (c.y() - b.y()) - (b.y() - a.y()) * (c.x() - b.x());
}

// Two sides that have a point in common inside both, counted from 1; {0, 0}: none.
std::pair<std::size_t, std::size_t> crossing_sides(const std::vector<Vec3>& p) {
  const std::size_t n = p.size();
  const auto apart = [&](std::size_t side, std::size_t other) {  // ends of `other` on both sides of `side`
    const Vec3 &a = p[side], &b = p[(side + 1) % n];
    return turn(a, b, p[other]) * turn(a, b, p[(other + 1) % n]) < 0;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 2; j < n; ++j)
      if (apart(i, j) && apart(j, i)) return {i + 1, j + 1};
  return {0, 0};
}

// What is wrong with a polygon, or empty; to be convex and counter-clockwise it turns left at every corner, once round.
std::string polygon_mistake(const std::vector<Vec3>& p, std::string& hint) {
  const std::size_t n = p.size();
  const auto at = [&](std::size_t i) -> const Vec3& { return p[i % n]; };
  double area = 0, scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if ((at(i + 1) - p[i]).norm() == 0)
      return fmt::format("corner {} of the polygon is the same as corner {}", (i + 1) % n + 1, i + 1);
    area += (p[i].x() - p[0].x()) * (at(i + 1).y() - p[0].y()) - (p[i].y() - p[0].y()) * (at(i + 1).x() - p[0].x());
    scale = std::max(scale, (p[i] - p[0]).squaredNorm());
  }
  if (const auto [one, other] = crossing_sides(p); one > 0) {
    hint = "list the corners in their order round the polygon";
    return fmt::format("the polygon crosses itself: its sides {} and {} meet", one, other);
  }
  if (!(std::abs(area) > 1e-12 * scale)) return "the corners of the polygon lie on a line";
  if (area < 0) {
    hint = "turn the list around";
    return "the corners of the polygon go clockwise; they must go counter-clockwise";
  }
  double winding = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 in = (at(i + 1) - at(i)).normalized(), out = (at(i + 2) - at(i + 1)).normalized();
    const double left = turn(Vec3::Zero(), in, in + out);
    winding += std::atan2(left, in.dot(out));
    if (left > 1e-12) continue;
    if (left > -1e-12 && in.dot(out) > 0) {
      hint = "leave it out";
      return fmt::format("corner {} of the polygon lies on the line between its neighbours", (i + 1) % n + 1);
    }
    hint = "a body may carry several shapes: divide the polygon into convex ones";
    return fmt::format("the polygon is not convex at corner {}", (i + 1) % n + 1);
  }
  if (winding > 7) return "the polygon crosses itself";  // beyond 2 pi: round more than once
  return {};
}

// Do four of the points span a volume?
bool spatial(const std::vector<Vec3>& p) {
  Mat3 spread = Mat3::Zero();
  Vec3 mean = Vec3::Zero();
  double size = 0;
  for (const auto& x : p) mean += x / static_cast<double>(p.size());
  for (const auto& x : p) size = std::max(size, (x - mean).cwiseAbs().maxCoeff());
  if (size == 0) return false;
  for (const auto& x : p) spread += (x - mean) / size * ((x - mean) / size).transpose();
  const double trace = spread.trace();
  return spread.determinant() > 1e-13 * trace * trace * trace;  // rounding leaves less than that of a plane
}

}  // namespace

// --- described shapes ------------------------------------------------------------------------------------------------

void Loader::contact_shape(const Scope& scope, const YamlNode::Entry& e) {
  count_object(e);
  if (!valid_name(e, "shape")) return;
  ContactShape s;
  s.name = scope.prefix + e.key;
  s.source = mistakes_.source(e);
  const auto [it, fresh] = shape_index_.emplace(s.name, NamedShape{{}, s.source});
  if (!fresh) {
    const Source& first = it->second.source;
    if (first.file != s.source.file)  // twice in one map has been reported
      mistakes_.add(s.source, fmt::format("the name `{}` is already taken", e.key),
                    fmt::format("first used in {}:{}:{}", first.file, first.line, first.column));
    return;
  }
  const Object o(reader_, *e.node, object_spec("contact-shape"), fmt::format("shape `{}`", s.name), scope);
  if (!o.ok()) return;
  const std::size_t before = mistakes_.count();
  const auto type = o.word("type");
  if (o.has("on"))
    if (auto a = named_place(*o.find("on"), scope)) s.at = std::move(*a);
  it->second.body = s.at.body;
  if (!type || !o.has("on")) return;
  o.check_type(*type);
  if (*type == "sides") {
    if (mistakes_.count() == before) sides(o, s.at, it->second, s.name);
    return;
  }
  s.at.placement = s.at.placement * placement(o);
  s.kind = kind_named(*type);
  shape_size(o, s);
  if (mistakes_.count() != before) return;
  if (ContactShape::planar(s.kind) && planar(s.at.body)) {
    if (!about_z(s.at.placement.rotation))
      o.mistake("on", fmt::format("{} is turned out of the x-y plane, in which its body moves", o.what()));
    if (std::abs(s.at.placement.position.z()) > in_plane)
      o.mistake("on", fmt::format("{} leaves the x-y plane, in which its body moves", o.what()));
  }
  if (mistakes_.count() != before) return;
  it->second.row = {static_cast<int>(model_.shapes.size()), 1};
  model_.shapes.push_back(std::move(s));
}

void Loader::shape_size(const Object& o, ContactShape& s) {
  switch (s.kind) {
    case Kind::line:
      s.length = o.positive("length").value_or(0);
      break;
    case Kind::plane:
      break;
    case Kind::circle:
    case Kind::sphere:
      s.hollow = o.boolean("hollow").value_or(false);
      if (o.require("radius")) s.radius = (s.hollow ? o.positive("radius") : o.not_negative("radius")).value_or(0);
      break;
    case Kind::capsule:
    case Kind::cylinder:
      if (o.require("radius")) s.radius = o.positive("radius").value_or(0);
      if (o.require("length")) s.length = o.positive("length").value_or(0);
      break;
    case Kind::box:
      if (!o.require("size", "edges [x, y, z]")) break;
      s.size = o.vector("size", false).value_or(Vec3::Ones());
      if (!(s.size.minCoeff() > 0))
        mistakes_.add(*o.find("size"), fmt::format("the edges of {} must be positive", o.what()));
      break;
    case Kind::ellipse: {
      if (!o.require("semi_axes", "[a, b], along x and y")) break;
      const YamlNode& n = *o.find("semi_axes");
      const auto a = reader_.list(n, o.scope(), o.dimension("semi_axes"));
      if (!a) break;
      if (a->size() != 2)
        mistakes_.add(n, fmt::format("an ellipse has two semi-axes [a, b], these are {}", a->size()));
      else if (!((*a)[0] > 0 && (*a)[1] > 0))
        mistakes_.add(n, "the semi-axes of an ellipse must be positive");
      else
        s.size = Vec3((*a)[0], (*a)[1], 0);
      break;
    }
    case Kind::curve:
      shape_curve(o, s);
      break;
    case Kind::polygon:
    case Kind::spline:
    case Kind::polytope:
      shape_points(o, s);
      break;
  }
}

void Loader::shape_points(const Object& o, ContactShape& s) {
  const bool flat = s.kind != Kind::polytope;
  s.closed = s.kind == Kind::polygon || (s.kind == Kind::spline && o.boolean("closed").value_or(false));
  if (!o.require("points", flat ? "[[x, y], ...]" : "[[x, y, z], ...]")) return;
  const YamlNode& n = *o.find("points");
  const std::size_t before = mistakes_.count();
  if (n.kind != YamlNode::Kind::list) {
    mistakes_.add(n, fmt::format("a list of points was expected, this is {}", kind_name(n)));
    return;
  }
  for (const YamlNode* item : n.items) {
    if (item->kind != YamlNode::Kind::list || item->items.size() != (flat ? 2u : 3u)) {
      mistakes_.add(*item, fmt::format("a point of {} is {}", o.what(), flat ? "[x, y]" : "[x, y, z]"));
      continue;
    }
    if (const auto p = reader_.vector(*item, o.scope(), o.dimension("points"))) s.points.push_back(*p);
  }
  if (mistakes_.count() != before) return;
  std::size_t least = 2;
  if (s.closed) least = 3;
  if (!flat) least = 4;
  if (s.points.size() < least) {
    mistakes_.add(n, fmt::format("{} needs at least {} points, these are {}", o.what(), least, s.points.size()));
    return;
  }
  if (!flat) {
    if (!spatial(s.points)) mistakes_.add(n, fmt::format("the points of {} lie in a plane", o.what()));
    return;
  }
  if (s.kind == Kind::polygon) {
    std::string hint;
    const std::string wrong = polygon_mistake(s.points, hint);
    if (!wrong.empty()) mistakes_.add(n, wrong, hint);
    return;
  }
  for (std::size_t i = 1; i < s.points.size(); ++i)
    if (s.points[i] == s.points[i - 1])
      mistakes_.add(*n.items[i], fmt::format("point {} of {} is the same as point {}", i + 1, o.what(), i));
  if (s.closed && s.points.front() == s.points.back())
    mistakes_.add(*n.items.back(), fmt::format("the last point of {} is its first", o.what()),
                  "a closed spline returns by itself: leave the last point out");
}

void Loader::shape_curve(const Object& o, ContactShape& s) {
  const std::size_t before = mistakes_.count();
  const auto formula = [&](const char* key) -> std::shared_ptr<const Expression> {
    if (!o.require(key, "a formula of `s`")) return {};
    const auto f = reader_.function(*o.find(key), o.scope(), o.dimension(key), {{"s", std::nullopt}}, false, false);
    if (!f) return {};
    if (f->expression) return f->expression;
    // A coordinate that stays the same: still a function of s.
    return parse_expression(fmt::format("({}) + 0*s", f->constant))
        .bind([](const std::string&) { return Symbol{}; }, {"s"})
        .expression;
  };
  s.x = formula("x");
  s.y = formula("y");
  if (o.require("from", "the first value of `s`")) s.from = o.number_or("from", 0);
  if (o.require("to", "the last value of `s`")) s.to = o.number_or("to", 1);
  s.closed = o.boolean("closed").value_or(false);
  if (mistakes_.count() != before) return;
  if (!(s.to > s.from)) {
    o.mistake("to", fmt::format("`to` ({:.6g}) must be larger than `from` ({:.6g})", s.to, s.from));
    return;
  }
  constexpr int samples = 16;
  std::array<Vec3, samples + 1> p;
  double size = 0;
  for (int i = 0; i <= samples; ++i) {
    const double at[] = {s.from + (s.to - s.from) * i / samples};
    Vec3& r = p[static_cast<std::size_t>(i)] = Vec3(s.x->value(at), s.y->value(at), 0);
    if (!r.allFinite()) {
      mistakes_.add(o.node(), fmt::format("{} is not finite at s = {:.6g}", o.what(), at[0]));
      return;
    }
    size = std::max(size, (r - p[0]).norm());
  }
  if (size == 0)
    mistakes_.add(o.node(), fmt::format("{} does not move with `s`", o.what()),
                  "the parameter follows a factor with blanks around it: 5 mm * s; `mm*s` is a unit");
  else if (s.closed && !((p.back() - p.front()).norm() <= meets * size))
    o.mistake("closed", fmt::format("the ends of {} do not meet: ({:.6g}, {:.6g}) and ({:.6g}, {:.6g})", o.what(),
                                    p.front().x(), p.front().y(), p.back().x(), p.back().y()));
}

// --- solids of bodies ------------------------------------------------------------------------------------------------

bool Loader::touchable(int body_number) const {
  const Body& b = model_.bodies[static_cast<std::size_t>(body_number)];
  const Shape& s = b.shape;
  return b.beam || (s.kind != Shape::Kind::none && (s.kind != Shape::Kind::rod || s.size.x() > 0));
}

std::vector<int> Loader::shapes_of_body(int body_number, const YamlNode& used) {
  std::vector<int> found;
  const auto [known, fresh] = body_shape_index_.emplace(body_number, ShapeRow{});
  ShapeRow& row = known->second;
  if (!fresh) {
    row.append_to(found);
    return found;
  }
  const Body& b = model_.bodies[static_cast<std::size_t>(body_number)];
  if (b.beam) {
    const std::string wrong = add_sides(body_number, {}, b.name, b.source, row);
    if (!wrong.empty())
      mistakes_.add(used, wrong, "describe what touches under `shapes`: {on: " + b.name + ", type: sides, ...}");
    row.append_to(found);
    return found;
  }
  const Shape& solid = b.shape;
  ContactShape s;
  s.name = b.name;
  s.source = b.source;
  s.at = {body_number, solid.placement, b.name, b.source};
  const bool round = solid.kind != Shape::Kind::box;
  if (round) s.radius = solid.size.x();
  if (round && solid.kind != Shape::Kind::sphere) s.length = solid.size.y();
  if (!planar(body_number)) {
    if (solid.kind == Shape::Kind::box) s.size = solid.size;
    s.kind = solid.kind == Shape::Kind::box       ? Kind::box
             : solid.kind == Shape::Kind::sphere  ? Kind::sphere
             : solid.kind == Shape::Kind::capsule ? Kind::capsule
                                                  : Kind::cylinder;
  } else if (!section(solid, s)) {
    mistakes_.add(used, fmt::format("the solid of planar body `{}` has no simple section with the x-y plane", b.name),
                  "describe what touches under `shapes`");
    return found;
  }
  row = {static_cast<int>(model_.shapes.size()), 1};
  model_.shapes.push_back(std::move(s));
  row.append_to(found);
  return found;
}

bool Loader::section(const Shape& solid, ContactShape& s) const {
  const Mat3 R = solid.placement.rotation.toRotationMatrix();
  s.at.placement.rotation = Quat::Identity();
  if (std::abs(solid.placement.position.z()) > in_plane) return false;
  if (solid.kind == Shape::Kind::sphere) {
    s.kind = Kind::circle;
    return true;
  }
  Vec3 edges = solid.size;
  if (solid.kind != Shape::Kind::box) {
    if (R.col(2).head<2>().norm() <= in_plane) {
      s.kind = Kind::circle;
      s.length = 0;
      return true;
    }
    if (solid.kind == Shape::Kind::capsule) return false;
    // Any two directions across will do for the axes of a body of revolution, if its own lies in the plane.
    if (std::abs(R(2, 2)) > in_plane) return false;
    edges = Vec3(2 * s.radius, 0, s.length);
    const Vec3 u = R.col(2).cross(Vec3::UnitZ());
    s.at.placement.rotation = Quat(Eigen::AngleAxisd(std::atan2(u.y(), u.x()), Vec3::UnitZ()));
    edges = Vec3(edges.x(), edges.z(), 0);
  } else {
    int up = 0;
    R.row(2).cwiseAbs().maxCoeff(&up);
    if (R.col(up).head<2>().norm() > in_plane) return false;
    const int u = (up + 1) % 3, v = (up + 2) % 3;
    s.at.placement.rotation = Quat(Eigen::AngleAxisd(std::atan2(R(1, u), R(0, u)), Vec3::UnitZ()));
    edges = Vec3(solid.size[u], solid.size[v], 0);
  }
  s.kind = Kind::polygon;
  s.closed = true;
  s.radius = s.length = 0;
  const double a = edges.x() / 2, h = edges.y() / 2;
  s.points = {Vec3(-a, -h, 0), Vec3(a, -h, 0), Vec3(a, h, 0), Vec3(-a, h, 0)};
  return true;
}

}  // namespace clatter::loading
