// The text that decides a reduced body. Every field of FlexibleSource that enters the result is written with its name
// and all its digits; files enter by their bytes, so that a mesh that moves keeps its key. Source positions do not.
#include <fmt/format.h>

#include <type_traits>

#include "base/sha256.hpp"
#include "fem/make.hpp"

namespace clatter::fem {
namespace {

class Text {
 public:
  std::string out;
  void add(const char* name, double v) { out += fmt::format("{}={:.17g}\n", name, v); }
  void add(const char* name, int v) { out += fmt::format("{}={}\n", name, v); }
  void add(const char* name, bool v) { out += fmt::format("{}={}\n", name, v ? 1 : 0); }
  void add(const char* name, const std::string& v) { out += fmt::format("{}={}:{}\n", name, v.size(), v); }
  template <class E>
  requires std::is_enum_v<E>
  void add(const char* name, E v) { add(name, static_cast<int>(v)); }
  void add(const char* name, const Vec3& v) {
    out += fmt::format("{}={:.17g},{:.17g},{:.17g}\n", name, v.x(), v.y(), v.z());
  }
  void add(const char* name, const Mat3& m) {
    for (int k = 0; k < 3; ++k) add(name, Vec3(m.col(k)));
  }
  void file(const char* name, const std::string& path) {
    if (!path.empty()) add(name, sha256(read_text(path)));
  }
};

}  // namespace

std::string canonical_text(const FlexibleSource& s) {
  Text t;
  t.out = "clatter flexible body, computed by version 2\n";
  const MeshDescription& m = s.mesh;
  t.add("mesh", m.kind);
  t.file("file", m.file);
  t.file("mass_file", m.mass_file);
  t.file("node_file", m.node_file);
  if (!m.file.empty()) t.add("ending", m.file.substr(m.file.find_last_of('.') + 1));
  t.add("unit", m.unit);
  t.add("merge", m.merge);
  t.add("size", m.size);
  for (double v : {m.radius, m.inner_radius, m.length, m.thickness, m.diameter, m.coils, m.element_size})
    t.add("length", v);
  for (const Vec3& p : m.points) t.add("point", p);
  for (int e : m.elements) t.add("elements", e);
  for (bool v : {m.quadratic, m.incompatible_modes, m.lumped_mass, m.plane_strain}) t.add("option", v);
  if (m.kind == MeshDescription::Kind::gear) {
    const GearData& g = m.gear;
    t.add("teeth", g.teeth);
    for (double v : {g.module, g.pressure_angle, g.helix_angle, g.profile_shift, g.tip_diameter, g.root_diameter,
                     g.width, g.bore_diameter, g.tip_radius_factor})
      t.add("gear", v);
    const GearMeshCounts& c = m.gear_counts;
    for (int v : {c.involute, c.fillet, c.half_tooth, c.under_tooth, c.half_gap, c.rim, c.width}) t.add("count", v);
  }
  for (const MaterialDescription& k : s.materials) {
    t.add("set", k.set);
    for (double v : {k.density, k.young, k.poisson}) t.add("material", v);
    t.add("orthotropic", k.orthotropic);
    if (k.orthotropic) {
      for (std::size_t i = 0; i < 3; ++i)
        for (double v : {k.moduli[i], k.shear_moduli[i], k.ratios[i]}) t.add("constant", v);
      t.add("axes", k.axes);
    }
  }
  const SectionDescription& c = s.section;
  t.add("section", c.kind);
  for (double v :
       {c.diameter, c.inner_diameter, c.width, c.height, c.area, c.Iy, c.Iz, c.torsion, c.shear_y, c.shear_z})
    t.add("section", v);
  t.add("shear", c.shear);
  t.add("up", c.up);
  for (const InterfaceDescription& f : s.interfaces) {
    t.add("interface", f.name);
    t.add("nodes", f.nodes.kind);
    t.add("set", f.nodes.set);
    t.add("from", f.nodes.from);
    t.add("to", f.nodes.to);
    t.add("radius", f.nodes.radius);
    t.add("coupling", f.coupling);
    t.add("weights", f.weights);
    if (f.at) t.add("at", *f.at);
    t.add("axes", f.axes);
  }
  for (const PointDescription& p : s.points) {
    t.add("point", p.name);
    t.add("at", p.at);
    t.add("axes", p.axes);
  }
  const ReductionDescription& r = s.reduction;
  t.add("method", r.method);
  t.add("modes", r.modes.value_or(-1));
  t.add("max_frequency", r.max_frequency);
  for (const std::string& n : r.clamped) t.add("clamped", n);
  t.add("corrections", r.static_corrections);
  t.add("excitation", r.excitation_frequency);
  t.file("modes_file", r.modes_file);
  t.add("reference", s.reference.kind);
  t.add("frame", s.reference.interface);
  if (s.reference.kind == ReferenceDescription::Kind::nodes)
    for (const Vec3& x : s.reference.nodes) t.add("node", x);
  const DampingDescription& d = s.damping;
  t.add("damping", d.kind);
  for (double v : {d.alpha, d.beta, d.frequency[0], d.frequency[1], d.ratio[0], d.ratio[1]}) t.add("damping", v);
  for (double v : d.modal) t.add("modal", v);
  t.add("stiffening", s.stiffening);
  t.add("formulation", s.formulation);
  return t.out;
}

}  // namespace clatter::fem
