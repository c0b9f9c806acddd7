#include "impulse/impact.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace clatter::contact {
namespace {

constexpr double kSmallImpulse = 1e-10;     // of the largest: no direction can be read from it (trap 19)
constexpr double kSmallRate = 1e-9;         // of the largest: does not approach, and does not slip
constexpr double kCentral = 1e-9;           // |G_NT| over sqrt(G_NN G_TT): rounding of M^-1 W
constexpr double kPerturbation = 1e-6;      // of the largest rate: the slip that breaks a tie (trap 21)
constexpr double kRank = 1e-10;             // pivots below this fraction of the largest are zero
constexpr long kCountedStates = 64;         // up to three planar contacts: microseconds
constexpr long kEnumeratedStates = 200000;  // asked for by name (P-48)
constexpr int kScatteredStarts = 100;
constexpr double kGain = 1e-9;     // of the power of the impulses: the rest is rounding
constexpr int kRepetitions = 100;  // of a one-phase law for contacts that others close

using Index = std::size_t;

Index at(int i) { return static_cast<Index>(i); }

void say(ImpactResult& result, const char* text) {
  if (result.note.find(text) != std::string::npos) return;
  if (!result.note.empty()) result.note += "; ";
  result.note += text;
}

// Without restitution all laws are one.
bool rebounds(const ImpactProblem& problem) {
  return std::any_of(problem.contacts.begin(), problem.contacts.end(),
                     [](const ImpactContact& c) { return c.restitution > 0 || c.tangential_restitution > 0; });
}

}  // namespace

ImpactContact impact_contact(const RigidContact& law, int row, int tangents, double mu) {
  ImpactContact c;
  c.row = row;
  c.tangents = tangents;
  c.mu = law.impact_friction.value_or(mu);
  c.restitution = law.restitution;
  c.tangential_restitution = law.tangential_restitution;
  c.reversibility = law.tangential_restitution > 0 ? law.reversibility : 0;
  c.rule = law.impact;
  return c;
}

std::string describe_gain(RigidContact::Impact rule, double gain, double part) {
  using Rule = RigidContact::Impact;
  const char* name = rule == Rule::poisson ? "poisson" : rule == Rule::newton ? "newton" : "moreau";
  return fmt::format(
      "the law `{}` with this friction and restitution would bring {:.6g} J in; took {:.6g} of its "
      "bounce, which brings none",
      name, gain, part);
}

double part_without_gain(double without, double half, double with) {
  if (!(without < 0)) return 0;
  const double a = 2 * (with + without - 2 * half), b = with - without - a;
  const double s =
      a > 0 ? (-b + std::sqrt(std::max(0.0, b * b - 4 * a * without))) / (2 * a) : -without / (with - without);
  return std::clamp(s, 0.0, 1.0);
}

void ImpactSolver::check(const ImpactProblem& problem) {
  const Eigen::Index n = problem.rate.size();
  if (problem.G.rows() != n || problem.G.cols() != n) throw std::invalid_argument("impact: G does not fit the rates");
  const auto fraction = [](double x) { return x >= 0 && x <= 1; };
  for (const ImpactContact& c : problem.contacts) {
    if (c.row < 0 || c.tangents < 0 || c.tangents > 2 || c.row + c.tangents >= n) {
      throw std::invalid_argument("impact: a contact's rows are not rows of G");
    }
    if (!(c.mu >= 0) || !fraction(c.restitution) || !fraction(c.tangential_restitution) || !fraction(c.reversibility)) {
      throw std::invalid_argument("impact: mu must not be negative, restitutions and reversibility lie in 0 .. 1");
    }
  }
  if (!problem.G.allFinite() || !problem.rate.allFinite()) throw std::domain_error("impact: G or rates not finite");
}

// Slips without friction carry no impulse: they are left out.
void ImpactSolver::select_rows(const ImpactProblem& problem) {
  rows_.clear();
  normal_.clear();
  slip_.clear();
  tangents_.clear();
  for (const ImpactContact& c : problem.contacts) {
    const bool rubs = c.mu > 0 && c.tangents > 0;
    normal_.push_back(static_cast<int>(rows_.size()));
    rows_.push_back(c.row);
    slip_.push_back(rubs ? static_cast<int>(rows_.size()) : -1);
    tangents_.push_back(rubs ? c.tangents : 0);
    for (int t = 1; rubs && t <= c.tangents; ++t) rows_.push_back(c.row + t);
  }
}

