// A Dynamics for test problems of a few coordinates: a problem states its terms once, everything else follows from
// them. Tangents are central differences of the terms (tests only). Nothing here takes memory from the heap after
// construction.
#pragma once

#include <string>
#include <vector>

#include "base/rotation.hpp"
#include "integrate/dynamics.hpp"

namespace clatter::test {

inline constexpr int kMax = 16;
using SVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMax, 1>;
using SMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMax, kMax>;
using KktMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * kMax, 2 * kMax>;
using KktVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2 * kMax, 1>;

struct Terms {
  SMat M, G;
  SVec h, f, phi, y, gamma;
};

class SmallDynamics : public Dynamics {
 public:
  SmallDynamics(int nv, int nz, int nh, int nn, std::vector<int> rotations = {}, int np = 0, int ne = 0);

  // All terms at s; called with every array sized and zeroed.
  virtual void terms(const State& s, Terms& t) const = 0;
  virtual double energy(const State&) const { return 0; }
  virtual void channel_powers(const State&, const Vec&, const Vec&, Vec& p) const { p.setZero(); }
  virtual void event_functions(const State&, Vec& g) const { g.setOnes(); }

  const Sizes& sizes() const override { return n_; }
  std::span<const int> rotation_blocks() const override { return rotations_; }

  void plus(const Vec& q, const Vec& delta, Vec& q_out) const override;
  void minus(const Vec& q1, const Vec& q0, Vec& delta) const override;

  void accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) override;

  void residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) override;
  void constraints(const State& s, Vec& phi, Vec& velocity_residual) override;
  void constraint_forces(const State& s, const Vec& lambda, Vec& f) override;
  void least_correction(const State& s, const Vec& b, bool positions, Vec& delta) override;

  const Tangents& tangent_layout() const override { return layout_; }
  void tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) override;

  double stored_energy(const State& s) override;
  void powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) override;
  void events(const State& s, Vec& g) override;
  std::string event_name(int index) const override;
  std::string row_name(int row) const override;
  std::string velocity_name(int index) const override;
  void scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const override;

  double u_scale_value = 1, v_scale_value = 1;
  long evaluations = 0;

 protected:
  static Mat3 rotation(const Vec& q, int at) { return Quat(q[at], q[at + 1], q[at + 2], q[at + 3]).toRotationMatrix(); }

 private:
  static Tangents make_layout(int nv, int nz, int nc);
  static void fill(SparseMatrix<double>& to, const SMat& from);
  bool is_rotation(int i) const;
  void evaluate(const State& s);

  Sizes n_;
  std::vector<int> rotations_;
  Tangents layout_;
  Terms t_;
  State shifted_;
  Vec delta_;
};

}  // namespace clatter::test
