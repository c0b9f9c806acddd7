// Registered samples in which one or both bodies have become flexible: whatever holds for the rigid ones must hold.
#pragma once

#include <string>
#include <vector>

#include "engine/flexible_bodies.hpp"
#include "engine/registry.hpp"

namespace clatter::test {

// A registered sample, or one in which bodies have become flexible.
struct Sample : Registered {
  void (*change)(Model&) = nullptr;
};

inline void PrintTo(const Sample& r, std::ostream* out) { *out << r.name; }

namespace flexible_changes {

inline void one(Model& m) { make_flexible(m, "one", {}); }
inline void two_damped(Model& m) { make_flexible(m, "two", {.n = 3, .damped = true, .seed = 5}); }
inline void one_nodal(Model& m) { make_flexible(m, "one", {.n = 5, .unit_mass = false, .seed = 2}); }
inline void one_stiffening(Model& m) { make_flexible(m, "one", {.stiffens = true, .seed = 3}); }
inline void both(Model& m) {
  make_flexible(m, "one", {.n = 3, .stiffens = true, .seed = 4});
  make_flexible(m, "two", {.n = 4, .unit_mass = false, .turns = false, .seed = 6});
}
inline void both_turning(Model& m) {
  make_flexible(m, "one", {.n = 3, .stiffens = true, .seed = 4});
  make_flexible(m, "two", {.n = 4, .unit_mass = false, .seed = 6});
}

using FrameOption = SuperelementOptions::Frame;
inline void super(Model& m) { make_superelement(m, "one", {.options = {.exact_inertia = false}}); }
inline void super_exact(Model& m) { make_superelement(m, "one", {.second_frame_is_marker = true, .seed = 2}); }
inline void super_boundary_mass(Model& m) {
  make_superelement(
      m, "one", {.options = {.frame = FrameOption::boundary_mass, .exact_inertia = false}, .damped = true, .seed = 3});
}
inline void super_node(Model& m) {
  make_superelement(m, "one", {.options = {.frame = FrameOption::node, .node = "end"}, .seed = 4});
}
inline void super_mean(Model& m) {
  make_superelement(m, "one",
                    {.options = {.frame = FrameOption::weighted_mean, .exact_inertia = false},
                     .second_frame_is_marker = true,
                     .seed = 5});
}

struct Derived {
  const char* of;
  const char* name;
  void (*change)(Model&);
  bool dissipative = false;
};

inline const Derived derived[] = {
    {"body_rigid", "one", one},
    {"body_rigid", "two_damped", two_damped, true},
    {"body_rigid", "one_nodal", one_nodal},
    {"body_rigid", "one_stiffening", one_stiffening},
    {"body_rigid_without_gravity", "one", one},
    {"body_rigid_without_gravity", "one_stiffening", one_stiffening},
    {"body_planar", "one", one},
    {"body_planar", "both", both},
    {"mobility_revolute_on_ground", "one_stiffening", one_stiffening},
    {"mobility_universal_on_ground", "both", both_turning},
    {"mobility_fixed_on_free_root", "both", both_turning},
    {"mobility_prismatic_on_free_root", "one_nodal", one_nodal},
    {"mobility_loop_closed_by_a_constraint", "two_damped", two_damped, true},
    {"joint_distance", "both", both},
    {"joint_curve_formula", "one_stiffening", one_stiffening},
    {"joint_constant_velocity", "both", both_turning},
    {"joint_bushing", "both", both_turning},
    {"joint_slip", "one_stiffening", one_stiffening},
    {"joint_coordinate_held", "one_stiffening", one_stiffening},
    {"joint_revolute_driven", "two_damped", two_damped, true},
    {"joint_spherical_elastic", "one_stiffening", one_stiffening},
    {"joint_planar_distance", "both", both},
    {"law_planar_spring", "one_stiffening", one_stiffening},
    {"load_force_world", "one_stiffening", one_stiffening},
    {"load_force_follower", "one_stiffening", one_stiffening},
    {"load_torque_world", "one_stiffening", one_stiffening},
    {"load_torque_follower_with_reaction", "both", both_turning},
    {"load_force_follower_of_quantities", "both", both_turning},
    {"load_planar_force_and_torque", "both", both_turning},
    {"actuator_of_quantities", "one_nodal", one_nodal},
    {"body_rigid", "superelement", super},
    {"body_rigid", "superelement_exact", super_exact},
    {"body_rigid_without_gravity", "superelement_damped", super_boundary_mass, true},
    {"body_rigid_without_gravity", "superelement", super_mean},
    {"body_rigid_without_gravity", "superelement_exact", super_exact},
    {"mobility_revolute_on_ground", "superelement", super},
    {"mobility_fixed_on_free_root", "superelement_exact", super_exact},
    {"joint_distance", "superelement", super_mean},
    {"joint_bushing", "superelement", super_node},
    {"joint_slip_on_ground", "superelement", super},
    {"load_force_follower", "superelement", super},
    {"load_torque_follower_with_reaction", "superelement_exact", super_exact},
    {"load_force_follower_of_quantities", "superelement", super_mean},
};

}  // namespace flexible_changes

inline std::vector<Sample> flexible_samples() {
  using namespace flexible_changes;
  std::vector<Sample> out;
  for (const Derived& d : derived)
    for (const Registered& r : registry()) {
      if (r.name != d.of) continue;
      Sample s{r, d.change};
      s.name = std::string("flexible_") + d.name + "_in_" + r.name;
      if (d.dissipative) s.traits.conservative = false;
      out.push_back(std::move(s));
    }
  return out;
}

}  // namespace clatter::test
