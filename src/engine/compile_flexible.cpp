// Flexible bodies (Compiler): blocks, their elastic coordinates, boundary nodes and markers.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/rotation.hpp"
#include "engine/compiler.hpp"
#include "engine/floating_frame.hpp"
#include "engine/superelement.hpp"

namespace clatter {

namespace {

// The most elastic coordinates of one body: every evaluation couples them all.
constexpr int kMostCoordinates = 1500;

template <class Place>
int find_place(const std::vector<Place>& places, const std::string& name) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.name == name; });
  return found == places.end() ? -1 : static_cast<int>(found - places.begin());
}

}  // namespace

bool System::turns(const Attachment& a) const {
  if (a.marker.empty() || a.body < 0 || model.bodies[static_cast<std::size_t>(a.body)].beam) return true;
  const ReducedBody& r = *model.bodies[static_cast<std::size_t>(a.body)].reduced;
  const int node = find_place(r.boundary, a.marker);
  return node < 0 || r.boundary[static_cast<std::size_t>(node)].rotations;
}

Frame System::on_marker(const Attachment& a) const {
  const Body& body = model.bodies[static_cast<std::size_t>(a.body)];
  if (body.beam) return on_beam(a);
  const ReducedBody& r = *body.reduced;
  const FlexibleIndex& index = flexible[static_cast<std::size_t>(bodies[static_cast<std::size_t>(a.body)].flexible)];
  const int node = find_place(r.boundary, a.marker), marker = find_place(r.markers, a.marker);
  if (node < 0 && marker < 0) {
    std::vector<std::string> known;
    for (const BoundaryNode& n : r.boundary) known.push_back(n.name);
    for (const Marker& m : r.markers) known.push_back(m.name);
    throw InputError(
        model.texts, a.source,
        "the flexible body `" + body.name + "` has no marker `" + a.marker + "` that `" + a.label + "` could move with",
        did_you_mean(a.marker, known));
  }
  // A boundary node has the axes of the body.
  const Vec3 X =
      node >= 0 ? r.boundary[static_cast<std::size_t>(node)].X : r.markers[static_cast<std::size_t>(marker)].X;
  const Mat3 R = node >= 0 ? Mat3(Mat3::Identity()) : r.markers[static_cast<std::size_t>(marker)].R;
  Frame f;
  f.link = node >= 0 ? index.node0 + node : index.marker0 + marker;
  f.R = R.transpose() * a.placement.rotation.toRotationMatrix();
  f.r = R.transpose() * (a.placement.position - r.origin - X);
  // A place that is the marker itself is so to the last bit.
  if (f.R.isIdentity(1e-14)) f.R.setIdentity();
  if (f.r.norm() <= 1e-14 * (X.norm() + r.origin.norm())) f.r.setZero();
  return f;
}

// Rigid properties of a flexible body are those of its reduced body.
void Compiler::prepare_flexible() {
  for (Body& b : model_.bodies) {
    if (!is_flexible(b.kind)) continue;
    if (!b.reduced) fail(b.source, "the flexible body `" + b.name + "` has no reduced body");
    const ReducedBody& r = *b.reduced;
    if (r.planar != is_planar(b.kind))
      fail(b.source, "the flexible body `" + b.name + "` is " + (r.planar ? "planar" : "spatial") +
                         " by its mesh but not by its type");
    if (r.planar && !r.boundary.empty())
      fail(b.source, "the flexible body `" + b.name + "` is a superelement in the plane; superelements are spatial",
           "reduce it for a floating frame of reference");
    if (r.n > kMostCoordinates)
      fail(b.source,
           "the flexible body `" + b.name + "` has " + std::to_string(r.n) + " elastic coordinates; " +
               std::to_string(kMostCoordinates) + " are the most",
           "every evaluation couples them all: keep fewer modes");
    b.mass = r.mass;
    b.center_of_mass = r.origin;
    b.inertia = r.J0;
    for (const std::vector<double>* values : {&b.elastic, &b.elastic_rate})
      if (static_cast<int>(values->size()) > r.n)
        fail(b.source, "the flexible body `" + b.name + "` has " + std::to_string(r.n) +
                           " elastic coordinates but more start values");
  }
}

std::shared_ptr<const Block> Compiler::make_block(const Body& b, double level) {
  if (!b.reduced->boundary.empty()) {
    if (b.superelement.frame == SuperelementOptions::Frame::node &&
        find_place(b.reduced->boundary, b.superelement.node) < 0) {
      std::vector<std::string> known;
      for (const BoundaryNode& n : b.reduced->boundary) known.push_back(n.name);
      fail(b.source,
           "the frame of `" + b.name + "` is to move with `" + b.superelement.node +
               "`, which is not a boundary node of it",
           did_you_mean(b.superelement.node, known));
    }
    auto data = std::make_shared<const SuperelementBody>(b.reduced, b.superelement);
    if (!data->inner)
      fail(b.source, "the boundary nodes of `" + b.name + "` do not hold its reference frame",
           "give boundary nodes rotations, or at least three that are not in line");
    return std::make_shared<SuperelementBlock>(data);
  }
  std::shared_ptr<const FlexibleBody>& data = flexible_bodies_[b.reduced.get()];
  if (!data) data = std::make_shared<const FlexibleBody>(b.reduced);
  return std::make_shared<FloatingFrameBlock>(data, level);
}

