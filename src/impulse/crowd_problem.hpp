// CrowdProblem: the contact problem of one step of a crowd (Y-13, Y-28), as flat arrays.
//
//   u_i = D_i^T v+,  v+ = v_free + M^-1 sum_j D_j P_j     relative velocity of the two points of contact i, world axes
//   d_i = u_i + b_i n_i                                   b: gap / h, or what restitution asks for
//   exact:    0 <= n . P  perp  n . d >= 0,   |P_T| <= mu n . P,  P_T against u_T where it slips
//   relaxed:  K* contains d_i  perp  P_i in K             K the friction cone: the optimum of a convex problem
//
// Rows may transmit moments too (crowd_turn.hpp): then P . u includes M . w everywhere below. Where u is to be opposed
// to more than itself, s_i beside the row is added to it in both laws: e_T u_T- of a collision with tangential
// restitution e_T (Moreau's law), or what moves by itself.
//
// A row with `inverse_nn` 0 is friction of a given limit (of a joint): it has no gap, its p_N is a given number, and
// |P_T| <= mu p_N against u_T in both laws.
//
// Impulses are world vectors P = p_N n + P_T: no tangents are chosen, and the plane needs nothing of its own. A side of
// a contact is a free body (inverse mass and inertia: no virtual call, no column), the ground, or a place in a jointed
// tree, whose three columns W (generalized force of a unit force along x, y, z) and X = response(W) are stored over the
// velocities that answer together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/math.hpp"
#include "impulse/crowd_turn.hpp"

namespace clatter::contact {

// One cache line. inverse_inertia: of a ball; others have a matrix.
struct alignas(64) CrowdBody {
  double v[3] = {0, 0, 0};
  double inverse_mass = 0;
  double w[3] = {0, 0, 0};
  double inverse_inertia = 0;
};

struct alignas(16) CrowdRow {
  double n[3], mu;  // from the second body to the first
  double c1[3], b;  // arms from the mass centres
  double c2[3], inverse_nn;
  double pt[3], pn;
  double inverse_tt;
  std::int32_t side1, side2;  // body, or ~k: place k in jointed trees
};

// A place in jointed trees: 3 n numbers of W and X from `offset` on, velocities x[first .. first + n).
struct CrowdSide {
  int offset = 0, first = 0, n = 0;
};

struct CrowdResidual {
  double rate = 0;      // natural map of the law, m/s: how far rates and impulses are from agreeing
  double impulse = 0;   // the same in N s
  double approach = 0;  // largest rate at which a gap still closes beyond what it may, m/s
  double cone = 0;      // impulse outside of its friction cone, N s

  // Keeps the larger of each.
  void take(const CrowdResidual& other) {
    rate = std::max(rate, other.rate);
    impulse = std::max(impulse, other.impulse);
    approach = std::max(approach, other.approach);
    cone = std::max(cone, other.cone);
  }
};

class CrowdProblem {
 public:
  // The first of the bodies are the ground: one for each part of the rows that threads sweep apart.
  static constexpr int grounds = 4;
  std::vector<CrowdBody> bodies;
  std::vector<Mat3> inverse_inertia;  // world axes, a body each; unused while `balls`
  bool balls = true;                  // all bodies are balls that touch along their normals
  std::vector<CrowdRow> rows;         // those between free bodies first
  int free_rows = 0;
  std::vector<CrowdTurn> turns;  // beside rows; empty: no row transmits a moment
  std::vector<Vec3> shifts;      // beside rows: s; empty: none has any
  // Rows [blocks[k], blocks[k + 1]) touch no body of another such block; those from the last on may. Empty: none.
  std::vector<int> blocks;
  std::vector<CrowdSide> sides;
  std::vector<double> W, X;
  std::vector<double> x;  // velocities of jointed trees, packed

