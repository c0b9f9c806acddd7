// Flexible bodies: material, interfaces, reduction (the mesh: load_flexible_mesh.cpp). What they say is read here; the reduced body itself is made
// by LoadOptions::make_flexible, so that its frames are known where joints name them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {
namespace {

using Mesh = MeshDescription;

constexpr int most_elements = 10000;

}  // namespace

// A file named in the model, relative to the file that names it.
std::string Loader::beside(const YamlNode& node, const std::string& name) const {
  const std::filesystem::path p(name);
  if (p.is_absolute()) return name;
  return (std::filesystem::path(mistakes_.source(node).file).parent_path() / p).string();
}

std::optional<int> Loader::whole(const Object& o, const char* key, int least, int most) {
  const auto x = o.number(key);
  if (!x) return {};
  if (*x == std::floor(*x) && *x >= least && *x <= most) return static_cast<int>(*x);
  mistakes_.add(*o.find(key), fmt::format("`{}` of {} is a whole number from {} to {}, this is {:.6g}", key, o.what(),
                                          least, most, *x));
  return {};
}

std::vector<Vec3> Loader::point_list(const Object& o, const char* key, std::size_t least, std::size_t most) {
  std::vector<Vec3> out;
  const YamlNode& n = *o.find(key);
  if (n.kind != YamlNode::Kind::list) {
    mistakes_.add(n, fmt::format("`{}` is a list of points [[x, y, z], ...], this is {}", key, kind_name(n)));
    return out;
  }
  const std::size_t before = mistakes_.count();
  for (const YamlNode* item : n.items)
    if (const auto p = reader_.vector(*item, o.scope(), o.dimension(key))) out.push_back(*p);
  if (mistakes_.count() == before && (out.size() < least || out.size() > most))
    mistakes_.add(n, least == most
                         ? fmt::format("`{}` takes {} points, these are {}", key, least, out.size())
                         : fmt::format("`{}` takes at least {} points, these are {}", key, least, out.size()));
  return out;
}

std::vector<double> Loader::number_list(const Object& o, const char* key, std::size_t count) {
  const YamlNode& n = *o.find(key);
  auto values = reader_.list(n, o.scope(), o.dimension(key));
  if (!values) return std::vector<double>(count, 0);
  if (count > 0 && values->size() != count) {
    mistakes_.add(n, fmt::format("`{}` of {} takes {} numbers, these are {}", key, o.what(), count, values->size()));
    values->resize(count, 0);
  }
  return *values;
}

void Loader::flexible_material(const YamlNode& node, const Scope& scope, const std::string& body, FlexibleSource& f) {
  const Object o(reader_, node, object_spec("material"), fmt::format("the material of body `{}`", body), scope);
  if (!o.ok()) return;
  MaterialDescription m;
  m.set = o.text("set").value_or("");
  m.density = o.positive("density").value_or(1);
  m.orthotropic = o.has("moduli");
  if (m.orthotropic) {
    if (o.has("young")) o.mistake("young", "`young` and `moduli` exclude each other");
    o.require("shear_moduli", "[G12, G23, G13]");
    o.require("ratios", "[nu12, nu23, nu13]");
    const auto three = [&](const char* key, std::array<double, 3>& to) {
      if (!o.has(key)) return;
      const auto v = number_list(o, key, 3);
      for (std::size_t k = 0; k < 3; ++k) to[k] = v[k];
    };
    three("moduli", m.moduli);
    three("shear_moduli", m.shear_moduli);
    three("ratios", m.ratios);
    m.axes = o.rotation("axes").value_or(Quat::Identity()).toRotationMatrix();
  } else {
    o.require("young", "Young's modulus, such as 210 GPa");
    m.young = o.positive("young").value_or(1);
    m.poisson = o.number_or("poisson", 0.3);
    if (!(m.poisson > -1 && m.poisson < 0.5))
      o.mistake("poisson",
                fmt::format("Poisson's ratio of {} lies between -1 and 0.5, this is {:.6g}", o.what(), m.poisson));
  }
  f.materials.push_back(std::move(m));
}