void ImpactSolver::coulomb(const ImpactProblem& problem, const Vec& b) {
  const auto n = static_cast<Eigen::Index>(rows_.size());
  cones_.A.resize(n, n);
  cones_.b.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const int row = rows_[static_cast<Index>(i)];
    cones_.b[i] = b[row];
    for (Eigen::Index j = 0; j < n; ++j) cones_.A(i, j) = problem.G(row, rows_[static_cast<Index>(j)]);
  }
  cones_.cones.clear();
  for (Index i = 0; i < normal_.size(); ++i) {
    cones_.cones.push_back(Cone::ray(normal_[i]));
    const double mu = problem.contacts[i].mu;
    if (tangents_[i] == 1) cones_.cones.push_back(Cone::friction(normal_[i], slip_[i], mu));
    if (tangents_[i] == 2) cones_.cones.push_back(Cone::disc(normal_[i], slip_[i], mu));
  }
}

void ImpactSolver::scatter(const Vec& r, Vec& P) const {
  for (Index i = 0; i < rows_.size(); ++i) P[rows_[i]] = r[static_cast<Eigen::Index>(i)];
}

bool ImpactSolver::central(const ImpactProblem& problem) const {
  for (Index i = 0; i < slip_.size(); ++i) {
    for (int t = 0; t < tangents_[i]; ++t) {
      const int T = rows_[at(slip_[i] + t)];
      for (const ImpactContact& c : problem.contacts) {
        const double size = std::sqrt(std::abs(problem.G(T, T) * problem.G(c.row, c.row)));
        if (std::abs(problem.G(c.row, T)) > kCentral * size) return false;
      }
    }
  }
  return true;
}

// The equations that hold at r: gap' = 0 where P_N > 0, slip = 0 inside of the friction set, P_T = mu P_N d on its rim.
// Where they are dependent, r is one of infinitely many.
bool ImpactSolver::indeterminate(const ImpactProblem& problem, const Vec& r) const {
  const double small = kSmallImpulse * r.cwiseAbs().maxCoeff();
  std::vector<Eigen::Index> active;
  Mat A = cones_.A;
  for (Index i = 0; i < normal_.size(); ++i) {
    const int N = normal_[i], T = slip_[i];
    if (r[N] <= small) continue;
    active.push_back(N);
    if (tangents_[i] == 0) continue;
    const double bound = problem.contacts[i].mu * r[N], size = r.segment(T, tangents_[i]).norm();
    if (size < bound - small) {
      for (int t = 0; t < tangents_[i]; ++t) active.push_back(T + t);
    } else {
      A.col(N) += A.middleCols(T, tangents_[i]) * r.segment(T, tangents_[i]) / r[N];
    }
  }
  if (active.empty()) return false;
  Eigen::FullPivLU<Mat> lu(A(active, active));
  lu.setThreshold(kRank);
  return lu.rank() < static_cast<Eigen::Index>(active.size());
}

