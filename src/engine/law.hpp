// Laws: the stress sigma that answers a deformation e and its rate de, in a compact form for the hot path.
//
//   linear             sigma = c x + d de,               x = e - rest
//   tension only       sigma = max(0, c x + d de) for x > 0, else 0; compression only is its mirror image
//   table              sigma = f(e) + d de,              f a natural cubic spline or a polygon, straight on outside
//   play (P-9, AF-3)   each flank k pushes with zeta(gamma): sigma = zeta(upper - e) - zeta(e - lower)
//                      elastic  zeta = -c gamma                         for gamma < 0, else 0
//                      damped   zeta = -c gamma - d dgamma              for gamma < 0, else 0: jumps, pulls at the end
//                      clipped  zeta = max(0, -c gamma - d dgamma)      for all gamma: acts before touch
//
// sigma > 0 when stretched; the generalized force of the element is -gradient(e) sigma, its power -sigma de.
// The stress splits into an elastic part sigma_E(e) = dE/de with the stored energy E, and the rest; the power the law
// turns into heat is (sigma - sigma_E) de >= 0. So sigma de = dE/dt + dissipation holds on every branch.
// Formulas and actuators are evaluated by the engine, which owns their inputs and states; here they are tags.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "model/model.hpp"

namespace clatter {

enum class LawKind : unsigned char {
  linear,
  tension_only,
  compression_only,
  table,
  play_elastic,
  play_damped,
  play_clipped,
  formula,
  actuator
};

struct CompiledLaw {
  LawKind kind = LawKind::linear;
  bool has_lower = false, has_upper = false;  // flanks of play
  bool smooth = true;                         // table: spline, else polygon
  double c = 0, d = 0;                        // stiffness, damping
  double lower = 0, upper = 0;                // rest length (both), or the flanks
  int first = 0, knots = 0;                   // table: its first piece in LawTables, number of points
};

// The pieces of all tables of a model, one table after the other. A table of n knots has n + 1 pieces: straight before
// the first knot, n - 1 between the knots, straight after the last. With u = e - x:
//   f = y + u (s + u (p + u r)),   its exact integral E = E0 + u (y + u (s/2 + u (p/3 + u r/4)))
struct LawTables {
  struct Piece {
    double x, y, s, p, r, E0;
  };
  std::vector<Piece> pieces;
};

struct LawValue {
  double sigma = 0, d_sigma_de = 0, d_sigma_dde = 0;
  double energy = 0;             // stored; zero where the elastic stress is
  double dissipation_power = 0;  // >= 0
};

// Throws InputError at `source` for a table that is no function, or contradictory wishes.
CompiledLaw compile_law(const Law& law, const Source& source, LawTables& tables);

namespace law_detail {

// A push that acts for gamma < 0 and never pulls is the law of a flank; written for x = -gamma > 0.
struct Push {
  double zeta = 0, c = 0, d = 0, energy = 0, elastic = 0;
};

// max(0, c x + d dx) while x > 0
inline Push unilateral(const CompiledLaw& law, double x, double dx) {
  if (!(x > 0)) return {};
  const double elastic = law.c * x, zeta = elastic + law.d * dx, energy = 0.5 * elastic * x;
  if (!(zeta > 0)) return {0, 0, 0, energy, elastic};
  return {zeta, law.c, law.d, energy, elastic};
}

inline Push flank(const CompiledLaw& law, double x, double dx) {
  const bool touch = x > 0;
  const double elastic = touch ? law.c * x : 0, energy = 0.5 * elastic * x;
  switch (law.kind) {
    case LawKind::play_elastic:
      return {elastic, touch ? law.c : 0, 0, energy, elastic};
    case LawKind::play_damped:
      if (!touch) return {};
      return {elastic + law.d * dx, law.c, law.d, energy, elastic};
    default: {
      const double zeta = law.c * x + law.d * dx;
      if (!(zeta > 0)) return {0, 0, 0, energy, elastic};
      return {zeta, law.c, law.d, energy, elastic};
    }
  }
}

// sign: +1 when the push is a positive stress.
inline void add(const Push& push, double sign, double de, LawValue& value) {
  value.sigma += sign * push.zeta;
  value.d_sigma_de += push.c;
  value.d_sigma_dde += push.d;
  value.energy += push.energy;
  value.dissipation_power += sign * (push.zeta - push.elastic) * de;
}

// Number of knots at or below e, which is also the number of e's piece.
inline int piece_index(const LawTables::Piece* table, int knots, double e) {
  const auto after = std::upper_bound(table + 1, table + 1 + knots, e,
                                      [](double value, const LawTables::Piece& piece) { return value < piece.x; });
  return static_cast<int>(after - (table + 1));
}

}  // namespace law_detail

inline LawValue evaluate_law(const CompiledLaw& law, const LawTables& tables, double e, double de) {
  using namespace law_detail;
  LawValue value;
  switch (law.kind) {
    case LawKind::linear: {
      const double x = e - law.upper;
      value = {law.c * x + law.d * de, law.c, law.d, 0.5 * law.c * x * x, law.d * de * de};
      break;
    }
    case LawKind::tension_only:
      add(unilateral(law, e - law.upper, de), 1, de, value);
      break;
    case LawKind::compression_only:
      add(unilateral(law, law.lower - e, -de), -1, de, value);
      break;
    case LawKind::table: {
      const LawTables::Piece* table = tables.pieces.data() + law.first;
      const LawTables::Piece& k = table[piece_index(table, law.knots, e)];
      const double u = e - k.x;
      value.sigma = k.y + u * (k.s + u * (k.p + u * k.r)) + law.d * de;
      value.d_sigma_de = k.s + u * (2 * k.p + u * 3 * k.r);
      value.d_sigma_dde = law.d;
      value.energy = k.E0 + u * (k.y + u * (k.s / 2 + u * (k.p / 3 + u * k.r / 4)));
      value.dissipation_power = law.d * de * de;
      break;
    }
    case LawKind::play_elastic:
    case LawKind::play_damped:
    case LawKind::play_clipped:
      if (law.has_upper) add(flank(law, e - law.upper, de), 1, de, value);
      if (law.has_lower) add(flank(law, law.lower - e, -de), -1, de, value);
      break;
    case LawKind::formula:
    case LawKind::actuator:
      throw std::logic_error("formulas and actuators are evaluated with their inputs, by the engine");
  }
  return value;
}

// --- events: functions whose zeros are where the law changes its form ------------------------------------------------

enum class LawEvent : unsigned char {
  slack,        // e - rest of a one-sided spring
  lower_flank,  // e - lower
  upper_flank,  // e - upper
  zero_force,   // unclipped force of a one-sided spring
  lower_force,  // unclipped force of the lower flank
  upper_force,
  knot  // corner of a polygon: one function that changes sign at every knot
};

struct LawEvents {
  LawEvent kind[2] = {};
  int count = 0;
};

// Which events a law has; fixed during a run.
inline LawEvents law_events(const CompiledLaw& law) {
  LawEvents events;
  const auto add = [&](LawEvent kind) { events.kind[events.count++] = kind; };
  switch (law.kind) {
    case LawKind::tension_only:
    case LawKind::compression_only:
      add(LawEvent::slack);
      if (law.d > 0) add(LawEvent::zero_force);
      break;
    case LawKind::play_elastic:
    case LawKind::play_damped:
      if (law.has_lower) add(LawEvent::lower_flank);
      if (law.has_upper) add(LawEvent::upper_flank);
      break;
    case LawKind::play_clipped:
      if (law.has_lower) add(LawEvent::lower_force);
      if (law.has_upper) add(LawEvent::upper_force);
      break;
    case LawKind::table:
      if (!law.smooth) add(LawEvent::knot);
      break;
    default:
      break;
  }
  return events;
}

inline double law_event_value(const CompiledLaw& law, const LawTables& tables, LawEvent event, double e, double de) {
  switch (event) {
    case LawEvent::slack:
    case LawEvent::upper_flank:
      return e - law.upper;
    case LawEvent::lower_flank:
      return e - law.lower;
    case LawEvent::zero_force:
    case LawEvent::upper_force:
      return law.c * (e - law.upper) + law.d * de;
    case LawEvent::lower_force:
      return law.c * (e - law.lower) + law.d * de;
    case LawEvent::knot: {
      // (e - x_k)(x_k+1 - e)/(x_k+1 - x_k) with alternating sign between the knots, straight outside: once
      // continuously differentiable, slope +-1 at every knot.
      const LawTables::Piece* table = tables.pieces.data() + law.first;
      const int k = law_detail::piece_index(table, law.knots, e);
      const double sign = k % 2 ? 1 : -1, left = table[k].x;
      if (k == 0) return e - left;
      if (k == law.knots) return sign * (e - left);
      const double right = table[k + 1].x;
      return sign * (e - left) * (right - e) / (right - left);
    }
  }
  return 1;
}

inline const char* law_event_name(LawEvent event) {
  switch (event) {
    case LawEvent::slack:
      return "slack";
    case LawEvent::lower_flank:
      return "lower flank";
    case LawEvent::upper_flank:
      return "upper flank";
    case LawEvent::zero_force:
      return "zero force";
    case LawEvent::lower_force:
      return "zero force at the lower flank";
    case LawEvent::upper_force:
      return "zero force at the upper flank";
    case LawEvent::knot:
      return "corner of the table";
  }
  return "";
}

}  // namespace clatter