void Loader::flexible_section(const YamlNode& node, const Scope& scope, const std::string& body,
                              SectionDescription& s) {
  const Object o(reader_, node, object_spec("section"), fmt::format("the section of body `{}`", body), scope);
  if (!o.ok()) return;
  const std::string kind = o.one_of({"circle", "ring", "rectangle", "area"});
  using K = SectionDescription::Kind;
  s.shear = o.boolean("shear").value_or(true);
  s.up = o.direction("up").value_or(Vec3::Zero());
  const auto two = [&](const char* key, double& a, double& b) {
    const auto v = number_list(o, key, 2);
    a = v[0];
    b = v[1];
    if (!(a > 0 && b > 0))
      mistakes_.add(*o.find(key), fmt::format("both numbers of `{}` of {} must be positive", key, o.what()));
  };
  if (kind == "circle") {
    s.kind = K::circle;
    s.diameter = o.positive("circle").value_or(1);
  } else if (kind == "ring") {
    s.kind = K::ring;
    two("ring", s.diameter, s.inner_diameter);
    if (s.inner_diameter >= s.diameter) o.mistake("ring", "the first diameter of a ring is the outer one, the larger");
  } else if (kind == "rectangle") {
    s.kind = K::rectangle;
    two("rectangle", s.width, s.height);
  } else if (kind == "area") {
    s.kind = K::given;
    for (const char* key : {"Iy", "Iz", "torsion"}) o.require(key);
    s.area = o.positive("area").value_or(1);
    s.Iy = o.positive("Iy").value_or(1);
    s.Iz = o.positive("Iz").value_or(1);
    s.torsion = o.positive("torsion").value_or(1);
    s.shear_y = s.shear_z = 5.0 / 6;
    if (o.has("shear_factors")) two("shear_factors", s.shear_y, s.shear_z);
  }
}

void Loader::flexible_interface(const YamlNode::Entry& e, const Scope& scope, const std::string& body,
                                FlexibleSource& f) {
  InterfaceDescription d;
  d.name = e.key;
  d.source = mistakes_.source(e);
  if (is_quantity_word(e.key))
    mistakes_.add(d.source, fmt::format("`{}` is the name of a quantity and cannot name an interface", e.key));
  if (e.node->kind == YamlNode::Kind::scalar) {
    if (const auto t = reader_.text(*e.node, "the name of a set of the mesh")) d.nodes.set = *t;
    f.interfaces.push_back(std::move(d));
    return;
  }
  const Object o(reader_, *e.node, object_spec("interface"), fmt::format("interface `{}.{}`", body, e.key), scope);
  if (!o.ok()) return;
  const std::string kind = o.one_of({"set", "box", "plane", "node", "sphere"});
  NodeSelection& n = d.nodes;
  using K = NodeSelection::Kind;
  if (kind == "set") {
    n.set = o.text("set").value_or("");
  } else if (kind == "box" || kind == "plane") {
    n.kind = kind == "box" ? K::box : K::plane;
    const auto p = point_list(o, kind.c_str(), 2, 2);
    if (p.size() == 2) {
      n.from = p[0];
      n.to = kind == "box" ? p[1] : Vec3(p[1] - p[0]);
      if (kind == "plane" && n.to.norm() == 0)
        o.mistake("plane", "the two points of a plane must differ: the second gives its normal");
    }
  } else if (kind == "node") {
    n.kind = K::node;
    n.from = o.vector("node").value_or(Vec3::Zero());
  } else if (kind == "sphere") {
    n.kind = K::sphere;
    n.from = o.vector("sphere").value_or(Vec3::Zero());
    if (o.require("radius")) n.radius = o.positive("radius").value_or(1);
  }
  const std::string coupling = o.word("coupling").value_or(n.kind == K::node ? "node" : "mean");
  using C = InterfaceDescription::Coupling;
  d.coupling = coupling == "rigid" ? C::rigid : coupling == "node" ? C::node : C::mean;
  if (o.word("weights").value_or("area") == "equal") d.weights = InterfaceDescription::Weights::equal;
  if (const auto at = o.vector("at")) d.at = *at;
  d.axes = o.rotation("rotate").value_or(Quat::Identity()).toRotationMatrix();
  f.interfaces.push_back(std::move(d));
}