// The solution near `from` of cones_ in which contacts on the rim of their friction set slide along the direction they
// have there: that undoes a perturbation. True if it solves cones_.
bool ImpactSolver::slide_along(const ImpactProblem& problem, const Vec& from, Vec& r) {
  const double small = kSmallImpulse * from.cwiseAbs().maxCoeff();
  const Eigen::Index n = from.size();
  Mat expand = Mat::Zero(n, n);      // r = expand x
  std::vector<Eigen::Index> paired;  // row of the kinematic quantity that goes with each x
  work_.cones.clear();
  int size = 0;
  for (Index i = 0; i < normal_.size(); ++i) {
    const int N = normal_[i], T = slip_[i], count = tangents_[i];
    const int x = size++;
    expand(N, x) = 1;
    paired.push_back(N);
    work_.cones.push_back(Cone::ray(x));
    if (count == 0) continue;
    const double mu = problem.contacts[i].mu;
    if (from[N] > small && from.segment(T, count).norm() >= mu * from[N] - small) {
      expand.block(T, x, count, 1) = mu * from.segment(T, count).normalized();
      continue;
    }
    for (int t = 0; t < count; ++t) {
      expand(T + t, size + t) = 1;
      paired.push_back(T + t);
    }
    work_.cones.push_back(count == 1 ? Cone::friction(x, size, mu) : Cone::disc(x, size, mu));
    size += count;
  }
  const Mat E = expand.leftCols(size);
  const Mat AE = cones_.A * E;
  work_.A = AE(paired, Eigen::seqN(0, size));
  work_.b = cones_.b(paired);
  Vec x;
  if (solver_.solve(work_, x).status != ContactStatus::solved) return false;
  r = E * x;
  ScaledContact scaled;
  scaled.assign(cones_);
  Vec u, y, F;
  scaled.from_original(r, u);
  kinematics(scaled.problem, u, y);
  return residual(scaled, u, y, F).complementarity <= kSolvedResidual;
}

// Trap 21: a little more slip in the sense of `slip` makes the choice; then the perturbation is taken out again.
void ImpactSolver::choose_opposing(const ImpactProblem& problem, const Vec& slip, ImpactResult& result) {
  const Vec b = cones_.b;
  const double size = problem.rate.cwiseAbs().maxCoeff();
  bool perturbed = false;
  for (Index i = 0; i < slip_.size(); ++i) {
    if (tangents_[i] == 0) continue;
    const Vec s = slip.segment(problem.contacts[i].row + 1, tangents_[i]);
    if (s.norm() <= kSmallRate * size) continue;
    cones_.b.segment(slip_[i], tangents_[i]) += kPerturbation * size * s.normalized();
    perturbed = true;
  }
  bool found = false;
  Vec chosen;
  if (perturbed && state_count(cones_) <= kCountedStates) {
    double least = 0;
    for (const EnumeratedSolution& e : enumerate(cones_, kCountedStates).solutions) {
      double power = 0;
      for (Index i = 0; i < slip_.size(); ++i) {
        if (tangents_[i] > 0) {
          power += e.r.segment(slip_[i], tangents_[i]).dot(slip.segment(problem.contacts[i].row + 1, tangents_[i]));
        }
      }
      if (!found || power < least) chosen = e.r;
      least = found ? std::min(least, power) : power;
      found = true;
    }
  } else if (perturbed) {
    found = solver_.solve(cones_, chosen).status == ContactStatus::solved;
  }
  cones_.b = b;
  if (found && slide_along(problem, chosen, other_)) {
    r_ = other_;
    say(result, "impulses not unique: took friction against the slip before");
  } else {
    say(result, "impulses not unique: took the solver's");
  }
}

// P-48. Discs are enumerated as squares and the candidates improved.
bool ImpactSolver::find_nonzero(ImpactResult& result) {
  work_ = cones_;
  work_.cones.clear();
  for (Cone c : cones_.cones) {
    if (c.kind != Cone::Kind::disc) {
      work_.cones.push_back(c);
      continue;
    }
    work_.cones.push_back(Cone::friction(c.normal, c.row, c.mu_plus));
    work_.cones.push_back(Cone::friction(c.normal, c.row + 1, c.mu_plus));
  }
  if (state_count(work_) > kEnumeratedStates) {
    result.status = ContactStatus::unsupported;
    say(result, "impact without collision: too many contacts to try all states");
    return false;
  }
  const double impulse = cones_.b.cwiseAbs().maxCoeff() / cones_.A.cwiseAbs().maxCoeff();
  double least = 0;
  int found = 0;
  for (const EnumeratedSolution& e : enumerate(work_, kEnumeratedStates).solutions) {
    other_ = e.r;
    if (cones_.has_discs()) {
      ContactOptions warm;
      warm.method = ContactMethod::newton;
      warm.warm_start = true;
      if (solver_.solve(cones_, other_, warm).status != ContactStatus::solved) continue;
    }
    if (other_.cwiseAbs().maxCoeff() <= kSmallRate * impulse) continue;
    const double energy = other_.dot(cones_.b) + 0.5 * other_.dot(cones_.A * other_);
    if (found == 0 || energy < least) {
      least = energy;
      r_ = other_;
    }
    ++found;
  }
  if (found == 0) {
    result.status = ContactStatus::no_solution;
    say(result, "impact without collision: no impulse but zero satisfies the law");
    return false;
  }
  say(result, "impact without collision");
  if (found > 1) say(result, "several nonzero impulses: took the one that dissipates most");
  return true;
}

