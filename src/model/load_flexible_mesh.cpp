// Meshes of flexible bodies: files, matrices, and shapes that are meshed here.
#include <fmt/format.h>

#include <cmath>

#include "model/loader.hpp"

namespace clatter::loading {
namespace {

using Mesh = MeshDescription;

constexpr int most_elements = 10000;

}  // namespace

void Loader::flexible_mesh(const YamlNode& node, const Scope& scope, const std::string& body, Mesh& m) {
  if (node.kind == YamlNode::Kind::scalar) {
    if (const auto text = reader_.text(node, "the name of a mesh file")) m.file = beside(node, *text);
    return;
  }
  const Object o(reader_, node, object_spec("mesh"), fmt::format("the mesh of body `{}`", body), scope);
  if (!o.ok()) return;
  const std::string kind = o.one_of({"file", "matrices", "box", "cylinder", "tube", "extrusion", "gear", "beam",
                                     "polyline", "spring", "rectangle", "disk", "polygon", "block"});
  if (kind.empty()) return;
  mesh_shape(o, kind, body, m);
  if (const auto unit = o.word("unit"))
    m.unit = *unit == "mm" ? 1e-3 : *unit == "cm" ? 1e-2 : *unit == "in" ? 0.0254 : 1;
  m.merge = o.boolean("merge").value_or(false);
  if (o.has("elements"))
    for (double e : number_list(o, "elements", 0)) {
      if (e == std::floor(e) && e >= 1 && e <= most_elements)
        m.elements.push_back(static_cast<int>(e));
      else
        mistakes_.add(
            *o.find("elements"),
            fmt::format("numbers of elements are whole numbers from 1 to {}, this is {:.6g}", most_elements, e));
    }
  m.thickness = o.positive("thickness").value_or(0);
  m.quadratic = o.word("order").value_or("linear") == "quadratic";
  m.incompatible_modes = o.boolean("incompatible_modes").value_or(true);
  m.lumped_mass = o.word("mass_matrix").value_or("consistent") == "lumped";
  m.plane_strain = o.word("plane").value_or("stress") == "strain";
}

void Loader::mesh_shape(const Object& o, const std::string& kind, const std::string& body, Mesh& m) {
  using K = Mesh::Kind;
  const auto positive_size = [&](const Vec3& v, int n) {
    for (int i = 0; i < n; ++i)
      if (!(v[i] > 0)) {
        mistakes_.add(*o.find(kind), fmt::format("the edges of `{}` must be positive", kind));
        return;
      }
  };
  if (kind == "file") {
    m.kind = K::file;
    if (const auto t = o.text("file")) m.file = beside(*o.find("file"), *t);
  } else if (kind == "matrices") {
    m.kind = K::matrices;
    const Object x(reader_, *o.find("matrices"), object_spec("matrices"), "the matrices of body `" + body + "`",
                   o.scope());
    if (x.ok()) {
      const auto file = [&](const char* key) {
        const auto t = x.text(key);
        return t ? beside(*x.find(key), *t) : std::string();
      };
      m.file = file("stiffness");
      m.mass_file = file("mass");
      m.node_file = file("nodes");
    }
  } else if (kind == "box") {
    m.kind = K::box;
    m.size = o.vector("box", false).value_or(Vec3::Ones());
    positive_size(m.size, 3);
  } else if (kind == "rectangle" || kind == "block") {
    m.kind = kind == "block" ? K::block : K::rectangle;
    m.size = o.vector(kind).value_or(Vec3::Ones());
    positive_size(m.size, 2);
  } else if (kind == "cylinder") {
    m.kind = K::cylinder;
    const Object x(reader_, *o.find(kind), object_spec("round"), "the cylinder of body `" + body + "`", o.scope());
    if (x.ok()) {
      m.radius = x.positive("radius").value_or(1);
      m.length = x.positive("length").value_or(1);
    }
  } else if (kind == "tube") {
    m.kind = K::tube;
    const Object x(reader_, *o.find(kind), object_spec("tube"), "the tube of body `" + body + "`", o.scope());
    if (x.ok()) {
      m.radius = x.positive("radius").value_or(1);
      m.inner_radius = x.positive("inner_radius").value_or(0.5);
      m.length = x.positive("length").value_or(1);
      if (m.inner_radius >= m.radius)
        x.mistake("inner_radius", "the inner radius of a tube must be smaller than the outer");
    }
  } else if (kind == "disk") {
    m.kind = K::disk;
    m.radius = o.positive("disk").value_or(1);
  } else if (kind == "beam") {
    m.kind = K::beam;
    m.length = o.positive("beam").value_or(1);
  } else if (kind == "polyline") {
    m.kind = K::beam;
    m.points = point_list(o, "polyline", 2, 100000);
  } else if (kind == "spring") {
    m.kind = K::spring;
    const Object x(reader_, *o.find(kind), object_spec("spring"), "the spring of body `" + body + "`", o.scope());
    if (x.ok()) {
      m.diameter = x.positive("diameter").value_or(1);
      m.length = x.positive("length").value_or(1);
      m.coils = x.positive("coils").value_or(1);
    }
  } else if (kind == "gear") {
    m.kind = K::gear;
    flexible_gear(*o.find(kind), o.scope(), body, m);
  } else {
    m.kind = kind == "polygon" ? K::polygon : K::extrusion;
    m.points = point_list(o, kind.c_str(), 3, 100000);
    if (o.require("element_size", "the longest edge of an element"))
      m.element_size = o.positive("element_size").value_or(1);
    if (kind == "extrusion") o.require("thickness", "how far the polygon is extruded along z");
  }
}

void Loader::flexible_gear(const YamlNode& node, const Scope& scope, const std::string& body, Mesh& m) {
  const Object o(reader_, node, object_spec("gear"), fmt::format("the gear of body `{}`", body), scope);
  if (!o.ok()) return;
  GearData& g = m.gear;
  g.teeth = whole(o, "teeth", 5, 1000).value_or(20);
  g.module = o.positive("module").value_or(1);
  g.pressure_angle = o.positive("pressure_angle").value_or(20 * std::acos(-1.0) / 180);
  g.helix_angle = o.number_or("helix_angle", 0);
  g.profile_shift = o.number_or("profile_shift", 0);
  g.tip_diameter = o.positive("tip_diameter").value_or(1);
  g.root_diameter = o.positive("root_diameter").value_or(1);
  g.width = o.positive("width").value_or(1);
  g.bore_diameter = o.positive("bore_diameter").value_or(1);
  g.tip_radius_factor = o.positive("tip_radius_factor").value_or(0.38);
  GearMeshCounts& c = m.gear_counts;
  const std::pair<const char*, int*> counts[] = {{"involute_elements", &c.involute}, {"fillet_elements", &c.fillet},
                                                 {"tooth_elements", &c.half_tooth},  {"root_elements", &c.under_tooth},
                                                 {"gap_elements", &c.half_gap},      {"rim_elements", &c.rim},
                                                 {"width_elements", &c.width}};
  for (const auto& [key, value] : counts) *value = whole(o, key, 1, 400).value_or(*value);
}

}  // namespace clatter::loading