void Loader::flexible_reduction(const YamlNode& node, const Scope& scope, const std::string& body,
                                ReductionDescription& r) {
  using M = ReductionDescription::Method;
  const auto method = [](const std::string& word) {
    return word == "modal"                ? M::modal
           : word == "frequency-response" ? M::frequency_response
           : word == "given"              ? M::given
           : word == "all"                ? M::all
                                          : M::craig_bampton;
  };
  if (node.kind == YamlNode::Kind::scalar) {
    if (const auto w = reader_.word(node, object_spec("reduction").find("method")->words,
                                    fmt::format("a reduction of body `{}`", body)))
      r.method = method(*w);
    return;
  }
  const Object o(reader_, node, object_spec("reduction"), fmt::format("the reduction of body `{}`", body), scope);
  if (!o.ok()) return;
  r.method = method(o.word("method").value_or("craig-bampton"));
  r.modes = whole(o, "modes", 0, 2000);
  r.max_frequency = o.positive("max_frequency").value_or(0);
  r.excitation_frequency = o.not_negative("excitation_frequency").value_or(0);
  r.static_corrections = o.boolean("static_corrections").value_or(false);
  if (const YamlNode* n = o.find("clamped"))
    if (const auto names = reader_.names(*n))
      for (const YamlNode* name : *names) r.clamped.push_back(name->text);
  if (r.method == M::given && o.require("file", "the table of shapes"))
    r.modes_file = beside(*o.find("file"), o.text("file").value_or(""));
}

void Loader::flexible_damping(const YamlNode& node, const Scope& scope, const std::string& body,
                              DampingDescription& d) {
  using K = DampingDescription::Kind;
  if (node.kind == YamlNode::Kind::scalar) {
    if (const auto ratio = reader_.number(node, scope, dimension_of("1"))) {
      d.kind = K::modal;
      d.modal = {*ratio};
      if (*ratio < 0) mistakes_.add(node, "a damping ratio cannot be negative");
    }
    return;
  }
  const Object o(reader_, node, object_spec("body-damping"), fmt::format("the damping of body `{}`", body), scope);
  if (!o.ok()) return;
  if (o.has("modal")) {
    d.kind = K::modal;
    d.modal = number_list(o, "modal", 0);
    if (d.modal.empty()) d.modal = {0};
    for (double v : d.modal)
      if (v < 0) o.mistake("modal", "a damping ratio cannot be negative");
  } else if (o.has("frequencies") || o.has("ratios")) {
    d.kind = K::ratios;
    if (!o.require("frequencies") || !o.require("ratios")) return;
    const auto f = number_list(o, "frequencies", 2), x = number_list(o, "ratios", 2);
    for (std::size_t k = 0; k < 2; ++k) {
      d.frequency[k] = f[k];
      d.ratio[k] = x[k];
    }
    if (!(f[0] > 0 && f[1] > f[0]))
      o.mistake("frequencies", "two positive frequencies are expected, the lower one first");
  } else {
    d.kind = K::rayleigh;
    d.alpha = o.not_negative("alpha").value_or(0);
    d.beta = o.not_negative("beta").value_or(0);
  }
}

