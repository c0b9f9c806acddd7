// What a simulation tells at its end: counts, speed, energy ledger, constraints, contacts, checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contact/certificate.hpp"
#include "contact/contact_counts.hpp"
#include "contact/passages.hpp"
#include "contact/unsolved.hpp"
#include "impulse/crowd_problem.hpp"
#include "study/checks.hpp"
#include "study/prepare.hpp"

namespace clatter::study {

// Energy ledger of a run: stored(end) = stored(start) + sum of works + remainder. Works are positive for energy
// supplied and negative for energy dissipated.
struct Ledger {
  double start = 0, end = 0;
  std::vector<std::string> names;
  std::vector<double> works;
  double kinetic = 0;  // largest kinetic energy seen, the measure for the remainder (stored energy has no natural zero)
  double summands = 0;  // sizes of all that stored energy is the sum of, at most: what rounding is a share of

  double remainder() const;
  double scale() const;     // largest kinetic energy plus all energy that went in or out
  double rounding() const;  // kLedgerRounding * summands: below it a remainder says nothing
  bool closes() const;      // |remainder| <= kLedgerTolerance * scale + rounding
};
inline constexpr double kLedgerTolerance = 1e-4;
// Sums of energies are rounded by 1e-16 of them; 1e5 of them in a row, all to the same side, are 1e-11.
inline constexpr double kLedgerRounding = 1e-11;

// The contacts of a whole run, also of one that was continued.
struct ContactSummary {
  std::uint64_t contacts = 0, points = 0;  // entries of the model; points they may touch at
  bool rigid = true;                       // false: compliant laws only, of which the certificate has the penetration
  contact::ContactCounts counts;
  contact::Certificate worst;
  double length_scale = 1;
  bool crowd = false;  // pairs made while it ran: points are those that carried at the end
  contact::CrowdResidual residual = {};
  contact::UnsolvedReport unsolved = {};  // steps whose contacts were not solved to their tolerance
  contact::PassageReport passages = {};   // steps in which shapes passed through each other
};

// A sentence about the steps whose contacts were not solved, with the worst of them by name; empty where all were.
std::string unsolved_text(const ContactSummary& contacts);
// Likewise about the steps in which shapes passed through each other.
std::string passages_text(const ContactSummary& contacts);

struct Summary {
  std::string title;
  std::uint64_t bodies = 0, coordinates = 0, constraints = 0, degrees_of_freedom = 0;
  std::string method;
  double start = 0, end = 0;  // simulated time covered by this process
  std::uint64_t steps = 0, rejected = 0, events = 0;
  double wall = 0;
  std::vector<std::string> notes;     // full sentences
  std::vector<std::string> warnings;  // likewise
  Ledger ledger;
  ContactSummary contact;
  bool constrained = false;
  double position_residual = 0, velocity_residual = 0;  // in units of the model's own scales
  std::vector<CheckResult> checks;
};

// What a summary holds of a prepared model before it runs, and of its motion afterwards.
Summary summary_of(const Prepared& prepared);
// `last`: the state that was recorded last; `steps`: of the whole run, also of one that was continued.
void sum_up_motion(Prepared& prepared, const State& last, std::uint64_t steps, Summary& summary);
// Sizes of all that the stored energy is the sum of, at most, at the state the engine has seen last.
double energy_summands(const Engine& engine, double stored);

}  // namespace clatter::study
