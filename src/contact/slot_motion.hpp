// The motion of a slot between two shapes on any scalar: its kernel on time jets gives basis, points and their rates
// (contacts.hpp has the formulas).
#pragma once

#include "base/jet.hpp"
#include "contact/contact_system.hpp"
#include "engine/engine.hpp"

namespace clatter::contact {

inline FrameState<double> motion_of(const Engine& engine, int link) {
  FrameState<double> f;
  if (link < 0) {
    f.R.setIdentity();
    f.p.setZero();
    f.v.setZero();
    f.w.setZero();
    f.a.setZero();
    f.alpha.setZero();
    return f;
  }
  const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(link)];
  f.R = m.R;
  f.p = m.p;
  f.v = m.v;
  f.w = m.w;
  f.a = m.a;
  f.alpha = m.alpha;
  return f;
}

// Most shapes stand along the axes of their link: a product less, with the same bits.
inline Mat3 turned(const Mat3& R, const ShapeInstance& s) { return s.R == Mat3::Identity() ? R : Mat3(R * s.R); }

inline Pose<double> shape_pose(const ShapeInstance& s, const FrameState<double>& f) {
  return {turned(f.R, s), f.p + f.R * s.r};
}

// The shape's pose with its time derivative.
template <class T>
Pose<Jet<T>> shape_jet(const ShapeInstance& s, const FrameState<T>& f) {
  const M3<T> R = f.R * s.R.template cast<T>();
  const V3<T> r = f.R * s.r.template cast<T>();
  const M3<T> dR = skew<T>(f.w) * R;
  const V3<T> dp = f.v + f.w.cross(r);
  Pose<Jet<T>> out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.R(i, j) = Jet<T>(R(i, j), dR(i, j));
    out.p[i] = Jet<T>(f.p[i] + r[i], dp[i]);
  }
  return out;
}

template <class T>
V3<T> values(const V3<Jet<T>>& x) {
  return {x[0].v, x[1].v, x[2].v};
}
template <class T>
V3<T> rates(const V3<Jet<T>>& x) {
  return {x[0].d, x[1].d, x[2].d};
}

template <class T>
struct SlotMotion {
  T gap, margin;
  V3<T> e[3];
  V3<T> p1, p2, c1, c2;
  T rate[6], bias[6];
};

template <class T>
bool slot_motion(const ShapeInstance& s1, const ShapeInstance& s2, int slot, const FrameState<T>& A,
                 const FrameState<T>& B, Branch& branch, SlotMotion<T>& out) {
  Touch<Jet<T>> t;
  if (!touch<Jet<T>>(s1.geometry, s2.geometry, slot, shape_jet(s1, A), shape_jet(s2, B), branch, t)) return false;
  out.gap = t.gap.v;
  out.margin = t.margin.v;
  out.p1 = values(t.p1);
  out.p2 = values(t.p2);
  out.c1 = out.p1 - A.p;
  out.c2 = out.p2 - B.p;
  const V3<T> v1 = A.v + A.w.cross(out.c1), v2 = B.v + B.w.cross(out.c2), u = v1 - v2;
  const V3<T> a1 = A.a + A.alpha.cross(out.c1) + A.w.cross(rates(t.p1) - A.v);
  const V3<T> a2 = B.a + B.alpha.cross(out.c2) + B.w.cross(rates(t.p2) - B.v);
  const V3<Jet<T>>* basis[3] = {&t.n, &t.t1, &t.t2};
  for (int k = 0; k < 3; ++k) {
    out.e[k] = values(*basis[k]);
    out.rate[k] = out.e[k].dot(u);
    out.bias[k] = out.e[k].dot(a1 - a2) + rates(*basis[k]).dot(u);
    out.rate[3 + k] = out.e[k].dot(A.w - B.w);
    out.bias[3 + k] = out.e[k].dot(A.alpha - B.alpha) + rates(*basis[k]).dot(A.w - B.w);
  }
  return true;
}

}  // namespace clatter::contact
