// Impacts: impulses and velocities after a collision in which several contacts take part (P-36 to P-48, P-50).
//
//   rate = W^T v + w~,   rate_after = rate + G P,   G = W^T M^-1 W          of all closed contacts, trap 15
//
// with one normal row (gap') and none, one or two tangential rows (slips) a contact. Every law is a contact problem of
// solve/complementarity.hpp: interaction in a cone, kinematic quantity in the normal cone (P-50).
//
//   Poisson   two phases. Compression (P-40, P-44): 0 <= P_NC perp gap'_C >= 0, Coulomb's law between P_TC and slip_C.
//             Expansion (P-41 to P-45): 0 <= P_NE - eps P_NC perp gap'_E >= 0, and P_TE in a set that Coulomb's cone
//             contains and from which the reversible part has cut what would not give back enough,
//               |P_TE - P_TS| <= mu P_NE - |P_TS|,   2 P_TS = (mu nu P_NE + eps eps_T |P_TC|) d,   d = P_TC / |P_TC|
//             on the rim -slip_E points outwards, inside slip_E = 0. In the plane that is the interval of P-42. In
//             space it is read as it stands: a disc that touches the rim of Coulomb's disc in the direction d; eps P_TC
//             lies in it, so that the energy balance of P-46 holds as in the plane. nu = eps_T = 0 is Coulomb's disc.
//   Moreau    one phase: 0 <= P_N perp gap'_E + eps gap'_A >= 0, Coulomb's law between P_T and slip_E + eps_T slip_A.
//   Newton    the same problem, which without friction is P-37 with P-38 decided by complementarity. With friction only
//             where normal impulses do not change slips nor friction gap' (generalized central impact, P-47); refused
//             otherwise.
//
// Energy. Poisson's law with unequal restitution and friction, and the one-phase laws with friction, may bring energy
// in (PV-23 c, Kane's paradox). In a motion, whatever its method, only the part s of the bounce is then taken that
// brings none,
//
//   P = P_0 + s (P_1 - P_0),   P . rate + P G P / 2 = 0        P_1: the law; P_0: the same without restitution
//
// and it is noted. Sets of impulses are convex and rates linear, so that P meets the inequalities of both.
//
// In the one-phase laws a contact that opens before the impact may be made to close by the others. That is the next
// collision at the same instant; it is solved here too, until no gap' is negative. Where closed contacts name different
// laws, two phases win over one (Poisson), and Moreau's law over Newton's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "solve/contact_solver.hpp"

namespace clatter::contact {

struct ImpactContact {  // one closed contact; its rows in G are row (normal), row + 1 .. row + tangents
  int row = 0;
  int tangents = 1;  // 0, 1 or 2
  double mu = 0, restitution = 0;
  double tangential_restitution = 0, reversibility = 0;  // eps_T, nu
  RigidContact::Impact rule = RigidContact::Impact::poisson;
};

// The parameters of a law; `mu` is the friction coefficient at the slip speed before the impact. Without tangential
// restitution friction is Coulomb's, whatever the reversibility.
ImpactContact impact_contact(const RigidContact& law, int row, int tangents, double mu);

// What is told of an impact whose law would have brought energy in.
std::string describe_gain(RigidContact::Impact rule, double gain, double part);

// The part s of the bounce that brings no energy in, of the energies without it, with half of it and with all of it:
// they are a parabola in s, without <= 0 < with.
double part_without_gain(double without, double half, double with);

struct ImpactProblem {
  Mat G;     // W^T M^-1 W, joints held
  Vec rate;  // before: gap', slips
  std::vector<ImpactContact> contacts;
};

struct ImpactOptions {
  // P-48: where nothing approaches, look for impulses all the same; the state before is then not an answer.
  bool nonzero_solution = false;
  // P-42: may change mu, restitution, tangential_restitution and reversibility of a contact for its expansion, knowing
  // its impulses of compression (normal, tangential).
  std::function<void(int contact, double P_N, double P_T, ImpactContact& parameters)> for_expansion;
};

// One complementarity problem of an impact and its impulses, in order: what a derivative of the impact needs.
struct ImpactStage {
  enum class Law {
    coulomb,      // on the rates after it: compression
    restitution,  // on the rates after it plus restitution times those before it: the one-phase laws
    expansion,    // Poisson's second phase
    reduction     // takes back what would bring energy in: P = (part - 1) (P_1 - P_0)
  } law = Law::coulomb;
  Vec P;
  Vec without;      // of a reduction: P_0
  double part = 1;  // of a reduction
};

struct ImpactResult {
  ContactStatus status = ContactStatus::solved;
  std::string note;            // what was decided; empty when nothing had to be
  Vec P_compression, P;        // impulses after compression (one-phase laws: P) and in all
  Vec rate_compression, rate;  // rates after compression (one-phase laws: rate) and after the impact
  // 1/2 P^T (rate_before + rate_after): change of kinetic energy plus P^T w~, the work the moving surfaces did (P-46).
  double energy_compression = 0, energy = 0;
  std::vector<double> energy_of_contact;  // sums to energy
  std::vector<ImpactStage> stages;
  // Where the law would have brought energy in: how much, the contact that would have brought most, and the part of the
  // bounce that was taken instead.
  double gain = 0, part = 1;
  int gains = -1;
};

class ImpactSolver {
 public:
  // On any status but `solved`, impulses are zero, rates those before, and the note says why. Throws
  // std::invalid_argument for rows out of range and parameters outside of their ranges.
  void solve(const ImpactProblem& problem, ImpactResult& result, const ImpactOptions& options = {});
  ImpactResult solve(const ImpactProblem& problem, const ImpactOptions& options = {});
  // Reduces a solved impact that brings energy in.
  void forbid_gain(const ImpactProblem& problem, ImpactResult& result);

 private:
  void check(const ImpactProblem& problem);
  void select_rows(const ImpactProblem& problem);
  static void balance(const ImpactProblem& problem, ImpactResult& result);
  // Cones of Coulomb's law over the selected rows; A and b of the rows.
  void coulomb(const ImpactProblem& problem, const Vec& b);
  bool solve_poisson(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result);
  bool solve_one_phase(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result);
  bool expand(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result);
  bool central(const ImpactProblem& problem) const;

  // Solves cones_ into r_. Of several solutions the one is taken whose friction opposes `slip` (trap 21).
  bool solve_cones(const ImpactProblem& problem, const Vec& slip, bool nonzero, ImpactResult& result);
  ContactResult solve_scattered(const ContactOptions& options);
  bool find_nonzero(ImpactResult& result);
  void choose_opposing(const ImpactProblem& problem, const Vec& slip, ImpactResult& result);
  bool slide_along(const ImpactProblem& problem, const Vec& from, Vec& r);
  bool indeterminate(const ImpactProblem& problem, const Vec& r) const;
  void scatter(const Vec& r, Vec& P) const;  // selected rows to all rows

  ContactSolver solver_;
  ContactProblem cones_, work_;
  std::vector<int> rows_;             // selected row -> row of the problem: normals, slips with friction
  std::vector<int> normal_, slip_;    // contact -> selected row; -1: without friction
  std::vector<int> tangents_;         // contact -> slips with friction
  std::vector<ImpactContact> after_;  // parameters of the expansion
  Vec r_, other_, b_, P_, rate_, without_;
};

}  // namespace clatter::contact
