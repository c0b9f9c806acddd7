#include "model/kinds.hpp"

namespace clatter {

const char* joint_kind_name(JointKind kind) {
  switch (kind) {
    case JointKind::revolute:
      return "revolute";
    case JointKind::prismatic:
      return "prismatic";
    case JointKind::cylindrical:
      return "cylindrical";
    case JointKind::spherical:
      return "spherical";
    case JointKind::universal:
      return "universal";
    case JointKind::planar:
      return "planar";
    case JointKind::fixed:
      return "fixed";
    case JointKind::screw:
      return "screw";
    case JointKind::distance:
      return "distance";
    case JointKind::point_on_curve:
      return "point-on-curve";
    case JointKind::constant_velocity:
      return "constant-velocity";
    case JointKind::bushing:
      return "bushing";
    case JointKind::gear:
      return "gear";
    case JointKind::rack_pinion:
      return "rack-pinion";
    case JointKind::slip:
      return "slip";
    case JointKind::coordinate:
      return "coordinate";
  }
  return "";
}

}  // namespace clatter