// With discs, Newton and prox may circle about the border between two pieces (one random system of some thousands);
// Newton from points scattered around the best one then finds the solution in a few attempts.
ContactResult ImpactSolver::solve_scattered(const ContactOptions& options) {
  ContactResult found = solver_.solve(cones_, r_, options);
  if (found.status == ContactStatus::solved || !cones_.has_discs()) return found;
  ContactOptions newton;
  newton.method = ContactMethod::newton;
  newton.warm_start = true;
  const Vec best = r_;
  std::minstd_rand random;  // the same points every time
  const double middle = 0.5 * static_cast<double>(std::minstd_rand::max());
  for (int start = 0; start < kScatteredStarts; ++start) {
    other_ = best;
    for (Eigen::Index i = 0; i < best.size(); ++i) {
      other_[i] += best.norm() * (static_cast<double>(random()) / middle - 1);
    }
    const ContactResult again = solver_.solve(cones_, other_, newton);
    if (again.status != ContactStatus::solved) continue;
    r_ = other_;
    return again;
  }
  return found;
}

bool ImpactSolver::solve_cones(const ImpactProblem& problem, const Vec& slip, bool nonzero, ImpactResult& result) {
  if (nonzero) return find_nonzero(result);
  ContactOptions options;
  options.count_solutions = state_count(cones_) <= kCountedStates;
  const ContactResult found = solve_scattered(options);
  result.status = found.status;
  if (found.status == ContactStatus::no_solution) {
    say(result, "no impulse satisfies the impact law (too much friction for the motion of the surfaces)");
    return false;
  }
  if (found.status != ContactStatus::solved) {
    say(result, "the impact's complementarity problem was not solved");
    return false;
  }
  const bool counted = found.count == SolutionCount::several || found.count == SolutionCount::infinite;
  const bool several = options.count_solutions ? counted : indeterminate(problem, r_);
  if (several) choose_opposing(problem, slip, result);
  return true;
}

bool ImpactSolver::solve_poisson(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result) {
  coulomb(problem, problem.rate);
  if (!solve_cones(problem, problem.rate, options.nonzero_solution, result)) return false;
  scatter(r_, result.P_compression);
  result.rate_compression = problem.rate + problem.G * result.P_compression;
  result.P = result.P_compression;
  result.rate = result.rate_compression;
  result.stages.push_back({ImpactStage::Law::coulomb, result.P, {}, 1});
  return expand(problem, options, result);
}

