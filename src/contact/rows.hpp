// Rows: what the rows of one contact (normal, tangents, spins) or of one friction owe to the exact tangents, whatever
// carries them: links, beams, formulas (symbols as in engine/derivatives.hpp).
//
// Over the velocities that move them, `columns`, and for k = 0 .. count - 1:
//
//   rate_k = g_k . v + d/dt,    rate_q = d(rate)/dq,    second_q, second_v = d(second rate)/d(q, v)
//   K_lj = -sum_k r_k d(g_k,l)/dq_j       what the forces r put into d(M a - h - sum r_k g_k)/dq because g turns
//
// Forces that follow the motion add their slopes. All that goes into Tangents is written here, once.
#pragma once

#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/measure.hpp"
#include "integrate/dynamics.hpp"

namespace clatter::contact {

struct Rows {
  std::vector<int> columns;  // an index may come twice: its parts are added
  int count = 0;
  std::vector<double> g, rate_q, second_q, second_v;  // of row k from k columns.size() on
  std::vector<double> gap_q;                          // of row 0: g unless the place of contact wanders
  std::vector<double> K;                              // by columns

  // Zeros for the columns listed.
  void begin(int rows);
  std::size_t size() const { return columns.size(); }
  std::span<const double> gradient(int k) const { return {g.data() + static_cast<std::size_t>(k) * size(), size()}; }
  std::span<double> row(std::vector<double>& of, int k) const {
    return {of.data() + static_cast<std::size_t>(k) * size(), size()};
  }
  double& turn(std::size_t l, std::size_t j) { return K[j * size() + l]; }
};

// How the forces r of rows follow the motion: d(r_k) = by_gap[k] d(gap) + sum_i by_rate[k][i] d(rate_i).
struct ForceSlopes {
  static constexpr int most = 6;
  double by_gap[most] = {}, by_rate[most][most] = {};

  // Friction -l(u) d along the slip of the rows [first, first + count), d its unit vector:
  // d(r)/d(slip) = -[across (1 - d d^T) + along d d^T], across = l / u unless d is held, along = dl/du.
  void add_sliding(int first, int count, const double* d, double across, double along);
};

// K and C of the forces that `rows` were made with; `slopes` null: they do not follow the motion.
void add_forces(const Rows& rows, const ForceSlopes* slopes, Tangents& out);
// Row k as row `index` of the equations, pushing along its gradient.
void add_row(const Rows& rows, int k, int index, Tangents& out);
// The force of row `index` pushes along row k too, by this factor.
void add_direction(const Rows& rows, int k, int index, double factor, Tangents& out);

// Two links as what carries a row: it is a function of the motions of two points fixed to them (linear, angular of the
// first, then of the second), with derivatives by pose increments x and twists xi as in MeasureTangent.
struct LinkRow {
  const Eigen::Matrix<double, 12, 1>*g, *rate_x, *bias_x, *bias_xi;
  const Eigen::Matrix<double, 12, 12>* H;
};

class LinkCarrier {
 public:
  explicit LinkCarrier(const Engine& engine);
  // Points of links, -1 the ground; the velocities that move them are appended to `columns`. After Engine::tangents().
  void place(const int link[2], const Vec3 at[2], const Vec3 velocity[2], std::vector<int>& columns);
  // The same at the mass centres.
  void place(int link1, int link2, std::vector<int>& columns);
  // The row as row k of `out`, whose columns from `first` on are those of the last place(); with the second rates.
  void add(const LinkRow& row, double scale, int k, bool accelerations, Rows& out, std::size_t first = 0) const;
  // The turning of the rows that push, `force` each, summed; then into out.K.
  void turn(const LinkRow& row, double force);
  void finish(Rows& out, std::size_t first = 0);

 private:
  std::size_t size() const { return static_cast<std::size_t>(points_[0].n + points_[1].n); }
  const Engine& engine_;
  TreeTangent::PointColumns points_[2];
  Eigen::Matrix<double, 12, 12> H_ = Eigen::Matrix<double, 12, 12>::Zero();
};

}  // namespace clatter::contact
