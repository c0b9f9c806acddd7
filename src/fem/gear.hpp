// Involute spur and helical gears: geometry of one wheel, of a pair, and a structured mesh of hexahedra (V-23, V-24).
#pragma once

#include "fem/mesh.hpp"
#include "model/flexible.hpp"

namespace clatter::fem {

// inv(alpha) = tan(alpha) - alpha
double involute(double alpha);
double inverse_involute(double value);

// Transverse section of one tooth. Angles are measured from the axis of the tooth.
class GearProfile {
 public:
  explicit GearProfile(const GearData& data);  // InputError for teeth that cannot be

  const GearData& data() const { return data_; }
  double pitch_radius() const { return r_; }
  double base_radius() const { return rb_; }
  double tip_radius() const { return ra_; }
  double root_radius() const { return rf_; }
  double form_radius() const { return r_form_; }  // where fillet and involute meet
  double transverse_pressure_angle() const { return alpha_t_; }
  double transverse_module() const { return m_t_; }
  double half_angle(double radius) const;  // psi of the involute
  double tip_thickness() const { return 2 * ra_ * half_angle(ra_); }
  // Fillet, s in [0, fillet_end]: 0 on the root circle, fillet_end at the involute. In tooth axes: x to the right of
  // the axis, y along it.
  double fillet_end() const { return s_end_; }
  Vec3 fillet(double s) const;
  Vec3 flank(double radius) const;
  // Difference of the two descriptions of the angle where they meet: zero but for rounding.
  double junction_error() const;

 private:
  GearData data_;
  double m_t_, alpha_t_, r_, rb_, ra_, rf_, eta_c_, xi_c_, rho_, s_end_, r_form_;
};

struct GearMesh {
  Mesh mesh;
  // flank[tooth][side][i][j]: node of profile point i (0 at the form radius) and width position j (0 at z-); side 0 is
  // the one at positive x of a tooth that points along +y, side 1 the other.
  std::vector<std::array<std::vector<std::vector<int>>, 2>> flank;
  std::vector<int> tip_node;  // nearest to the centre of each tip face
  double form_radius = 0;
};
// Tooth 0 points along +y, the others follow counter-clockwise; axis z, width centred. Node sets and surfaces
// flank_<tooth>_right, flank_<tooth>_left (tooth from 1 on), node sets tip_<tooth>, bore, z-, z+.
GearMesh make_gear(const GearData& data, const GearMeshCounts& counts = {});

// A pair at a centre distance (transverse section).
struct GearPair {
  double working_angle = 0;
  double zero_backlash_distance = 0;
  double circumferential_backlash = 0, normal_backlash = 0;
  double contact_ratio = 0, path_length = 0, base_pitch = 0;
  double overlap_ratio = 0;
  double tip_clearance[2] = {0, 0};         // between the tip of wheel i and the root of the other
  double active_profile_start[2] = {0, 0};  // radius
};
GearPair gear_pair(const GearProfile& a, const GearProfile& b, double distance);

}  // namespace clatter::fem