// Unknowns P_NE - eps P_NC, and P_TE (plane) or P_TE - P_TS (space); what they are shifted by goes to b, and the part
// of P_TS that grows with P_NE to the column of the normal unknown.
bool ImpactSolver::expand(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result) {
  const Vec& P_C = result.P_compression;
  after_ = problem.contacts;
  if (options.for_expansion) {
    for (Index i = 0; i < after_.size(); ++i) {
      const int row = after_[i].row;
      const double P_T = after_[i].tangents > 0 ? P_C.segment(row + 1, after_[i].tangents).norm() : 0;
      options.for_expansion(static_cast<int>(i), P_C[row], after_[i].tangents == 1 ? P_C[row + 1] : P_T, after_[i]);
    }
  }
  bool rebounds = false;
  for (const ImpactContact& c : after_) rebounds = rebounds || c.restitution * P_C[c.row] > 0;
  if (!rebounds) return true;

  const double small = kSmallImpulse * P_C.cwiseAbs().maxCoeff();
  coulomb(problem, result.rate_compression);
  cones_.cones.clear();
  Vec offset = Vec::Zero(cones_.size());
  for (Index i = 0; i < after_.size(); ++i) {
    const ImpactContact& c = after_[i];
    const int N = normal_[i], T = slip_[i];
    const double eps = c.restitution, P_NR = eps * P_C[c.row];
    offset[N] = P_NR;
    cones_.cones.push_back(Cone::ray(N));
    if (tangents_[i] == 0) continue;
    const Vec P_TC = P_C.segment(c.row + 1, tangents_[i]);
    const double size = P_TC.norm();
    const double nu = size > small ? c.reversibility : 0;
    const double returned = size > small ? eps * c.tangential_restitution * size : 0;
    if (tangents_[i] == 1) {
      const double wide = c.mu * P_NR, narrow = std::min((1 - nu) * wide - returned, wide);
      if (P_TC[0] > 0) {
        cones_.cones.push_back(Cone::interval(N, T, (1 - nu) * c.mu, c.mu, std::min(-narrow, wide), wide));
      } else {
        cones_.cones.push_back(Cone::interval(N, T, c.mu, (1 - nu) * c.mu, -wide, std::max(narrow, -wide)));
      }
    } else {
      const Vec d = size > small ? Vec(P_TC / size) : Vec::Zero(2);
      const double radius = c.mu * (1 - nu / 2) * P_NR - returned / 2;
      offset.segment(T, 2) = d * (c.mu * nu * P_NR + returned) / 2;
      cones_.cones.push_back(Cone::disc(N, T, c.mu * (1 - nu / 2), std::max(radius, 0.0)));
    }
  }
  cones_.b += cones_.A * offset;
  for (Index i = 0; i < after_.size(); ++i) {
    if (tangents_[i] != 2) continue;
    const ImpactContact& c = after_[i];
    const double size = P_C.segment(c.row + 1, 2).norm();
    if (size <= small) continue;
    cones_.A.col(normal_[i]) +=
        cones_.A.middleCols(slip_[i], 2) * P_C.segment(c.row + 1, 2) * (c.mu * c.reversibility / (2 * size));
  }
  const ContactResult found = solve_scattered({});
  result.status = found.status;
  if (found.status != ContactStatus::solved) {
    say(result, found.status == ContactStatus::no_solution ? "no impulse satisfies the expansion law"
                                                           : "the expansion's complementarity problem was not solved");
    return false;
  }
  for (Index i = 0; i < after_.size(); ++i) {
    if (tangents_[i] != 2) continue;
    const ImpactContact& c = after_[i];
    const double size = P_C.segment(c.row + 1, 2).norm();
    if (size <= small) continue;
    offset.segment(slip_[i], 2) += P_C.segment(c.row + 1, 2) * (c.mu * c.reversibility * r_[normal_[i]] / (2 * size));
  }
  r_ += offset;
  P_.setZero(problem.rate.size());
  scatter(r_, P_);
  result.P += P_;
  result.rate += problem.G * P_;
  result.stages.push_back({ImpactStage::Law::expansion, P_, {}, 1});
  return true;
}

bool ImpactSolver::solve_one_phase(const ImpactProblem& problem, const ImpactOptions& options, ImpactResult& result) {
  result.P.setZero(problem.rate.size());
  result.rate = problem.rate;
  const double size = problem.rate.cwiseAbs().maxCoeff();
  for (int repetition = 0; repetition <= kRepetitions; ++repetition) {
    const bool last = repetition == kRepetitions;
    b_ = result.rate;
    rate_ = result.rate;
    for (const ImpactContact& c : problem.contacts) {
      b_[c.row] *= 1 + (last ? 0 : c.restitution);
      for (int t = 1; t <= c.tangents; ++t) b_[c.row + t] *= 1 + (last ? 0 : c.tangential_restitution);
    }
    coulomb(problem, b_);
    if (!solve_cones(problem, rate_, options.nonzero_solution && repetition == 0, result)) return false;
    P_.setZero(problem.rate.size());
    scatter(r_, P_);
    result.P += P_;
    result.rate += problem.G * P_;
    result.stages.push_back({last ? ImpactStage::Law::coulomb : ImpactStage::Law::restitution, P_, {}, 1});
    bool approaches = false;
    for (const ImpactContact& c : problem.contacts) approaches = approaches || result.rate[c.row] < -kSmallRate * size;
    if (!approaches) break;
    say(result, repetition + 1 < kRepetitions ? "contacts closed by others collided at the same instant"
                                              : "endless collisions at one instant ended without restitution");
  }
  result.P_compression = result.P;
  result.rate_compression = result.rate;
  return true;
}

