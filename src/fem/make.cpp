#include "fem/make.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "fem/cache.hpp"
#include "fem/gear.hpp"
#include "fem/generate.hpp"
#include "fem/read.hpp"
#include "fem/sid.hpp"

namespace clatter::fem {
namespace {

using Kind = MeshDescription::Kind;

int count(const MeshDescription& m, std::size_t k, int otherwise) {
  return k < m.elements.size() ? m.elements[k] : otherwise;
}

BeamSection section_of(const SectionDescription& d, double nu) {
  BeamSection s;
  using K = SectionDescription::Kind;
  switch (d.kind) {
    case K::none:
      return s;
    case K::circle:
      s = circular_section(d.diameter, nu, d.shear);
      break;
    case K::ring:
      s = annular_section(d.diameter, d.inner_diameter, nu, d.shear);
      break;
    case K::rectangle:
      s = rectangular_section(d.width, d.height, nu, d.shear);
      break;
    case K::given:
      s.area = d.area;
      s.Iy = d.Iy;
      s.Iz = d.Iz;
      s.torsion = d.torsion;
      s.shear_y = d.shear ? d.shear_y : 0;
      s.shear_z = d.shear ? d.shear_z : 0;
  }
  s.up = d.up;
  return s;
}

Properties properties_of(const FlexibleSource& source, const MaterialDescription& m) {
  Properties p;
  p.material.density = m.density;
  p.material.young = m.young;
  p.material.poisson = m.poisson;
  if (m.orthotropic) {
    Orthotropic o;
    for (std::size_t k = 0; k < 3; ++k) o.E[k] = m.moduli[k];
    o.G12 = m.shear_moduli[0];
    o.G23 = m.shear_moduli[1];
    o.G13 = m.shear_moduli[2];
    o.nu12 = m.ratios[0];
    o.nu23 = m.ratios[1];
    o.nu13 = m.ratios[2];
    o.axes = m.axes;
    p.material.orthotropic = o;
  }
  if (source.mesh.thickness > 0) p.thickness = source.mesh.thickness;
  p.plane_strain = source.mesh.plane_strain;
  p.section = section_of(source.section, m.poisson);
  return p;
}

std::vector<std::string> warnings_of(const FlexibleSource& source, const Mesh& mesh) {
  std::vector<std::string> out;
  const double size = mesh.size();
  if (source.mesh.kind == Kind::file && source.mesh.unit == 1 && size > 10)
    out.push_back(fmt::format("the mesh `{}` is {:g} m large: if its unit is the millimetre, say so (`unit: mm`)",
                              mesh.file, size));
  if (source.mesh.kind == Kind::file && size < 1e-4)
    out.push_back(fmt::format("the mesh `{}` is only {:g} m large: is its unit right?", mesh.file, size));
  // Sound travels at 30 m/s in soft rubber and at 18 km/s in diamond: what lies far outside has lost a prefix.
  for (const MaterialDescription& m : source.materials) {
    const double young = m.orthotropic ? std::max({m.moduli[0], m.moduli[1], m.moduli[2]}) : m.young;
    const double speed = std::sqrt(young / m.density);
    if (speed < 3 || speed > 60e3)
      out.push_back(
          fmt::format("Young's modulus {:g} Pa and density {:g} kg/m^3 make a speed of sound of {:.3g} m/s: "
                      "are their units right?",
                      young, m.density, speed));
  }
  return out;
}

}  // namespace

Mesh make_mesh(const MeshDescription& m) {
  Mesh out;
  switch (m.kind) {
    case Kind::file:
      out = read_mesh(m.file, m.unit);
      break;
    case Kind::box:
      out = make_box(m.size, count(m, 0, 10), count(m, 1, 2), count(m, 2, 2), m.quadratic);
      break;
    case Kind::rectangle:
      out = make_rectangle(m.size.x(), m.size.y(), count(m, 0, 10), count(m, 1, 4), m.quadratic);
      break;
    case Kind::cylinder:
      out = make_cylinder(m.radius, m.length, count(m, 0, 16), count(m, 1, 2), count(m, 2, 10), m.quadratic);
      break;
    case Kind::tube:
      out =
          make_tube(m.inner_radius, m.radius, m.length, count(m, 0, 24), count(m, 1, 2), count(m, 2, 10), m.quadratic);
      break;
    case Kind::disk:
      out = make_disk(m.radius, count(m, 0, 24), count(m, 1, 3), m.quadratic);
      break;
    case Kind::extrusion:
      out = make_extrusion(m.points, m.thickness, m.element_size, count(m, 0, 2), m.quadratic);
      break;
    case Kind::polygon:
      out = make_polygon(m.points, m.element_size, m.quadratic);
      break;
    case Kind::beam:
      out = m.points.empty() ? make_line(m.length, count(m, 0, 10)) : make_polyline(m.points, count(m, 0, 10));
      break;
    case Kind::spring:
      out = make_helix(m.diameter, m.length, m.coils, count(m, 0, 20));
      break;
    case Kind::gear: {
      GearMesh g = make_gear(m.gear, m.gear_counts);
      for (std::size_t t = 0; t < g.tip_node.size(); ++t)
        g.mesh.node_sets[fmt::format("tip_node_{}", t + 1)] = {g.tip_node[t]};
      out = std::move(g.mesh);
      break;
    }
    case Kind::matrices:
    case Kind::block:
      throw InputError("this kind of flexible body has no mesh");
  }
  if (m.merge) merge_nodes(out, 1e-8 * out.size());
  return out;
}

FlexibleStructure make_structure(const FlexibleSource& source, const Progress& progress) {
  FlexibleStructure out;
  std::vector<RigidGroup> groups;
  if (source.mesh.kind == Kind::matrices) {
    const MatrixModel m =
        read_matrices(source.mesh.file, source.mesh.mass_file, source.mesh.node_file, source.mesh.unit);
    out.structure = std::make_shared<const Structure>(m, source.mesh.file);
    out.interfaces = make_interfaces(out.structure->mesh(), source.interfaces, groups);
    if (!groups.empty())
      throw InputError("a body given by matrices cannot have rigid interfaces", "use `coupling: mean` or `node`");
    return out;
  }
  if (source.materials.empty())
    throw InputError("the flexible body has no material", "give `material: {density, young, poisson}`");
  StructureInput in;
  in.mesh = make_mesh(source.mesh);
  check_mesh(in.mesh);
  in.formulation = source.mesh.incompatible_modes ? Formulation::incompatible : Formulation::plain;
  in.mass = source.mesh.lumped_mass ? MassKind::lumped : MassKind::consistent;
  for (const MaterialDescription& m : source.materials) in.properties.emplace_back(m.set, properties_of(source, m));
  out.interfaces = make_interfaces(in.mesh, source.interfaces, groups);
  in.rigid = std::move(groups);
  out.structure = std::make_shared<const Structure>(std::move(in), progress);
  return out;
}

namespace {

FlexibleModel make_block(const FlexibleSource& source) {
  if (source.materials.empty())
    throw InputError("the flexible body has no material", "give `material: {density, young, poisson}`");
  ReducedBody b =
      planar_block(source.mesh.size.x(), source.mesh.size.y(), properties_of(source, source.materials.front()));
  const DampingDescription& d = source.damping;
  if (d.kind == DampingDescription::Kind::rayleigh) b.D = d.alpha * b.M + d.beta * b.K;
  if (d.kind == DampingDescription::Kind::ratios) {
    const double w = 2 * std::numbers::pi;
    const auto [alpha, beta] = rayleigh(w * d.frequency[0], d.ratio[0], w * d.frequency[1], d.ratio[1]);
    b.D = alpha * b.M + beta * b.K;
  }
  if (d.kind == DampingDescription::Kind::modal) {
    // D = M Phi diag(2 xi omega) Phi^T M with M-orthonormal modes.
    const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> e(b.K, b.M);
    Vec c(5);
    for (int i = 0; i < 5; ++i)
      c[i] = 2 * d.modal[std::min<std::size_t>(static_cast<std::size_t>(i), d.modal.size() - 1)] *
             std::sqrt(e.eigenvalues()[i]);
    const Mat MPhi = b.M * e.eigenvectors();
    b.D = MPhi * c.asDiagonal() * MPhi.transpose();
  }
  FlexibleModel out;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> e(b.K, b.M);
  for (double v : e.eigenvalues()) b.frequencies.push_back(std::sqrt(std::max(0.0, v)) / (2 * std::numbers::pi));
  out.report.frequencies = b.frequencies;
  out.report.nodes = 4;
  out.report.elements = 1;
  out.report.freedoms = 8;
  b.hash = std::stoull(sha256(canonical_text(source)).substr(0, 16), nullptr, 16);
  out.body = std::make_shared<const ReducedBody>(std::move(b));
  return out;
}

// A body that has been reduced before (E-14).
FlexibleModel from_sid(const FlexibleSource& source) {
  const std::string text = read_text(source.mesh.file);
  ReducedBody b = read_sid(text, source.mesh.file);
  if (b.hash == 0) b.hash = std::stoull(sha256(text).substr(0, 16), nullptr, 16);
  FlexibleModel out;
  out.report.frequencies = b.frequencies;
  out.body = std::make_shared<const ReducedBody>(std::move(b));
  return out;
}

}  // namespace

FlexibleModel make_flexible(const FlexibleSource& source, const MakeOptions& options) {
  if (source.mesh.kind == Kind::block) return make_block(source);
  if (source.mesh.kind == Kind::file && source.mesh.file.ends_with(".sid")) return from_sid(source);
  const std::string key = sha256(canonical_text(source));
  const Cache cache(options.cache);
  if (std::optional<FlexibleModel> found = cache.load(key)) return std::move(*found);
  const FlexibleStructure s = make_structure(source, options.progress);
  Reduced r = reduce(*s.structure, s.interfaces, source, options.progress);
  r.body.hash = std::stoull(key.substr(0, 16), nullptr, 16);
  FlexibleModel out;
  out.warnings = warnings_of(source, s.structure->mesh());
  out.report = std::move(r.report);
  out.shapes = std::move(r.shapes);
  out.body = std::make_shared<const ReducedBody>(std::move(r.body));
  cache.store(key, out);
  return out;
}

std::shared_ptr<const ReducedBody> make_reduced_body(const FlexibleSource& source, const MakeOptions& options) {
  return make_flexible(source, options).body;
}

std::shared_ptr<const Recovery> make_recovery(const FlexibleSource& source, const MakeOptions& options) {
  const FlexibleModel m = make_flexible(source, options);
  if (m.shapes.size() == 0) throw InputError("this flexible body has no mesh to show");
  return std::make_shared<const Recovery>(*make_structure(source).structure, m.shapes);
}

}  // namespace clatter::fem
