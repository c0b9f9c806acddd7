#include "model/kinds.hpp"

#include <algorithm>
#include <stdexcept>

namespace clatter {

namespace {

using K = JointKind;
using M = JointMotion::Kind;
using F = JointKindInfo::Friction;

// Long because it is the table: a row a kind.
const std::vector<JointKindInfo>& table() {
  // Axis z of A stays along z of B: square to its x and y. All three: no turning at all.
  using Axes = std::vector<std::pair<int, int>>;
  static const Axes kOneAxis{{2, 0}, {2, 1}}, kAllAxes{{2, 0}, {2, 1}, {0, 1}};
  static const std::vector<int> kPoint{0, 1, 2}, kLine{0, 1};
  static const std::vector<JointKindInfo> kinds{
      {.kind = K::revolute,
       .word = "revolute",
       .name = "revolute",
       .free = {"angle"},
       .observed = {"angle"},
       .held = kPoint,
       .axes = kOneAxis,
       .motions = {{M::turn, 2, "angle"}},
       .in_plane = true,
       .needs_axis = true,
       .friction = F::loaded},
      {.kind = K::prismatic,
       .word = "prismatic",
       .name = "prismatic",
       .free = {"displacement"},
       .observed = {"displacement"},
       .held = kLine,
       .axes = kAllAxes,
       .motions = {{M::slide, 2, "displacement"}},
       .in_plane = true,
       .needs_axis = true,
       .friction = F::loaded},
      {.kind = K::cylindrical,
       .word = "cylindrical",
       .name = "cylindrical",
       .free = {"displacement", "angle"},
       .observed = {"angle", "displacement"},
       .held = kLine,
       .axes = kOneAxis,
       .motions = {{M::slide, 2, "displacement"}, {M::turn, 2, "angle"}},
       .needs_axis = true,
       .friction = F::loaded},
      {.kind = K::spherical,
       .word = "spherical",
       .name = "spherical",
       .free = {"rx", "ry", "rz"},
       .observed = {"rx", "ry", "rz"},
       .held = kPoint,
       .motions = {{M::ball, 2, "rotation"}}},
      {.kind = K::universal,
       .word = "universal",
       .name = "universal",
       .free = {"rz", "ry"},
       .observed = {"rz", "ry"},
       .held = kPoint,
       .axes = {{2, 1}},
       .motions = {{M::turn, 2, "rz"}, {M::turn, 1, "ry"}},
       .needs_axis = true,
       .friction = F::given},
      {.kind = K::planar,
       .word = "planar",
       .name = "planar",
       .free = {"x", "y", "rz"},
       .observed = {"x", "y", "rz"},
       .held = {2},
       .axes = kOneAxis,
       .motions = {{M::slide, 0, "x"}, {M::slide, 1, "y"}, {M::turn, 2, "rz"}},
       .friction = F::loaded},
      {.kind = K::fixed,
       .word = "fixed",
       .name = "fixed",
       .held = kPoint,
       .axes = kAllAxes,
       .motions = {{M::weld, 2, ""}},
       .in_plane = true},
      {.kind = K::screw,
       .word = "screw",
       .name = "screw",
       .free = {"angle"},
       .observed = {"angle", "displacement"},
       .held = kLine,
       .axes = kOneAxis,
       .motions = {{M::screw, 2, "angle"}},
       .needs_axis = true,
       .friction = F::given},
      {.kind = K::distance, .word = "distance", .name = "distance", .in_plane = true},
      {.kind = K::point_on_curve,
       .word = "point-on-curve",
       .name = "point-on-curve",
       .in_plane = true,
       .friction = F::loaded},
      {.kind = K::constant_velocity, .word = "constant-velocity", .name = "constant-velocity", .held = kPoint},
      {.kind = K::bushing,
       .word = "bushing",
       .name = "bushing",
       .free = {"x", "y", "z", "rx", "ry", "rz"},
       .observed = {"x", "y", "z", "rx", "ry", "rz"},
       .in_plane = true},
      {.kind = K::gear, .word = "gear", .name = "gear", .in_plane = true},
      {.kind = K::rack_pinion, .word = "rack", .name = "rack-pinion", .in_plane = true},
      {.kind = K::slip, .word = "slip", .name = "slip", .in_plane = true, .needs_axis = true},
      {.kind = K::coordinate, .word = "coordinate", .name = "coordinate", .in_plane = true}};
  return kinds;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_rotation(std::string_view component) { return component == "angle" || component.starts_with('r'); }

bool JointKindInfo::leaves(std::string_view component) const { return contains(free, component); }
bool JointKindInfo::has(std::string_view component) const { return contains(observed, component); }
bool JointKindInfo::turns() const { return std::any_of(free.begin(), free.end(), is_rotation); }
bool JointKindInfo::slides() const { return !std::all_of(free.begin(), free.end(), is_rotation); }

std::span<const JointKindInfo> joint_kinds() { return table(); }

const JointKindInfo& joint_kind(JointKind kind) {
  const JointKindInfo& info = table().at(static_cast<std::size_t>(kind));
  if (info.kind != kind) throw std::logic_error("the table of joint kinds is not in their order");
  return info;
}

const JointKindInfo* joint_kind(std::string_view word) {
  const auto at = std::find_if(table().begin(), table().end(), [&](const JointKindInfo& k) { return k.word == word; });
  return at == table().end() ? nullptr : &*at;
}

}  // namespace clatter