// Formulation, and what the body's frame moves with.
void Loader::flexible_formulation(const Object& o, Body& b, FlexibleSource& f) {
  using F = FlexibleSource::Formulation;
  const std::string word = o.word("formulation").value_or("floating-frame");
  const bool super = word == "superelement";
  f.formulation = super ? F::superelement : word == "finite-elements" ? F::finite_elements : F::floating_frame;
  if (f.formulation == F::finite_elements) {
    f.reduction.method = ReductionDescription::Method::all;
    if (o.has("reduce"))
      o.mistake("reduce", "`finite-elements` keeps every freedom of the mesh: there is nothing to reduce",
                "leave `reduce` out, or use `formulation: floating-frame`");
  }
  if (o.has("inertia_forces") && !super)
    o.mistake("inertia_forces", "only a superelement has a choice of inertia forces",
              "use `formulation: superelement`");
  b.superelement.exact_inertia = o.word("inertia_forces").value_or("exact") == "exact";
  using Frame = SuperelementOptions::Frame;
  if (const auto reference = o.text("reference"); reference && *reference == "principal-axes" && !super) {
    f.reference.kind = ReferenceDescription::Kind::principal_axes;
  } else if (reference && *reference != "mean-axes") {
    std::vector<std::string> known{"mean-axes"};
    if (!super) known.emplace_back("principal-axes");
    if (super) known.insert(known.end(), {"boundary-mean", "boundary-mass"});
    bool found = false, pattern = false;
    for (const auto& i : f.interfaces) {
      known.push_back(i.name);
      found = found || i.name == *reference;
      pattern = pattern || i.nodes.set.find('*') != std::string::npos;
    }
    if (super && (*reference == "boundary-mean" || *reference == "boundary-mass")) {
      b.superelement.frame = *reference == "boundary-mean" ? Frame::weighted_mean : Frame::boundary_mass;
    } else if (found || (super && pattern)) {
      // The frame of a superelement is chosen after its reduction: the description of that stays the same.
      if (super) {
        b.superelement.frame = Frame::node;
        b.superelement.node = *reference;
      } else {
        f.reference.kind = ReferenceDescription::Kind::interface;
        f.reference.interface = *reference;
      }
    } else {
      mistakes_.add(*o.find("reference"), fmt::format("body `{}` has no interface `{}`", b.name, *reference),
                    did_you_mean(*reference, known));
    }
  }
  if (o.has("reference_nodes")) {
    if (super)
      o.mistake("reference_nodes", "the frame of a superelement is held by its boundary nodes",
                "use `reference: mean-axes`, `boundary-mean`, `boundary-mass` or the name of an interface");
    const auto p = point_list(o, "reference_nodes", 2, 3);
    f.reference.kind = ReferenceDescription::Kind::nodes;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, p.size()); ++k) f.reference.nodes[k] = p[k];
    if (p.size() == 2) f.reference.nodes[2] = p[0];
  }
}

void Loader::flexible_body(const Object& o, Body& b) {
  auto source = std::make_shared<FlexibleSource>();
  FlexibleSource& f = *source;
  if (o.require("mesh", "a file, or a box, beam, gear, ...")) flexible_mesh(*o.find("mesh"), o.scope(), b.name, f.mesh);
  const bool matrices = f.mesh.kind == Mesh::Kind::matrices;
  if (f.mesh.kind == Mesh::Kind::file && f.mesh.file.ends_with(".sid")) {
    // E-14: a body that has been reduced before.
    for (const char* key : {"material", "materials", "section", "interfaces", "reduce", "reference", "reference_nodes",
                            "damping", "stiffening", "formulation", "inertia_forces", "frames"})
      if (o.has(key))
        o.mistake(key, fmt::format("standard input data hold a reduced body: `{}` has been decided there", key),
                  std::string_view(key) == "frames" ? "the nodes of the data are frames of the body" : "leave it out");
    b.kind = BodyKind::flexible;
    b.flexible = source;
    return;
  }
  if (const YamlNode* n = o.find("material")) flexible_material(*n, o.scope(), b.name, f);
  if (const YamlNode* n = o.find("materials")) {
    if (n->kind != YamlNode::Kind::list)
      mistakes_.add(*n, fmt::format("`materials` is a list, this is {}", kind_name(*n)));
    else
      for (const YamlNode* item : n->items) flexible_material(*item, o.scope(), b.name, f);
  }
  if (f.materials.empty() && !matrices && !o.has("material") && !o.has("materials"))
    o.require("material", "{density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}");
  if (const YamlNode* n = o.find("section")) flexible_section(*n, o.scope(), b.name, f.section);
  const bool beams = f.mesh.kind == Mesh::Kind::beam || f.mesh.kind == Mesh::Kind::spring;
  if (beams && !o.has("section")) o.require("section", "the cross-section of its beams");
  if (const YamlNode* n = o.find("interfaces")) {
    std::vector<const YamlNode::Entry*> entries;
    append(entries, *n, "interfaces");
    for (const auto* e : entries) {
      count_object(*e);
      if (valid_name(*e, "interface")) flexible_interface(*e, o.scope(), b.name, f);
    }
  }
  if (const YamlNode* n = o.find("reduce")) flexible_reduction(*n, o.scope(), b.name, f.reduction);
  if (const YamlNode* n = o.find("damping")) flexible_damping(*n, o.scope(), b.name, f.damping);
  f.stiffening = o.boolean("stiffening").value_or(false);
  flexible_formulation(o, b, f);
  const bool plane = f.mesh.kind == Mesh::Kind::rectangle || f.mesh.kind == Mesh::Kind::disk ||
                     f.mesh.kind == Mesh::Kind::polygon || f.mesh.kind == Mesh::Kind::block;
  b.kind = plane ? BodyKind::planar_flexible : BodyKind::flexible;
  b.flexible = source;
}

