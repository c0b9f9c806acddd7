// Bodies: mass properties (given, or exact for a solid of uniform density), start pose and frames.
//
// For unit mass, about the centre, axis z:
//   box        (b^2+c^2)/12, ...                      sphere   2/5 r^2
//   cylinder   (3r^2+l^2)/12, (3r^2+l^2)/12, r^2/2    rod      l^2/12, l^2/12, 0
//   capsule    cylinder and sphere by their shares of the volume, each half sphere moved out by l/2:
//              I_x = m_c (l^2/12 + r^2/4) + m_s (2/5 r^2 + l^2/4 + 3/8 l r)
#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

namespace {

constexpr double in_plane = 1e-9;  // what rounding of rotations may leave outside the plane

}  // namespace

Quat axes_along(const Vec3& z, const std::optional<Vec3>& wish) {
  Vec3 y = wish.value_or(std::abs(z.y()) < 0.9 ? Vec3(Vec3::UnitY()) : Vec3(-Vec3::UnitZ()));
  y = (y - z * z.dot(y)).normalized();
  Mat3 axes;
  axes << y.cross(z), y, z;
  return Quat(axes).normalized();
}

Placement Loader::placement(const Object& o) {
  return {o.vector("at").value_or(Vec3::Zero()), o.rotation("rotate").value_or(Quat::Identity())};
}

Placement Loader::frame_placement(const YamlNode& node, const Scope& scope, const std::string& what) {
  if (node.kind == YamlNode::Kind::list)
    return {reader_.vector(node, scope, dimension_of("m")).value_or(Vec3::Zero()), Quat::Identity()};
  if (node.kind == YamlNode::Kind::null) return {};
  const Object o(reader_, node, object_spec("frame"), what, scope);
  return o.ok() ? placement(o) : Placement{};
}

void Loader::ground_frame(const Scope& scope, const YamlNode::Entry& e) {
  count_object(e);
  if (!valid_name(e, "frame")) return;
  FrameDef f;
  f.name = scope.prefix + e.key;
  f.source = mistakes_.source(e);
  if (is_quantity_word(e.key))
    mistakes_.add(f.source, fmt::format("`{}` is the name of a quantity and cannot name a frame", e.key));
  f.placement = scope.placement * frame_placement(*e.node, scope, fmt::format("frame `{}`", f.name));
  const auto [it, fresh] = ground_frame_index_.emplace(f.name, static_cast<int>(model_.ground_frames.size()));
  if (!fresh) {
    const Source& first = model_.ground_frames[static_cast<std::size_t>(it->second)].source;
    if (first.file != f.source.file)
      mistakes_.add(f.source, fmt::format("the name `{}` is already taken", e.key),
                    fmt::format("first used in {}:{}:{}", first.file, first.line, first.column));
    return;
  }
  model_.ground_frames.push_back(std::move(f));
}

void Loader::body(const Scope& scope, const YamlNode::Entry& e) {
  Body b;
  b.name = scope.prefix + e.key;
  b.source = mistakes_.source(e);
  const Object o(reader_, *e.node, object_spec("body"), fmt::format("body `{}`", b.name), scope);
  if (o.ok()) {
    const std::string type = o.word("type").value_or("rigid");
    const std::size_t before = mistakes_.count();
    o.check_type(type);
    const auto flag = o.boolean("planar");
    const bool flat = flag.value_or(false) || type.starts_with("planar");
    if (flag && !*flag && type.starts_with("planar"))
      o.mistake("planar", fmt::format("a body of type `{}` is planar", type));
    if (type == "flexible")
      flexible_body(o, b);
    else if (type == "beam")
      beam(o, b, flat);
    else if (type.ends_with("particle"))
      b.kind = flat ? BodyKind::planar_particle : BodyKind::particle;
    else
      b.kind = flat ? BodyKind::planar : BodyKind::rigid;
    if (!deforms(b.kind)) mass_properties(o, b);
    pose(o, b);
    if (const YamlNode* frames = is_beam(b.kind) ? nullptr : o.find("frames")) {
      std::vector<const YamlNode::Entry*> entries;
      append(entries, *frames, "frames");
      for (const auto* f : entries) {
        count_object(*f);
        if (!valid_name(*f, "frame")) continue;
        FrameDef d;
        d.name = f->key;
        d.source = mistakes_.source(*f);
        if (is_quantity_word(f->key))
          mistakes_.add(d.source, fmt::format("`{}` is the name of a quantity and cannot name a frame", f->key));
        d.placement = frame_placement(*f->node, scope, fmt::format("frame `{}.{}`", b.name, f->key));
        if (is_planar(b.kind) && std::abs(d.placement.position.z()) > in_plane)
          mistakes_.add(*f->node, fmt::format("frame `{}` of planar body `{}` leaves the x-y plane", f->key, b.name));
        b.frames.push_back(std::move(d));
      }
    }
    check_planar(o, b);
    if (b.flexible && mistakes_.count() == before) make_flexible(b);
  }
  body_index_.emplace(b.name, static_cast<int>(model_.bodies.size()));
  model_.bodies.push_back(std::move(b));
}