void ImpactSolver::solve(const ImpactProblem& problem, ImpactResult& result, const ImpactOptions& options) {
  check(problem);
  const Eigen::Index n = problem.rate.size();
  result.status = ContactStatus::solved;
  result.note.clear();
  result.stages.clear();
  result.gain = 0;
  result.part = 1;
  result.gains = -1;
  result.P_compression.setZero(n);
  select_rows(problem);

  using Rule = RigidContact::Impact;
  bool mixed = false;
  Rule rule = problem.contacts.empty() ? Rule::poisson : problem.contacts.front().rule;
  for (const ImpactContact& c : problem.contacts) {
    if (c.rule == rule) continue;
    mixed = true;
    rule = rule == Rule::poisson || c.rule == Rule::poisson ? Rule::poisson : Rule::moreau;
  }
  if (mixed) {
    say(result, rule == Rule::poisson ? "contacts with different impact laws: Poisson's taken for all"
                                      : "contacts with different impact laws: Moreau's taken for all");
  }

  bool solved = true;
  if (problem.contacts.empty()) {
    result.P = result.P_compression;
    result.rate = result.rate_compression = problem.rate;
  } else if (rule == Rule::poisson) {
    solved = solve_poisson(problem, options, result);
  } else if (rule == Rule::newton && rebounds(problem) && !central(problem)) {
    result.status = ContactStatus::unsupported;
    say(result, "Newton's law with friction needs a central impact; use poisson or moreau");
    solved = false;
  } else {
    solved = solve_one_phase(problem, options, result);
  }
  if (!solved) {
    result.P_compression.setZero(n);
    result.P.setZero(n);
    result.rate = result.rate_compression = problem.rate;
  }
  result.energy_compression = 0.5 * result.P_compression.dot(problem.rate + result.rate_compression);
  balance(problem, result);
}

void ImpactSolver::balance(const ImpactProblem& problem, ImpactResult& result) {
  result.energy_of_contact.clear();
  result.energy = 0;
  for (const ImpactContact& c : problem.contacts) {
    const Eigen::Index size = 1 + c.tangents;
    const double share =
        0.5 * result.P.segment(c.row, size).dot(problem.rate.segment(c.row, size) + result.rate.segment(c.row, size));
    result.energy_of_contact.push_back(share);
    result.energy += share;
  }
}

void ImpactSolver::forbid_gain(const ImpactProblem& problem, ImpactResult& result) {
  if (result.energy <= kGain * result.P.cwiseProduct(problem.rate).cwiseAbs().sum()) return;
  const auto most = std::max_element(result.energy_of_contact.begin(), result.energy_of_contact.end());
  result.gain = result.energy;
  result.gains = static_cast<int>(most - result.energy_of_contact.begin());
  // Poisson's compression is the law without restitution; of the one-phase laws it is asked for.
  without_ = result.P_compression;
  if (result.stages.empty() || result.stages.front().law != ImpactStage::Law::coulomb) {
    coulomb(problem, problem.rate);
    without_.setZero(problem.rate.size());
    if (solve_scattered({}).status == ContactStatus::solved) scatter(r_, without_);
  }
  const auto energy = [&](const Vec& P) { return P.dot(problem.rate) + 0.5 * P.dot(problem.G * P); };
  P_ = 0.5 * (without_ + result.P);
  result.part = part_without_gain(energy(without_), energy(P_), result.energy);
  P_ = (result.part - 1) * (result.P - without_);
  result.P += P_;
  result.rate.noalias() += problem.G * P_;
  result.stages.push_back({ImpactStage::Law::reduction, P_, without_, result.part});
  balance(problem, result);
}

ImpactResult ImpactSolver::solve(const ImpactProblem& problem, const ImpactOptions& options) {
  ImpactResult result;
  solve(problem, result, options);
  return result;
}

}  // namespace clatter::contact
