// Descriptions of flexible bodies used by several tests.
#pragma once

#include "fem/make.hpp"

namespace clatter::fem::testing {

inline MaterialDescription steel(double density = 7800, double young = 210e9, double poisson = 0.3) {
  MaterialDescription m;
  m.density = density;
  m.young = young;
  m.poisson = poisson;
  return m;
}

inline FlexibleSource box(const Vec3& size, int nx, int ny, int nz) {
  FlexibleSource s;
  s.mesh.kind = MeshDescription::Kind::box;
  s.mesh.size = size;
  s.mesh.elements = {nx, ny, nz};
  s.materials = {steel()};
  return s;
}

inline InterfaceDescription on_set(const std::string& name, const std::string& set,
                                   InterfaceDescription::Coupling coupling = InterfaceDescription::Coupling::mean) {
  InterfaceDescription i;
  i.name = name;
  i.nodes.set = set;
  i.coupling = coupling;
  return i;
}

inline InterfaceDescription at_node(const std::string& name, const Vec3& x) {
  InterfaceDescription i;
  i.name = name;
  i.nodes.kind = NodeSelection::Kind::node;
  i.nodes.from = x;
  i.coupling = InterfaceDescription::Coupling::node;
  return i;
}

// A straight beam along x with square section a, clamped-looking interfaces at both ends.
inline FlexibleSource beam(double length, double a, int elements, bool shear) {
  FlexibleSource s;
  s.mesh.kind = MeshDescription::Kind::beam;
  s.mesh.length = length;
  s.mesh.elements = {elements};
  s.materials = {steel()};
  s.section.kind = SectionDescription::Kind::rectangle;
  s.section.width = s.section.height = a;
  s.section.shear = shear;
  s.interfaces = {on_set("root", "start"), on_set("tip", "end")};
  return s;
}

inline FlexibleModel made(const FlexibleSource& s) {
  MakeOptions o;
  o.cache = "none";
  return make_flexible(s, o);
}

}  // namespace clatter::fem::testing