// After its frames are read: they become points of the body.
void Loader::make_flexible(Body& b) {
  auto source = std::make_shared<FlexibleSource>(*b.flexible);
  for (const FrameDef& d : b.frames)
    source->points.push_back({d.name, d.source, d.placement.position, d.placement.rotation.toRotationMatrix()});
  b.flexible = source;
  if (!options_.make_flexible) {
    for (const auto& i : source->interfaces)
      b.frames.push_back({{i.name, i.source}, {i.at.value_or(Vec3::Zero()), Quat(i.axes)}});
    if (source->mesh.kind == Mesh::Kind::block)  // its corners (E-16)
      for (int k = 0; k < 4; ++k) {
        const Vec3 corner(k < 2 ? source->mesh.size.x() : 0, k == 1 || k == 2 ? source->mesh.size.y() : 0, 0);
        b.frames.push_back({{fmt::format("node_{}", k + 1), b.source}, {corner, Quat::Identity()}});
      }
    return;
  }
  try {
    FlexibleMade made = options_.make_flexible(*source, b.name);
    b.reduced = std::move(made.reduced);
    if (made.planar != is_planar(b.kind)) b.kind = made.planar ? BodyKind::planar_flexible : BodyKind::flexible;
    for (FrameDef& m : made.markers) {
      bool known = false;
      for (const FrameDef& d : b.frames) known = known || d.name == m.name;
      if (known) continue;
      m.source = b.source;
      for (const auto& i : source->interfaces)
        if (i.name == m.name) m.source = i.source;
      b.frames.push_back(std::move(m));
    }
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      // Mistakes in the model stay where they are; those in a mesh file are told with its name and line.
      const bool here = std::any_of(mistakes_.texts.begin(), mistakes_.texts.end(),
                                    [&](const auto& t) { return t.first == d.source.file; });
      if (here && d.source.line > 0)
        mistakes_.add(d.source, fmt::format("body `{}`: {}", b.name, d.message), d.hint);
      else if (d.source.file.empty())
        mistakes_.add(b.source, fmt::format("body `{}`: {}", b.name, d.message), d.hint);
      else
        mistakes_.add(b.source,
                      fmt::format("body `{}`: {}{}: {}", b.name, d.source.file,
                                  d.source.line > 0 ? fmt::format(":{}", d.source.line) : "", d.message),
                      d.hint);
    }
  } catch (const SolveError& e) {
    mistakes_.add(b.source, fmt::format("body `{}`: {}", b.name, e.message()), e.advice());
  }
}

}  // namespace clatter::loading