void Compiler::emit_flexible(int body) {
  const Body& b = model_.bodies[static_cast<std::size_t>(body)];
  const ReducedBody& r = *b.reduced;
  std::vector<Link>& links = sys_.tree.links;
  FlexibleIndex index;
  index.body = body;
  index.block = static_cast<int>(sys_.tree.blocks.size());
  index.n = r.n;
  emit_body(body, -1, false);
  const int root = sys_.bodies[static_cast<std::size_t>(body)].link;
  links.back().mass = 0;
  links.back().inertia.setZero();
  const auto add = [&](Mobility mobility) {
    Link link;
    link.parent = root;
    link.mobility = mobility;
    links.push_back(link);
  };
  if (!r.boundary.empty()) index.node0 = root + 1;
  for (const BoundaryNode& node : r.boundary) {
    add(node.rotations ? Mobility::free6 : Mobility::particle3);
    index.first += velocity_count(links.back().mobility);
  }
  index.states = r.n - index.first;
  links.back().vectors = index.states;
  index.marker0 = static_cast<int>(links.size());
  for (std::size_t i = 0; i < r.markers.size(); ++i) add(Mobility::marker);
  sys_.tree.blocks.push_back(make_block(b, pose_[static_cast<std::size_t>(body)].position.z()));
  // With u = Phi eta, the coordinate that stands for a displacement of the size of one length.
  for (int k = index.first; k < r.n; ++k) index.scale.push_back(std::sqrt(r.mass / r.M(k, k)));
  sys_.bodies[static_cast<std::size_t>(body)].flexible = static_cast<int>(sys_.flexible.size());
  sys_.flexible.push_back(std::move(index));
}

// Start values of boundary nodes and elastic coordinates.
void Compiler::start_flexible(const FlexibleIndex& f) {
  const Body& b = model_.bodies[static_cast<std::size_t>(f.body)];
  State& s = sys_.initial;
  const auto value = [](const std::vector<double>& list, int k) {
    return k < static_cast<int>(list.size()) ? list[static_cast<std::size_t>(k)] : 0.0;
  };
  const auto three = [&](const std::vector<double>& list, int k) {
    return Vec3(value(list, k), value(list, k + 1), value(list, k + 2));
  };
  for (int k = 0; k < f.states; ++k) {
    s.q[f.q + k] = value(b.elastic, f.first + k);
    s.v[f.v + k] = value(b.elastic_rate, f.first + k);
  }
  if (f.node0 < 0) return;
  const Link& root = sys_.tree.links[static_cast<std::size_t>(f.node0 - 1)];
  const Vec3 x0 = s.q.segment<3>(root.q), v0 = s.v.segment<3>(root.v), Omega = s.v.segment<3>(root.v + 3);
  const Quat R0(s.q[root.q + 3], s.q[root.q + 4], s.q[root.q + 5], s.q[root.q + 6]);
  for (std::size_t i = 0; i < b.reduced->boundary.size(); ++i) {
    const BoundaryNode& node = b.reduced->boundary[i];
    const Link& l = sys_.tree.links[static_cast<std::size_t>(f.node0) + i];
    const Vec3 a = node.X + three(b.elastic, node.first), rate = three(b.elastic_rate, node.first);
    s.q.segment<3>(l.q) = x0 + R0 * a;
    s.v.segment<3>(l.v) = v0 + R0 * (Omega.cross(a) + rate);
    if (!node.rotations) continue;
    const Vec3 gamma = three(b.elastic, node.first + 3);
    const Quat turn = quaternion_exp<double>(gamma), R = R0 * turn;
    s.q.segment<4>(l.q + 3) << R.w(), R.x(), R.y(), R.z();
    s.v.segment<3>(l.v + 3) =
        right_jacobian<double>(gamma) * three(b.elastic_rate, node.first + 3) + turn.conjugate() * Omega;
  }
}

// After the links are numbered and the bodies' frames exist.
void Compiler::finish_flexible() {
  const char* const xyz[] = {"x", "y", "z"};
  for (FlexibleIndex& f : sys_.flexible) {
    const Body& b = model_.bodies[static_cast<std::size_t>(f.body)];
    if (b.beam) continue;
    const Link& last = sys_.tree.links[static_cast<std::size_t>(f.marker0 - 1)];
    f.q = last.q + coordinate_count(last.mobility);
    f.v = last.v + last.nv;
    start_flexible(f);
    for (int k = 0; k < f.states; ++k)
      sys_.velocity_names[static_cast<std::size_t>(f.v + k)] = b.name + ".eta." + std::to_string(f.first + k + 1);
    for (std::size_t i = 0; i < b.reduced->boundary.size(); ++i) {
      const Link& l = sys_.tree.links[static_cast<std::size_t>(f.node0) + i];
      for (int k = 0; k < l.nv; ++k) {
        const auto v = static_cast<std::size_t>(l.v + k);
        sys_.velocity_names[v] = b.name + "." + b.reduced->boundary[i].name + (k < 3 ? "." : ".rotation.") + xyz[k % 3];
        sys_.velocity_angular[v] = k >= 3;
      }
    }
    if (!b.reduced->D.isZero(0.0)) f.channel = channel(b.name + ".damping");
    for (const FrameDef& frame : b.frames)
      f.frames.push_back(frame_of({f.body, frame.placement, b.name + "." + frame.name, frame.source, frame.name}));
    if (f.node0 < 0) continue;
    f.row = static_cast<int>(sys_.deformations.size());
    for (int k = 0; k < 6; ++k) {
      Measure m;
      m.block = f.block;
      m.row = k;
      Deformation d;
      d.element = b.name;
      d.name = b.name + ".frame." + (k < 3 ? "" : "r") + xyz[k % 3];
      d.terms[0] = {add_measure(m), 1};
      d.count = 1;
      d.angular = k >= 3;
      d.status = DeformationStatus::rigid;
      sys_.deformations.push_back(std::move(d));
      sys_.joint_of_deformation.push_back(-1);
    }
  }
}

}  // namespace clatter
