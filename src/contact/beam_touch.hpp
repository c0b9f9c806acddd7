// BeamTouch: one thread's search and rows of a pair of beams (Y-16 to Y-22).
//
// Search: elements whose middles are nearer than half the diagonals of their boxes together (Y-16, T-25), whose
// smallest boxes have no separating axis (Y-17); of these pairs the part of the slave's side that the master's box
// holds (Y-18). Stations in that part are projected onto the master (Y-19 to Y-21). Nothing is remembered from one
// position to the next: the answer is a function of the coordinates.
//
//   line stations  touch the side of the master that faces theirs (normals opposed), at a foot inside an element
//   corners        touch the side or end face on whose side the slave's end lies, or, beyond its end, a corner of it;
//                  penetration is against that face, so that no normal of length zero is met (T-14)
//   automatic      rigid laws with one force a point take lines and corners alike; with shared forces lines where the
//                  directions differ by less than alpha_min (Y-22). Compliant laws take both by their shares
//                  (beam_kernel.hpp)
//   covered        compliant line stations stand in the part of their segment that the master covers: its ends cut it
//                  (Y-21), so that pressure is integrated over the length on which sides lie on each other and nothing
//                  jumps when an end passes a Gauss point
#pragma once

#include <vector>

#include "base/state.hpp"
#include "contact/beam_kernel.hpp"
#include "contact/beam_pair.hpp"
#include "shapes/oriented_box.hpp"

namespace clatter::contact {

struct SlotState;
struct Rows;

inline Vec3 in_space(const BeamVector<double, 2>& x) { return {x[0], x[1], 0}; }
inline Vec3 in_space(const BeamVector<double, 3>& x) { return x; }

// Sum of weighted vectors of an element, of coordinates or velocities that begin at `offset`.
template <int D>
BeamVector<double, D> combine(const BeamOutline& beam, int element, const double* weights, const Vec& x, int offset) {
  BeamVector<double, D> out = BeamVector<double, D>::Zero();
  const double* from = x.data() + offset + element * beam.body->stride * D;
  for (int i = 0; i < beam.body->element_vectors; ++i)
    for (int c = 0; c < D; ++c) out[c] += weights[i] * from[i * D + c];
  return out;
}

class BeamTouch {
 public:
  BeamTouch(const BeamPair& pair, bool rigid);

  // Slots nearer than `reach` at these coordinates, ascending. Their feet are known afterwards.
  void find(const Vec& q, double reach, std::vector<int>& slots);
  // The feet of one slot, wherever the master is.
  void locate(const Vec& q, int slot);
  // Gap, basis, points and rates (with `accelerations` the biases) of a slot whose feet are known. Of compliant slots
  // also by which part of its law it acts.
  void rows(const Vec& q, const Vec& v, int slot, bool accelerations, SlotState& out);
  // tau, which starts at velocity v0, += factor times row k of the slot, for beams whose velocities lie in [v0, v1).
  void add_column(int slot, int k, int v0, int v1, double* tau, double factor = 1) const;
  // Derivatives of all rows of a rigid slot under the forces r, after rows(); second rates at the accelerations a, null:
  // without.
  void tangents(const Vec& q, const Vec& v, const Vec* a, int slot, const double* r, Rows& out) const;
  // The same of a compliant slot under the forces measure times r: a station that moves along the slave has a force
  // along g but a gap that changes by gap_q.
  void compliant_tangents(const Vec& q, const Vec& v, int slot, const double* r, double measure, Rows& out) const;
  // Elements of both beams that the slot's rows depend on, by BeamPair::element_number, appended.
  void elements(int slot, std::vector<int>& out) const;
  // What kind of place the slot's leading station touches: identity for warm starts.
  int feature(int slot) const;
  // Largest speed of a node.
  double largest_speed(const Vec& v) const;

 private:
  static constexpr int kMost = BeamPair::kMostVectors;
  static constexpr int kCurves = 3;  // of an element: axis, sides
  // Where the part of a segment that is covered ends; `cut`: at the end of the master that lies at `x` of its curve.
  struct Edge {
    bool cut = false;
    double at = 0;  // on the slave
    BeamCurve curve;
    double x = 0;
  };
  struct Foot {
    bool present = false;
    BeamRowKind row;
    BeamCurve curve;       // of the master
    double x = 0, xs = 0;  // parameters on master and slave
    double gap = 0;
    Edge edge[2];
    // Of the row last evaluated: shape functions of its rates, and their coefficients.
    double Ws[kArms][kMost], Wm[kArms][kMost];
    Vec3 e[3], S[3][kArms], M[3][kArms];
  };

