// Cables and beams in absolute nodal coordinates (Compiler): a block each, whose links are places of the axis.
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "engine/ancf_chain.hpp"
#include "engine/compiler.hpp"

namespace clatter {

namespace {

const ancf::AncfBody& ancf_body(const System& sys, const FlexibleIndex& f) {
  return static_cast<const ancf::AncfBlock&>(*sys.tree.blocks[static_cast<std::size_t>(f.block)]).body();
}

}  // namespace

// Rigid properties follow from the undeformed body; what cannot be one is refused.
void Compiler::prepare_beams() {
  for (Body& b : model_.bodies) {
    if (!is_beam(b.kind)) continue;
    if (!b.beam) fail(b.source, "the beam `" + b.name + "` has no description");
    const BeamSource& s = *b.beam;
    const bool cable = s.element == BeamSource::Element::cable;
    const auto positive = [&](double x, const char* what) {
      if (!(x > 0) || !std::isfinite(x))
        fail(b.source, "the " + std::string(what) + " of `" + b.name + "` must be positive and finite");
    };
    if (s.planar != is_planar(b.kind))
      fail(b.source, "the beam `" + b.name + "` is " + (s.planar ? "planar" : "spatial") +
                         " by its elements but not by its type");
    if (s.elements < 1 || static_cast<int>(s.nodes.size()) != s.node_count() ||
        static_cast<int>(s.lengths.size()) != s.elements)
      fail(b.source, "the axis of `" + b.name + "` does not have the nodes of its elements");
    for (const double length : s.lengths) positive(length, "length of each element");
    positive(s.EA, "axial stiffness");
    positive(s.EIz, "bending stiffness");
    positive(s.rhoA, "mass a length");
    if (!cable) {
      positive(s.GAy, "shear stiffness");
      positive(s.rhoIz, "rotary inertia");
      if (!s.planar) {
        positive(s.GAz, "shear stiffness");
        positive(s.GJ, "torsional stiffness");
        positive(s.EIy, "bending stiffness");
        positive(s.rhoIy, "rotary inertia");
      }
      if (s.continuum) positive(s.width * s.depth, "area");
    }
    const ancf::AncfBody rest(b.beam, Placement{});
    for (const std::vector<double>* values : {&b.elastic, &b.elastic_rate})
      if (static_cast<int>(values->size()) > rest.nv)
        fail(b.source,
             "the beam `" + b.name + "` has " + std::to_string(rest.nv) + " coordinates but more start values");
    b.mass = rest.total_mass;
    b.center_of_mass = rest.centre;
    b.inertia = rest.inertia;
  }
}

void Compiler::emit_beam(int body) {
  const Body& b = model_.bodies[static_cast<std::size_t>(body)];
  const Placement& pose = pose_[static_cast<std::size_t>(body)];
  if (is_planar(b.kind) && std::abs((pose.rotation * Vec3::UnitZ()).z() - 1) > 1e-9)
    fail(b.source, "the planar body `" + b.name + "` is turned out of the x-y plane");
  const auto data = std::make_shared<const ancf::AncfBody>(b.beam, pose);
  std::vector<Link>& links = sys_.tree.links;
  FlexibleIndex index;
  index.body = body;
  index.block = static_cast<int>(sys_.tree.blocks.size());
  index.n = index.states = data->nv;
  const int root = static_cast<int>(links.size());
  for (std::size_t k = 0; k < data->places.size(); ++k) {
    Link link;
    link.parent = k == 0 ? -1 : root;
    link.mobility = Mobility::marker;
    if (k == 0) link.vectors = data->nv;
    links.push_back(link);
  }
  index.marker0 = root + 1;
  sys_.bodies[static_cast<std::size_t>(body)].link = root;
  body_in_link_[static_cast<std::size_t>(body)] = data->places[0].reference.inverse();
  sys_.tree.blocks.push_back(std::make_shared<ancf::AncfBlock>(data));
  sys_.bodies[static_cast<std::size_t>(body)].flexible = static_cast<int>(sys_.flexible.size());
  sys_.flexible.push_back(std::move(index));
}

// After the links are numbered: start values, names, scales, frames.
void Compiler::finish_beams() {
  const char* const xyz[] = {"x", "y", "z"};
  for (FlexibleIndex& f : sys_.flexible) {
    const auto body = static_cast<std::size_t>(f.body);
    const Body& b = model_.bodies[body];
    if (!b.beam) continue;
    const ancf::AncfBody& data = ancf_body(sys_, f);
    const Link& root = sys_.tree.links[static_cast<std::size_t>(sys_.bodies[body].link)];
    f.q = root.q;
    f.v = root.v;
    data.start_state(pose_[body], velocity_[body], omega_[body], b.elastic, b.elastic_rate, sys_.initial.q.data() + f.q,
                     sys_.initial.v.data() + f.v);
    const bool cable = b.beam->element == BeamSource::Element::cable;
    const char* const gradient[] = {"", cable ? ".slope" : ".section_y", ".section_z"};
    for (int k = 0; k < data.nv; ++k) {
      const int vector = k / data.dim;
      sys_.velocity_names[static_cast<std::size_t>(f.v + k)] =
          b.name + ".node_" + std::to_string(vector / data.gradients + 1) + gradient[vector % data.gradients] + "." +
          xyz[k % data.dim];
      // Gradients have no dimension, like angles.
      sys_.velocity_angular[static_cast<std::size_t>(f.v + k)] = !data.is_position(vector);
    }
    f.scale.assign(static_cast<std::size_t>(data.nv), 1.0);
    if (data.damped) f.channel = channel(b.name + ".damping");
    for (const BeamSource::Pressure& p : b.beam->pressures)
      f.pressures.push_back({p.name, function(p.value, false), channel(p.name)});
    for (const FrameDef& frame : b.frames)
      f.frames.push_back(frame_of({f.body, frame.placement, b.name + "." + frame.name, frame.source, frame.name}));
  }
}

Frame System::on_beam(const Attachment& a) const {
  const Body& body = model.bodies[static_cast<std::size_t>(a.body)];
  const FlexibleIndex& index = flexible[static_cast<std::size_t>(bodies[static_cast<std::size_t>(a.body)].flexible)];
  const ancf::AncfBody& data = ancf_body(*this, index);
  std::vector<std::string> known;
  for (std::size_t k = 1; k < data.places.size(); ++k) {
    const ancf::Place& p = data.places[k];
    known.push_back(p.name);
    if (p.name != a.marker) continue;
    const Placement in_link = p.reference.inverse() * a.placement;
    Frame f;
    f.link = index.marker0 - 1 + static_cast<int>(k);
    f.R = in_link.rotation.toRotationMatrix();
    f.r = in_link.position;
    // A place that is the point itself is so to the last bit.
    if (f.R.isIdentity(1e-14)) f.R.setIdentity();
    if (f.r.norm() <= 1e-14 * (a.placement.position.norm() + p.reference.position.norm())) f.r.setZero();
    return f;
  }
  throw InputError(
      model.texts, a.source,
      "the beam `" + body.name + "` has no point `" + a.marker + "` that `" + a.label + "` could move with",
      did_you_mean(a.marker, known));
}

}  // namespace clatter