// --- mass ------------------------------------------------------------------------------------------------------------

void Loader::mass_properties(const Object& o, Body& b) {
  const auto solid = shape(o, b);
  const auto mass = o.positive("mass");
  const auto density = o.positive("density");
  if (o.has("mass") && o.has("density"))
    o.mistake("density", fmt::format("`mass` and `density` exclude each other in {}", o.what()));
  if (o.has("density") && !o.has("shape")) o.mistake("density", "`density` needs a `shape`");
  if (!o.has("mass") && !o.has("density"))
    o.require("mass", o.has("shape") ? "or give the `density` of the shape" : "or give a `shape` and its `density`");
  if (mass) b.mass = *mass;
  if (density && solid) {
    b.mass = *density * solid->volume;
    if (solid->volume == 0)
      o.mistake("density", "a rod without radius has no volume: give `mass`, or the rod's `radius`");
  }
  if (!std::isfinite(b.mass)) mistakes_.add(o.node(), fmt::format("the mass of {} is not finite", o.what()));
  const auto center = o.vector("center_of_mass", is_planar(b.kind));
  if (center) b.center_of_mass = *center;

  if (is_particle(b.kind)) {
    if (o.has("inertia"))
      o.mistake("inertia", "a particle has no inertia", "use type `rigid`, or `planar` in the plane");
    if (center && !center->isZero()) o.mistake("center_of_mass", "the mass of a particle sits in its frame's origin");
    return;
  }
  if (o.has("inertia")) {
    if (!center && solid) b.center_of_mass = b.shape.placement.position;
    if (inertia(o, b)) check_inertia(o, b);
    return;
  }
  if (!o.has("shape")) {
    mistakes_.add(o.node(), fmt::format("`inertia` is missing in {}", o.what()),
                  "or give a `shape`; a mass point is of type `particle`");
    return;
  }
  if (!solid) return;
  if (center) {
    o.mistake("center_of_mass", "the mass centre follows from the shape",
              "place it with `at` in the shape, or give `inertia` too");
    return;
  }
  const Mat3 R = b.shape.placement.rotation.toRotationMatrix();
  b.center_of_mass = b.shape.placement.position;
  b.inertia = R * (b.mass * solid->inertia).asDiagonal() * R.transpose();
  b.inertia = (0.5 * (b.inertia + b.inertia.transpose())).eval();
  if (!b.inertia.allFinite()) mistakes_.add(o.node(), fmt::format("the inertia of {} is not finite", o.what()));
}

bool Loader::inertia(const Object& o, Body& b) {
  const YamlNode& n = *o.find("inertia");
  const Dimension unit = o.dimension("inertia");
  const bool flat = b.kind == BodyKind::planar;
  if (n.kind == YamlNode::Kind::scalar) {
    const auto x = reader_.number(n, o.scope(), unit);
    if (!x) return false;
    if (!flat) {
      mistakes_.add(n, "a spatial body has three moments of inertia [Ixx, Iyy, Izz], or six, or 3x3");
      return false;
    }
    b.inertia(2, 2) = *x;
    return true;
  }
  if (n.kind == YamlNode::Kind::list && n.items.size() == 3 && n.items[0]->kind == YamlNode::Kind::list) {
    const auto m = reader_.matrix(n, o.scope(), unit);
    if (!m) return false;
    if (!((*m - m->transpose()).cwiseAbs().maxCoeff() <= 1e-9 * m->cwiseAbs().maxCoeff())) {
      mistakes_.add(n, fmt::format("the inertia of {} is not symmetric", o.what()));
      return false;
    }
    b.inertia = 0.5 * (*m + m->transpose());
    return true;
  }
  const auto x = reader_.list(n, o.scope(), unit);
  if (!x) return false;
  if (x->size() != 3 && x->size() != 6) {
    mistakes_.add(n, fmt::format("an inertia is three numbers, six, or 3x3{}; these are {}",
                                 flat ? ", or one in the plane" : "", x->size()));
    return false;
  }
  const auto& v = *x;
  b.inertia.diagonal() << v[0], v[1], v[2];
  if (v.size() == 6) {
    b.inertia(0, 1) = b.inertia(1, 0) = v[3];
    b.inertia(0, 2) = b.inertia(2, 0) = v[4];
    b.inertia(1, 2) = b.inertia(2, 1) = v[5];
  }
  return true;
}

