// Beams and cables of large deformation: axis, section, material, points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/expression.hpp"
#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

namespace {

constexpr int most_elements = 20000;

bool leaves_plane(const BeamSource& s, const Vec3& x) { return s.planar && std::abs(x.z()) > 1e-9 * (1 + x.norm()); }

// The axis and its slope by its parameter.
struct AxisFormula {
  std::shared_ptr<const Expression> formula[3];
  double constant[3] = {0, 0, 0};

  void operator()(double x, Vec3& position, Vec3& slope) const {
    for (int k = 0; k < 3; ++k) {
      const double arg[] = {x};
      double g[1] = {0};
      position[k] = formula[k] ? formula[k]->gradient(arg, g) : constant[k];
      slope[k] = g[0];
    }
  }
};

// Arc lengths of the elements: four pieces of three Gauss points each.
void arc_lengths(const AxisFormula& at, double from, double to, BeamSource& s) {
  Vec3 p, d;
  constexpr double gauss[] = {-0.7745966692414834, 0, 0.7745966692414834}, weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  for (int e = 0; e < s.elements; ++e) {
    double length = 0;
    const double h = (to - from) / (4 * s.elements);
    for (int piece = 0; piece < 4; ++piece)
      for (int k = 0; k < 3; ++k) {
        at(from + h * (4 * e + piece + 0.5 * (1 + gauss[k])), p, d);
        length += weight[k] * h * d.norm();
      }
    s.lengths.push_back(length);
  }
}

// Stiffness and inertia of a section of one isotropic material.
void fill_section(const SectionDescription& section, const MaterialDescription& m, BeamSource& s) {
  using K = SectionDescription::Kind;
  const double E = m.young, G = E / (2 * (1 + m.poisson)), rho = m.density;
  switch (section.kind) {
    case K::circle:
      s.circle(section.diameter, E, m.poisson, rho);
      break;
    case K::rectangle:
      s.rectangle(section.width, section.height, E, m.poisson, rho);
      break;
    case K::ring: {
      const double a = section.diameter / 2, i = section.inner_diameter / 2, pi = std::numbers::pi;
      const double A = pi * (a * a - i * i), I = pi / 4 * (std::pow(a, 4) - std::pow(i, 4));
      const double q = i / a, f = (1 + q * q) * (1 + q * q);  // Cowper
      const double shear = 6 * (1 + m.poisson) * f / ((7 + 6 * m.poisson) * f + (20 + 12 * m.poisson) * q * q);
      s.size_y = s.size_z = section.diameter;
      s.EA = E * A;
      s.GAy = s.GAz = shear * G * A;
      s.GJ = 2 * G * I;
      s.EIy = s.EIz = E * I;
      s.rhoA = rho * A;
      s.rhoIy = s.rhoIz = rho * I;
      break;
    }
    default:
      s.EA = E * section.area;
      s.GAy = section.shear_y * G * section.area;
      s.GAz = section.shear_z * G * section.area;
      s.GJ = G * section.torsion;
      s.EIy = E * section.Iy;
      s.EIz = E * section.Iz;
      s.rhoA = rho * section.area;
      s.rhoIy = rho * section.Iy;
      s.rhoIz = rho * section.Iz;
      s.size_y = std::sqrt(12 * section.Iz / section.area);
      s.size_z = std::sqrt(12 * section.Iy / section.area);
  }
}

}  // namespace

// Nodes on the axis, at equal steps of its parameter, and the arc lengths of the elements.
void Loader::beam_axis(const Object& o, const std::optional<Vec3>& wanted_up, BeamSource& s) {
  if (o.has("curve")) {
    beam_curve(o, wanted_up, s);
    return;
  }
  std::optional<Vec3> up = wanted_up;
  const Vec3 from = o.vector("from").value_or(Vec3::Zero());
  if (!o.require("to", "the end of the axis, or give a `curve`")) return;
  const std::size_t before = mistakes_.count();
  const Vec3 to = o.vector("to").value_or(Vec3::UnitX());
  if (mistakes_.count() != before) return;
  if (!((to - from).norm() > 0)) {
    o.mistake("to", fmt::format("{} has no length: `from` and `to` are the same point", o.what()));
    return;
  }
  for (const char* key : {"from", "to"})
    if (leaves_plane(s, key[0] == 'f' ? from : to)) {
      o.mistake(key, fmt::format("the axis of planar {} leaves the x-y plane", o.what()));
      return;
    }
  const Vec3 along = (to - from).normalized();
  if (s.planar) up = Vec3::UnitZ().cross(along);
  if (up && (*up - along * along.dot(*up)).norm() < 1e-6) {
    o.mistake("section", fmt::format("`up` of {} lies along its axis", o.what()));
    return;
  }
  s.straight(from, to, up.value_or(std::abs(along.y()) < 0.9 ? Vec3(Vec3::UnitY()) : Vec3(-Vec3::UnitX())));
}

