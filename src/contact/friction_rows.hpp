// FrictionRows: dry friction that is no part of a contact's tangential force, one mechanism for joints and for the
// moments of contacts (P-22 to P-24, P-26, AF-14, AF-21).
//
// A friction row has a slip s (one or two numbers, in m/s: a joint's free rate or a contact's spin, times a length) and
// a limit, and transmits the force f along it,
//
//   |f| <= limit,   s = 0: any such f,   s != 0: f = -limit s / |s|
//   joint     limit = base(|s|) + mu(|s|) N(lambda)     N: sizes of the joint's reactions (System::JointFrictionIndex)
//   contact   limit = (length / scale) r_N
//
// Bilateral reactions may have either sign, so N is a sum of norms, not a linear function of the multipliers: the force
// directions of its rows, N_G of P-22, are -mu dN/dlambda times the column of the slip, at the present lambda.
// `method: smooth` replaces s / |s| by phi(|s|) s / |s| with E-24's phi (compliant_law.hpp).
#pragma once

#include <utility>
#include <vector>

#include "contact/contacts.hpp"

namespace clatter::contact {

enum class Mode : std::uint8_t { open, slide, stick };

struct ActiveFriction {
  int index = -1;  // into ContactSystem::frictions
  Mode mode = Mode::slide;
  double direction[2] = {1, 0};  // of the slip, a unit vector
};

class FrictionRows {
 public:
  explicit FrictionRows(Contacts& contacts);

  int size() const { return static_cast<int>(contacts_.system().frictions.size()); }
  int joints() const { return contacts_.system().joint_frictions; }
  const FrictionInstance& operator[](int i) const { return contacts_.system().frictions[static_cast<std::size_t>(i)]; }
  const JointFrictionIndex& joint(int i) const {
    return contacts_.system().system->joint_frictions[static_cast<std::size_t>((*this)[i].joint)];
  }
  const std::string& joint_name(int i) const {
    return contacts_.system().system->model.joints[static_cast<std::size_t>(joint(i).joint)].name;
  }

  // The state that joint coordinates are read from.
  void at(const State& s) {
    if (joints() > 0) v_ = s.v;
  }
  // Slips, and with `accelerations` their rates without generalized accelerations, at the engine's present links; of a
  // slot the contact must have been evaluated likewise.
  void evaluate(int i, bool accelerations);
  const double* rate(int i) const { return state_[static_cast<std::size_t>(i)].rate; }
  const double* bias(int i) const { return state_[static_cast<std::size_t>(i)].bias; }
  double speed(int i) const;
  void column(int i, int c, double* out) const;
  void wrenches(int i, const double f[2], std::vector<Engine::LinkWrench>& out) const;

  // N of a joint for the engine's multipliers; dN/d(row) is appended where asked for.
  double load(int i, const Vec& lambda, std::vector<std::pair<int, double>>* gradient = nullptr) const;
  bool loaded(int i) const { return (*this)[i].joint >= 0 && joint(i).coefficient.any(); }
  // Limit of a joint's friction at a slip speed under a load, and its derivative by that speed; mu.
  double limit(int i, double speed, double load, double* by_speed = nullptr) const;
  double coefficient(int i, double speed) const;

  // Its rows under the forces f along them; after Engine::tangents() at the same state.
  void rows(int i, const double f[2], Rows& out);
  // Velocities it depends on, for patterns.
  std::vector<int> columns(int i) const;

 private:
  struct State2 {
    double rate[2] = {0, 0}, bias[2] = {0, 0};
    MeasureValue<double> measure[2];
    Vec3 arm[2][2];  // of direction c: from the mass centres to the frames' origins
  };

  Contacts& contacts_;
  Engine& engine_;
  Vec v_;
  std::vector<State2> state_;
  LinkCarrier carrier_;
  SlotTangent slot_tangent_;
  MeasureTangent measure_tangent_;
  std::vector<int> same_;  // columns of a joint, as columns() tells them
};

// Steps of a fixed point iteration now <- next(now) of limits, relaxed by Aitken's rule: lands on the fixed point of a
// linear map with one mode in two steps. Limits stay positive.
class Relaxation {
 public:
  void advance(Vec& now, const Vec& next);

 private:
  Vec step_, last_;
  double omega_ = 1;
  int count_ = 0;
};

// phi(u) / u of the smoothed law and its derivative by u.
double smooth_slope(double u, double u_eps, double* derivative);

}  // namespace clatter::contact