void Loader::check_inertia(const Object& o, const Body& b) {
  const YamlNode& n = *o.find("inertia");
  if (b.kind == BodyKind::planar) {
    if (!(b.inertia(2, 2) > 0))
      mistakes_.add(n, fmt::format("the inertia of {} must be positive, this is {:.6g}", o.what(), b.inertia(2, 2)));
    return;
  }
  const double scale = b.inertia.cwiseAbs().maxCoeff();
  if (scale == 0) {
    mistakes_.add(n, fmt::format("the inertia of {} is zero", o.what()), "a mass point is of type `particle`");
    return;
  }
  Eigen::SelfAdjointEigenSolver<Mat3> solver(Mat3(b.inertia / scale), Eigen::EigenvaluesOnly);
  const Vec3 J = solver.eigenvalues();  // increasing
  const Vec3 shown = J * scale;
  // Published inertias are rounded; a slender rod sits exactly on both limits.
  constexpr double slack = 1e-6;
  if (J[0] < -slack)
    mistakes_.add(n,
                  fmt::format("the inertia of {} is indefinite: principal moments {:.6g}, {:.6g}, {:.6g}", o.what(),
                              shown[0], shown[1], shown[2]),
                  "a moment of inertia cannot be negative");
  else if (J[0] + J[1] < J[2] * (1 - slack))
    mistakes_.add(n, fmt::format("no body has this inertia: of its principal moments {:.6g}, {:.6g}, {:.6g} the "
                                 "largest exceeds the sum of the others",
                                 shown[0], shown[1], shown[2]));
}

std::optional<Loader::Solid> Loader::shape(const Object& body_object, Body& b) {
  const YamlNode* node = body_object.find("shape");
  if (!node) return {};
  const Scope& scope = body_object.scope();
  const Object o(reader_, *node, object_spec("shape"), fmt::format("the shape of {}", body_object.what()), scope);
  if (!o.ok()) return {};
  const std::string kind = o.one_of({"box", "sphere", "cylinder", "capsule", "rod"});
  b.shape.placement = placement(o);
  if (kind.empty()) return {};
  constexpr double pi = std::numbers::pi;
  const bool round = kind == "cylinder" || kind == "capsule" || kind == "rod";
  if (o.has("axis") && !round) o.mistake("axis", fmt::format("`axis` has no meaning for a {}", kind));
  if (round) {
    const auto axis = o.direction("axis");
    const Vec3 otherwise = kind == "rod" ? Vec3::UnitX() : Vec3::UnitZ();
    b.shape.placement.rotation = b.shape.placement.rotation * axes_along(axis.value_or(otherwise));
  }
  Solid s;
  if (kind == "box") {
    const auto a = o.vector("box", false);
    if (!a) return {};
    if (!(a->minCoeff() > 0)) {
      mistakes_.add(*o.find("box"), fmt::format("the edges of {} must be positive", o.what()));
      return {};
    }
    b.shape.kind = Shape::Kind::box;
    b.shape.size = *a;
    const Vec3 q = a->cwiseAbs2() / 12;
    s = {a->prod(), {q[1] + q[2], q[0] + q[2], q[0] + q[1]}};
    return s;
  }
  if (kind == "sphere") {
    const auto r = o.positive("sphere");
    if (!r) return {};
    b.shape.kind = Shape::Kind::sphere;
    b.shape.size = Vec3(*r, 0, 0);
    s = {4.0 / 3 * pi * *r * *r * *r, Vec3::Constant(0.4 * *r * *r)};
    return s;
  }
  std::optional<double> radius, length;
  if (kind == "rod" && o.find("rod")->kind == YamlNode::Kind::scalar) {
    length = reader_.number(*o.find("rod"), scope, dimension_of("m"));
    if (length && !(*length > 0)) {
      mistakes_.add(*o.find("rod"), "the length of a rod must be positive");
      return {};
    }
    radius = 0;
  } else {
    const Object size(reader_, *o.find(kind), object_spec(kind == "rod" ? "rod" : "round"), "the " + kind, scope);
    if (!size.ok()) return {};
    radius = kind == "rod" && !size.has("radius") ? std::optional(0.0) : size.positive("radius");
    length = size.positive("length");
  }
  if (!radius || !length) return {};
  const double r = *radius, l = *length;
  b.shape.kind = kind == "rod" ? Shape::Kind::rod : (kind == "cylinder" ? Shape::Kind::cylinder : Shape::Kind::capsule);
  b.shape.size = Vec3(r, l, 0);
  if (kind != "capsule") {
    const double across = (3 * r * r + l * l) / 12;
    s = {pi * r * r * l, {across, across, r * r / 2}};
    return s;
  }
  const double shaft = pi * r * r * l, ends = 4.0 / 3 * pi * r * r * r;
  const double m_c = shaft / (shaft + ends), m_s = ends / (shaft + ends);
  const double across = m_c * (l * l / 12 + r * r / 4) + m_s * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
  s = {shaft + ends, {across, across, m_c * r * r / 2 + m_s * 0.4 * r * r}};
  return s;
}