  // Velocity of the material point of a side, arm c.
  Vec3 velocity(int side, const double* c) const {
    if (side >= 0) {
      const CrowdBody& o = bodies[static_cast<std::size_t>(side)];
      return Vec3(o.v[0] + o.w[1] * c[2] - o.w[2] * c[1], o.v[1] + o.w[2] * c[0] - o.w[0] * c[2],
                  o.v[2] + o.w[0] * c[1] - o.w[1] * c[0]);
    }
    const CrowdSide& s = sides[static_cast<std::size_t>(~side)];
    Vec3 u = Vec3::Zero();
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < s.n; ++j)
        u[k] += W[static_cast<std::size_t>(s.offset + k * s.n + j)] * x[static_cast<std::size_t>(s.first + j)];
    return u;
  }
  Vec3 rate(const CrowdRow& row) const { return velocity(row.side1, row.c1) - velocity(row.side2, row.c2); }
  // u + s of row i.
  Vec3 shifted_rate(std::size_t i) const {
    const Vec3 u = rate(rows[i]);
    return shifts.empty() ? u : Vec3(u + shifts[i]);
  }

  // Velocities after the impulse P at a side.
  void push(int side, const double* c, const Vec3& P) {
    if (side >= 0) {
      CrowdBody& o = bodies[static_cast<std::size_t>(side)];
      const Vec3 moment = Vec3(c[0], c[1], c[2]).cross(P);
      const Vec3 turn =
          balls ? Vec3(o.inverse_inertia * moment) : Vec3(inverse_inertia[static_cast<std::size_t>(side)] * moment);
      for (int k = 0; k < 3; ++k) {
        o.v[k] += o.inverse_mass * P[k];
        o.w[k] += turn[k];
      }
      return;
    }
    const CrowdSide& s = sides[static_cast<std::size_t>(~side)];
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < s.n; ++j)
        x[static_cast<std::size_t>(s.first + j)] += X[static_cast<std::size_t>(s.offset + k * s.n + j)] * P[k];
  }
  void push(const CrowdRow& row, const Vec3& P) {
    push(row.side1, row.c1, P);
    push(row.side2, row.c2, -P);
  }

  // The same of the spin of a row, and of a moment M on its first side.
  Vec3 spin(const CrowdRow& row, const CrowdTurn& t) const {
    return spin(row.side1, t.place1) - spin(row.side2, t.place2);
  }
  void turn(const CrowdRow& row, const CrowdTurn& t, const Vec3& M) {
    turn(row.side1, t.place1, M);
    turn(row.side2, t.place2, -M);
  }

  // inverse_nn and inverse_tt of a row whose geometry is set: 1 / n^T A n and 1 / (largest t^T A t), A = D^T M^-1 D.
  void set_response(CrowdRow& row) const;
  // inverse_rr, inverse_dd and lever; frictions of what cannot turn become 0.
  void set_response(const CrowdRow& row, CrowdTurn& turn) const;
  // What a rate changes impulses by in the natural map of row i, kg.
  double step_of(std::size_t i) const;
  // Natural map of the law at the present velocities and impulses; of the rows [from, to).
  CrowdResidual residual(bool exact) const { return residual(exact, 0, rows.size()); }
  CrowdResidual residual(bool exact, std::size_t from, std::size_t to) const;

 private:
  Mat3 response(int side, const double* c) const;
  // crowd_turn.cpp; `place` >= 0: columns of moments in jointed trees
  Vec3 spin(int side, int place) const;
  void turn(int side, int place, const Vec3& M);
  Mat3 turn_response(int side, int place) const;
  void add_residual(std::size_t i, bool exact, CrowdResidual& out) const;
};

inline Vec3 impulse(const CrowdRow& row) {
  return Vec3(row.n[0] * row.pn + row.pt[0], row.n[1] * row.pn + row.pt[1], row.n[2] * row.pn + row.pt[2]);
}

inline Vec3 moment(const CrowdTurn& t) { return Vec3(t.m[0], t.m[1], t.m[2]); }

// Friction of a given limit: see above.
inline bool has_given_limit(const CrowdRow& row) { return row.inverse_nn == 0; }

// pt into the disc of radius `limit`.
inline void project_on_disc(double limit, Vec3& pt) {
  const double t = pt.norm();
  if (t > limit) pt *= limit / t;
}

// Nearest point of the cone |t| <= mu n to (pn, pt).
void project_on_cone(double mu, double& pn, Vec3& pt);

}  // namespace clatter::contact