// The same along a curve, its parameter from `from` to `to`.
void Loader::beam_curve(const Object& o, const std::optional<Vec3>& up, BeamSource& s) {
  for (const char* key : {"from", "to"})
    if (o.has(key)) o.mistake(key, fmt::format("`{}` and `curve` exclude each other", key));
  const Object c(reader_, *o.find("curve"), object_spec("beam-curve"), fmt::format("the curve of {}", o.what()),
                 o.scope());
  if (!c.ok()) return;
  const std::size_t before = mistakes_.count();
  AxisFormula at;
  const char* const keys[] = {"x", "y", "z"};
  for (int k = 0; k < 3; ++k) {
    if (!c.has(keys[k])) continue;
    const auto f =
        reader_.function(*c.find(keys[k]), c.scope(), c.dimension(keys[k]), {{"s", std::nullopt}}, false, false);
    if (!f) continue;
    at.formula[k] = f->expression;
    at.constant[k] = f->constant;
  }
  const double from = c.number_or("from", 0), to = c.number_or("to", 1);
  if (mistakes_.count() != before) return;
  if (!(to > from)) {
    c.mistake("to", fmt::format("`to` ({:.6g}) must be larger than `from` ({:.6g})", to, from));
    return;
  }
  const int n = s.node_count();
  Vec3 y = Vec3::Zero(), p, d;
  for (int i = 0; i < n; ++i) {
    const double x = from + (to - from) * i / (n - 1);
    at(x, p, d);
    if (!p.allFinite() || !d.allFinite() || !(d.norm() > 0)) {
      mistakes_.add(c.node(), fmt::format("{} has no direction at s = {:.6g}", c.what(), x),
                    "the parameter follows a factor with blanks around it: 5 mm * s; `mm*s` is a unit");
      return;
    }
    if (leaves_plane(s, p) || leaves_plane(s, d)) {
      mistakes_.add(c.node(), fmt::format("{} leaves the x-y plane at s = {:.6g}", c.what(), x));
      return;
    }
    const Vec3 t = d.normalized();
    // The section's y: the normal in the plane, near `up`, or carried along without twist.
    Vec3 wish = s.planar ? Vec3(Vec3::UnitZ().cross(t)) : up ? *up : i > 0 ? y : Vec3(t.unitOrthogonal());
    y = wish - t * t.dot(wish);
    if (y.norm() < 1e-6) {
      mistakes_.add(c.node(), fmt::format("`up` of the section lies along {} at s = {:.6g}", c.what(), x));
      return;
    }
    y.normalize();
    Mat3 axes;
    axes << t, y, t.cross(y);
    s.nodes.push_back({p, Quat(axes).normalized()});
  }
  arc_lengths(at, from, to, s);
}

std::optional<Vec3> Loader::beam_section(const Object& o, const std::string& body, BeamSource& s) {
  const bool cable = s.element == BeamSource::Element::cable;
  const bool stiffness = o.has("section_stiffness"), inertia = o.has("section_inertia");
  SectionDescription section;
  FlexibleSource made_of;
  if (const YamlNode* n = o.find("section")) flexible_section(*n, o.scope(), body, section);
  if (const YamlNode* n = o.find("material")) flexible_material(*n, o.scope(), body, made_of);
  std::optional<Vec3> up;
  if (!section.up.isZero(0.0)) up = section.up;
  if (!(stiffness && inertia)) {
    if (!o.require("section", "its cross-section, such as {circle: 5 mm}")) return up;
    if (!o.require("material", "{density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}")) return up;
  }
  using K = SectionDescription::Kind;
  if (!made_of.materials.empty() && section.kind != K::none) {
    const MaterialDescription& m = made_of.materials.front();
    if (m.orthotropic) {
      o.mistake("material", fmt::format("{} is of an isotropic material: give `young` and `poisson`", o.what()));
      return up;
    }
    fill_section(section, m, s);
    if (!section.shear && !cable)
      o.mistake("section", "`ancf-beam` has shear: `shear: false` is not for it", "use `element: ancf-cable`");
  }
  given_section(o, body, s);
  if (cable && !s.planar && std::abs(s.EIy - s.EIz) > 1e-9 * s.EIz)
    o.mistake(stiffness ? "section_stiffness" : "section",
              "a spatial cable has no torsion, so its section must bend alike about y and z",
              "use `element: ancf-beam`");
  if (s.continuum && section.kind != K::rectangle)
    o.mistake("elastic_forces", "`continuum` is a strained rectangle: give `section: {rectangle: [...]}`");
  if (s.continuum && stiffness)
    o.mistake("section_stiffness", "`elastic_forces: continuum` takes its stiffness from section and material");
  if (s.continuum && o.has("curve"))
    o.mistake("curve", "`elastic_forces: continuum` is for straight beams", "use `elastic_forces: structural`");
  return up;
}

