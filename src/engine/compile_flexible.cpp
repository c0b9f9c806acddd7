// Flexible bodies (Compiler): blocks, their elastic coordinates and markers.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "engine/compiler.hpp"
#include "engine/floating_frame.hpp"

namespace clatter {

namespace {

const fem::Marker* find_marker(const fem::ReducedBody& body, const std::string& name) {
  for (const fem::Marker& m : body.markers)
    if (m.name == name) return &m;
  return nullptr;
}

}  // namespace

Frame System::on_marker(const Attachment& a) const {
  const Body& body = model.bodies[static_cast<std::size_t>(a.body)];
  const fem::Marker* marker = find_marker(*body.reduced, a.marker);
  if (!marker) {
    std::vector<std::string> known;
    for (const fem::Marker& m : body.reduced->markers) known.push_back(m.name);
    throw InputError(
        model.texts, a.source,
        "the flexible body `" + body.name + "` has no marker `" + a.marker + "` that `" + a.label + "` could move with",
        did_you_mean(a.marker, known));
  }
  const auto index = static_cast<int>(marker - body.reduced->markers.data());
  Frame f;
  f.link = flexible[static_cast<std::size_t>(bodies[static_cast<std::size_t>(a.body)].flexible)].marker0 + index;
  f.R = marker->R.transpose() * a.placement.rotation.toRotationMatrix();
  f.r = marker->R.transpose() * (a.placement.position - body.reduced->origin - marker->X);
  // A place that is the marker itself is so to the last bit.
  if (f.R.isIdentity(1e-14)) f.R.setIdentity();
  if (f.r.norm() <= 1e-14 * (marker->X.norm() + body.reduced->origin.norm())) f.r.setZero();
  return f;
}

// Rigid properties of a flexible body are those of its reduced body.
void Compiler::prepare_flexible() {
  for (Body& b : model_.bodies) {
    if (!is_flexible(b.kind)) continue;
    if (!b.reduced) fail(b.source, "the flexible body `" + b.name + "` has no reduced body");
    const fem::ReducedBody& r = *b.reduced;
    if (r.planar != is_planar(b.kind))
      fail(b.source, "the flexible body `" + b.name + "` is " + (r.planar ? "planar" : "spatial") +
                         " by its mesh but not by its type");
    b.mass = r.mass;
    b.center_of_mass = r.origin;
    b.inertia = r.J0;
    const auto start_values = [&](const std::vector<double>& values) {
      if (static_cast<int>(values.size()) > r.n)
        fail(b.source, "the flexible body `" + b.name + "` has " + std::to_string(r.n) +
                           " elastic coordinates but more start values");
    };
    start_values(b.elastic);
    start_values(b.elastic_rate);
  }
}

void Compiler::emit_flexible(int body) {
  Body& b = model_.bodies[static_cast<std::size_t>(body)];
  const fem::ReducedBody& r = *b.reduced;
  std::shared_ptr<const FlexibleBody>& data = flexible_bodies_[b.reduced.get()];
  if (!data) data = std::make_shared<const FlexibleBody>(b.reduced);

  FlexibleIndex index;
  index.body = body;
  index.block = static_cast<int>(sys_.tree.blocks.size());
  index.n = r.n;
  emit_body(body, -1, false);
  Link& root = sys_.tree.links.back();
  root.mass = 0;
  root.inertia.setZero();
  root.vectors = r.n;
  const int link = sys_.bodies[static_cast<std::size_t>(body)].link;
  index.marker0 = link + 1;
  for (std::size_t i = 0; i < r.markers.size(); ++i) {
    Link marker;
    marker.parent = link;
    marker.mobility = Mobility::marker;
    sys_.tree.links.push_back(marker);
  }
  sys_.tree.blocks.push_back(
      std::make_shared<FloatingFrameBlock>(data, pose_[static_cast<std::size_t>(body)].position.z()));
  // With u = Phi eta, the coordinate that stands for a displacement of the size of one length.
  for (int k = 0; k < r.n; ++k) index.scale.push_back(std::sqrt(r.mass / r.M(k, k)));
  sys_.bodies[static_cast<std::size_t>(body)].flexible = static_cast<int>(sys_.flexible.size());
  sys_.flexible.push_back(std::move(index));
}

// After the links are numbered and the bodies' frames exist.
void Compiler::finish_flexible() {
  for (FlexibleIndex& f : sys_.flexible) {
    const Body& b = model_.bodies[static_cast<std::size_t>(f.body)];
    const Link& root = sys_.tree.links[static_cast<std::size_t>(sys_.bodies[static_cast<std::size_t>(f.body)].link)];
    f.q = root.q + coordinate_count(root.mobility);
    f.v = root.v + root.nv;
    for (std::size_t k = 0; k < b.elastic.size(); ++k) sys_.initial.q[f.q + static_cast<int>(k)] = b.elastic[k];
    for (std::size_t k = 0; k < b.elastic_rate.size(); ++k)
      sys_.initial.v[f.v + static_cast<int>(k)] = b.elastic_rate[k];
    for (int k = 0; k < f.n; ++k)
      sys_.velocity_names[static_cast<std::size_t>(f.v + k)] = b.name + ".eta." + std::to_string(k + 1);
    if (!b.reduced->D.isZero(0.0)) f.channel = channel(b.name + ".damping");
    for (const FrameDef& frame : b.frames)
      f.frames.push_back(frame_of({f.body, frame.placement, b.name + "." + frame.name, frame.source, frame.name}));
  }
}

}  // namespace clatter