  void take(const BeamStation& s, FootKind kind, const BeamCurve& curve, double x, double sign, double gap,
            Foot& foot) const;
  template <int D>
  void locate_station(int station, const std::vector<int>& candidates);
  template <int D>
  void locate_line(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const;
  // The part of a line station's segment that the master does not end within; false: none.
  template <int D>
  bool cover(const BeamStation& s, Foot& foot) const;
  template <int D>
  void locate_corner(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const;
  template <int D>
  void locate_end(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const;
  template <int D>
  void locate_crossing(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const;
  // Curves along elements as polynomials of the arc length, at the coordinates prepared.
  template <int D>
  BeamVector<double, D> at(const BeamOutline& beam, const BeamCurve& curve, double x, int derivative) const;
  // Foot of P on a curve along an element, as it goes on beyond the ends.
  template <int D>
  double project(const BeamOutline& beam, const BeamCurve& curve, const BeamVector<double, D>& P) const;
  // Polynomials, middles, balls and boxes of all elements at q; false: they are those of q already.
  template <int D>
  bool prepare(const Vec& q);
  template <int D>
  const double* polynomial(const BeamOutline& beam, const BeamCurve& curve) const {
    const int b = &beam == pair_.beam ? 0 : 1;
    const int which = curve.y == 0 ? 0 : curve.y < 0 ? 1 : 2;
    return polynomials_[b].data() + static_cast<std::size_t>((curve.element * kCurves + which) * kDerivatives * D);
  }
  // No nearer than this to the element.
  double distance_bound(const BeamOutline& beam, int element, const Vec3& P) const {
    const int b = &beam == pair_.beam ? 0 : 1;
    const auto e = static_cast<std::size_t>(element);
    return (P - middle_[b][e]).norm() - ball_[b][e];
  }
  template <int D>
  void gather(const BeamStation& s, const Foot& foot, const Vec& q, const Vec& v, BeamCurves<double, D>& out) const;
  void list_columns(int station, std::vector<int>& columns) const;  // appended; then sorted, each once
  double nominal_length(const BeamStation& s) const { return s.to - s.from; }
  template <int D>
  void station_rows(const Vec& q, const Vec& v, int station, bool accelerations, double weight, bool leads,
                    SlotState& out);
  bool turns(int station) const {
    const Foot& foot = feet_[static_cast<std::size_t>(station)];
    return foot.row.skin[0] == SkinMotion::turns || foot.row.skin[1] == SkinMotion::turns;
  }
  template <int D, int kTurn>
  void compliant_tangent(const Vec& q, const Vec& v, int station, const double* r, double measure, Rows& out) const;
  template <int D, int kTurn>
  void station_tangent(const Vec& q, const Vec& v, const Vec* a, int station, double weight, const double* r,
                       Rows& out) const;
  template <int D>
  void find_elements(double reach);
  // Calls visit(i, j) for elements whose balls are nearer than `reach`, i ascending.
  template <class Visit>
  void near_elements(double reach, Visit&& visit);
  // Line stations of an element of a beam that the grown box of another holds.
  void wake_lines(int b, int element, const OrientedBox& box, double grow);
  void wake(int station) {
    if (awake_[static_cast<std::size_t>(station)]) return;
    awake_[static_cast<std::size_t>(station)] = 1;
    woken_.push_back(station);
  }

  bool allowed(const BeamStation& s, int element) const;  // the slave's own neighbourhood is not
  // What lines have of the contact of a rigid or compliant law here: all or nothing, or a share.
  template <int D>
  double share_of_lines(const BeamVector<double, D>& S1, const BeamVector<double, D>& S2,
                        const BeamVector<double, D>& M1, const BeamVector<double, D>& M2, double half) const {
    const double share = line_share<double, D>(S1, S2, M1, M2, half, cos_least_);
    return rigid_ ? (share < 1 ? 0 : 1) : share;
  }
  // Rigid laws with one force a point need no choice: every point that faces the other beam holds it off.
  bool switches() const {
    return pair_.touching.way == BeamTouching::Way::automatic &&
           !(rigid_ && pair_.touching.multiplier == BeamTouching::Multiplier::point);
  }
  // Where a compliant law presses along sides, corners and ends do not press once more.
  bool leaves_to_lines() const { return !rigid_ && pair_.touching.way != BeamTouching::Way::points; }
  double weight(int station) const;
  void range(int slot, int& begin, int& end) const;

  const BeamPair& pair_;
  bool rigid_;
  double cos_least_;
  std::vector<Foot> feet_;   // of the stations
  std::vector<char> awake_;  // stations near something
  std::vector<int> woken_;
  Vec prepared_[2];  // coordinates of the beams for which the following holds
  std::vector<double> polynomials_[2];
  std::vector<OrientedBox> box_[2];
  std::vector<Vec3> middle_[2];
  std::vector<double> ball_[2];
  std::vector<std::vector<int>> near_[2];       // elements near element i: of the master for slaves of beam 0 and 1
  std::vector<int> all_[2];                     // every element of the master for slaves of beam 0 and 1
  std::vector<std::pair<double, int>> sorted_;  // elements of the master by the low end of their balls along an axis
  double found_reach_ = -1;                     // of the search whose feet are known at the coordinates prepared
  std::vector<int> found_;                      // its slots
  std::vector<Eigen::Vector2d> outline_;
};

template <int D>
BeamVector<double, D> BeamTouch::at(const BeamOutline& beam, const BeamCurve& curve, double x, int derivative) const {
  const double* c = polynomial<D>(beam, curve);
  BeamVector<double, D> out;
  for (int i = 0; i < D; ++i) {
    const double c0 = c[i], c1 = c[D + i], c2 = c[2 * D + i], c3 = c[3 * D + i];
    switch (derivative) {
      case 0:
        out[i] = ((c3 * x + c2) * x + c1) * x + c0;
        break;
      case 1:
        out[i] = (3 * c3 * x + 2 * c2) * x + c1;
        break;
      default:
        out[i] = 6 * c3 * x + 2 * c2;
    }
  }
  return out;
}

}  // namespace clatter::contact