// --- pose ------------------------------------------------------------------------------------------------------------

void Loader::pose(const Object& o, Body& b) {
  const Scope& scope = o.scope();
  const bool flat = is_planar(b.kind);
  const auto position = o.vector("position", flat);
  const auto orientation = o.rotation("orientation");
  const auto angle = o.number("angle");
  if (o.has("angle") && !flat) o.mistake("angle", "`angle` belongs to planar bodies", "use `orientation`");
  if (o.has("angle") && o.has("orientation")) o.mistake("angle", "`orientation` and `angle` exclude each other");
  if (is_particle(b.kind) && (o.has("orientation") || o.has("angle")))
    o.mistake(o.has("orientation") ? "orientation" : "angle", "a particle has no orientation");
  if (o.has("position") || o.has("orientation") || o.has("angle")) {
    Placement p;
    p.position = position.value_or(Vec3::Zero());
    if (orientation) p.rotation = *orientation;
    if (angle) p.rotation = Quat(Eigen::AngleAxisd(*angle, Vec3::UnitZ()));
    b.pose = scope.placement * p;
  }
  b.origin = scope.placement;
  if (const auto v = o.vector("velocity", flat)) b.velocity = scope.placement.rotation * *v;
  if (const YamlNode* n = o.find("angular_velocity")) {
    std::optional<Vec3> w;
    if (flat && n->kind == YamlNode::Kind::scalar) {
      if (const auto x = reader_.number(*n, scope, dimension_of("rad/s"))) w = Vec3(0, 0, *x);
    } else {
      w = reader_.vector(*n, scope, dimension_of("rad/s"), false);
    }
    if (is_particle(b.kind)) o.mistake("angular_velocity", "a particle does not rotate");
    if (w) b.angular_velocity = scope.placement.rotation * *w;
  }
}

void Loader::check_planar(const Object& o, const Body& b) {
  if (!is_planar(b.kind)) return;
  const auto report = [&](const char* key, const char* what) {
    if (o.has(key))
      o.mistake(key, fmt::format("planar {}: {}", o.what(), what));
    else
      mistakes_.add(b.source, fmt::format("planar {}: {}", o.what(), what));
  };
  const auto leaves = [](const Vec3& v) { return std::abs(v.z()) > in_plane * (1 + v.cwiseAbs().maxCoeff()); };
  if (b.pose) {
    if (leaves(b.pose->position)) report("position", "its position leaves the x-y plane");
    const auto& q = b.pose->rotation;
    if (std::hypot(q.x(), q.y()) > in_plane) report("orientation", "it can only be turned about z");
  }
  if (b.velocity && leaves(*b.velocity)) report("velocity", "its velocity leaves the x-y plane");
  if (b.angular_velocity && b.angular_velocity->head<2>().norm() > in_plane * (1 + b.angular_velocity->norm()))
    report("angular_velocity", "it can only rotate about z");
  if (leaves(b.center_of_mass))
    report(o.has("center_of_mass") ? "center_of_mass" : "shape", "its mass centre leaves the x-y plane");
  if (b.kind == BodyKind::planar && !o.has("inertia") && b.mass > 0 && !(b.inertia(2, 2) > 0) && o.has("shape") &&
      b.shape.kind != Shape::Kind::none)
    report("shape", "its shape has no inertia about z");
}

}  // namespace clatter::loading