// What the model gives of a section in numbers, beside or instead of its shape and material.
void Loader::given_section(const Object& o, const std::string& body, BeamSource& s) {
  const bool cable = s.element == BeamSource::Element::cable;
  const auto two = [&](const Object& part, const char* key, double& y, double& z) {
    const YamlNode* n = part.find(key);
    if (!n) return;
    const auto values = reader_.list(*n, part.scope(), part.dimension(key));
    if (!values) return;
    if (values->empty() || values->size() > 2) {
      mistakes_.add(*n, fmt::format("`{}` takes one number or two", key));
      return;
    }
    y = values->front();
    z = values->back();
    if (!(y > 0 && z > 0)) mistakes_.add(*n, fmt::format("`{}` of {} must be positive", key, part.what()));
  };
  if (o.has("section_stiffness")) {
    const Object part(reader_, *o.find("section_stiffness"), object_spec("section-stiffness"),
                      fmt::format("the section stiffness of body `{}`", body), o.scope());
    if (part.ok()) {
      s.EA = part.positive("axial").value_or(1);
      if (!cable) part.require("shear");
      if (!cable && !s.planar) part.require("torsion");
      two(part, "shear", s.GAy, s.GAz);
      two(part, "bending", s.EIy, s.EIz);
      s.GJ = part.positive("torsion").value_or(s.GJ);
    }
  }
  if (o.has("section_inertia")) {
    const Object part(reader_, *o.find("section_inertia"), object_spec("section-inertia"),
                      fmt::format("the section inertia of body `{}`", body), o.scope());
    if (part.ok()) {
      s.rhoA = part.positive("mass").value_or(1);
      if (!cable) part.require("rotary");
      two(part, "rotary", s.rhoIy, s.rhoIz);
    }
  }
}

void Loader::beam(const Object& o, Body& b, bool planar) {
  auto source = std::make_shared<BeamSource>();
  BeamSource& s = *source;
  const std::size_t before = mistakes_.count();
  b.kind = planar ? BodyKind::planar_beam : BodyKind::beam;
  s.planar = planar;
  o.require("element", "`ancf-cable` or `ancf-beam`");
  s.element =
      o.word("element").value_or("ancf-cable") == "ancf-beam" ? BeamSource::Element::beam : BeamSource::Element::cable;
  if (o.require("elements")) s.elements = whole(o, "elements", 1, most_elements).value_or(1);
  s.full_integration = o.word("integration").value_or("reduced") == "full";
  s.continuum = o.word("elastic_forces").value_or("structural") == "continuum";
  if (s.continuum && (!planar || s.element == BeamSource::Element::cable))
    o.mistake("elastic_forces", "`continuum` is for planar beams of `element: ancf-beam`");
  beam_axis(o, beam_section(o, b.name, s), s);
  if (const YamlNode* n = o.find("damping")) {
    DampingDescription d;
    flexible_damping(*n, o.scope(), b.name, d);
    if (d.kind != DampingDescription::Kind::rayleigh || d.alpha != 0)
      o.mistake("damping", fmt::format("the damping of {} is `beta`, a time", o.what()), "damping: {beta: 1 ms}");
    s.damping = s.axial_damping = d.beta;
  }
  if (o.has("frames")) o.mistake("frames", "the places of a beam are its `points`", "points: {middle: 0.5}");
  s.points = {{"start", b.source, 0}, {"end", b.source, 1}};
  if (const YamlNode* n = o.find("points")) {
    std::vector<const YamlNode::Entry*> entries;
    append(entries, *n, "points");
    for (const auto* e : entries) {
      count_object(*e);
      if (!valid_name(*e, "point")) continue;
      const Source at = mistakes_.source(*e);
      if (is_quantity_word(e->key) || e->key == "start" || e->key == "end") {
        mistakes_.add(at, fmt::format("`{}` cannot name a point of a beam: it has a meaning already", e->key));
        continue;
      }
      BeamSource::Point point{e->key, at};
      const YamlNode* where = e->node;
      if (e->node->kind == YamlNode::Kind::map) {
        const Object p(reader_, *e->node, object_spec("beam-point"), fmt::format("point `{}.{}`", b.name, e->key),
                       o.scope());
        if (!p.ok() || !p.has("at")) continue;
        where = p.find("at");
        point.y = p.number_or("y", 0);
        point.z = p.number_or("z", 0);
        for (const char* key : {"y", "z"})
          if (p.has(key) && (s.element == BeamSource::Element::cable || (planar && key[0] == 'z')))
            p.mistake(key, s.element == BeamSource::Element::cable
                               ? "a cable has no section vectors: its points lie on the axis"
                               : "a planar beam has no z");
      }
      const auto x = reader_.number(*where, o.scope(), dimension_of("1"));
      if (!x) continue;
      if (!(*x >= 0 && *x <= 1)) mistakes_.add(*where, "a point of a beam is a number from 0 (start) to 1 (end)");
      point.s = *x;
      s.points.push_back(std::move(point));
    }
  }
  if (mistakes_.count() != before) return;
  for (const BeamSource::Point& p : s.points) {
    FrameDef frame;
    frame.name = p.name;
    frame.source = p.source;
    frame.placement = s.at(p.s, p.y, p.z);
    b.frames.push_back(std::move(frame));
  }
  b.beam = source;
}

}  // namespace clatter::loading
