#include "impulse/impact_derivative.hpp"

#include <Eigen/QR>
#include <algorithm>

namespace clatter::contact {

namespace {

// Impulses below this part of the largest one are zero, and as near to a rim are on it.
constexpr double kSmall = 1e-9;
constexpr double kRank = 1e-10;

Mat across(const Vec& m) { return Mat::Identity(m.size(), m.size()) - m * m.transpose(); }

// One complementarity problem with impulses P, from the rates `rate`; P_C and dP_C are those of compression, for an
// expansion.
Mat of_stage(const ImpactProblem& problem, const ImpactVariation& variation, ImpactStage::Law law, const Vec& P,
             const Vec& rate, const Mat& drate, const Mat& Q, const Vec& P_C, const Mat& dP_C) {
  const Eigen::Index n = problem.rate.size();
  Mat L(n, n), B(n, drate.cols());
  const Vec after = rate + problem.G * P;
  const bool expansion = law == ImpactStage::Law::expansion;
  const bool elastic = law == ImpactStage::Law::restitution;
  double largest = P.cwiseAbs().maxCoeff();
  if (expansion) largest = std::max(largest, P_C.cwiseAbs().maxCoeff());
  const double small = kSmall * largest;

  L.setIdentity();
  B.setZero();
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const ImpactContact& c = problem.contacts[i];
    const int N = c.row, nt = c.tangents;
    const double P_NC = expansion ? P_C[N] : 0, eps = expansion ? c.restitution : 0;
    if (P[N] - eps * P_NC > small) {
      L.row(N) = problem.G.row(N);
      B.row(N) = -Q.row(N) - (1 + (elastic ? c.restitution : 0)) * drate.row(N);
    } else if (expansion) {
      B.row(N) = eps * dP_C.row(N);
    }
    if (nt == 0 || c.mu == 0 || P[N] <= small) continue;

    // How the slip after it changes but for the part that dP has in it.
    const double e = elastic ? c.tangential_restitution : 0;
    const Mat rest = Q.middleRows(N + 1, nt) + (1 + e) * drate.middleRows(N + 1, nt);
    const Vec P_TC = expansion ? Vec(P_C.segment(N + 1, nt)) : Vec::Zero(nt);
    const double size = P_TC.norm();
    const bool reversible = size > small;
    const Vec d = reversible ? Vec(P_TC / size) : Vec::Zero(nt);
    const double nu = reversible ? c.reversibility : 0, back = reversible ? eps * c.tangential_restitution : 0;
    const double S = (c.mu * nu * P[N] + back * size) / 2, radius = std::max(c.mu * P[N] - S, 0.0);
    const Vec o = P.segment(N + 1, nt) - S * d;
    if (o.norm() < radius - small) {
      L.middleRows(N + 1, nt) = problem.G.middleRows(N + 1, nt);
      B.middleRows(N + 1, nt) = -rest;
      continue;
    }
    const Vec m = o.norm() > small ? Vec(o.normalized()) : Vec::Zero(nt);
    const Vec slip = after.segment(N + 1, nt) + e * rate.segment(N + 1, nt);
    L.block(N + 1, N, nt, 1) = -c.mu * (nu / 2 * d + (1 - nu / 2) * m);
    const Vec before = problem.rate.segment(N + 1, nt);
    if (before.norm() > 0 && variation.mu_slope[i] != 0) {
      const Mat dmu = variation.mu_slope[i] * before.normalized().transpose() * variation.rate.middleRows(N + 1, nt);
      B.middleRows(N + 1, nt) += P[N] * (nu / 2 * d + (1 - nu / 2) * m) * dmu;
    }
    if (back > 0) B.middleRows(N + 1, nt) += back / 2 * (d - m) * (d.transpose() * dP_C.middleRows(N + 1, nt));
    if (nt == 1) continue;
    if (reversible && S > 0) B.middleRows(N + 1, nt) += S / size * across(d) * dP_C.middleRows(N + 1, nt);
    // A slip that ends just here has no direction to turn.
    if (slip.norm() <= kSmall * problem.rate.cwiseAbs().maxCoeff()) continue;
    const Mat turn = radius / slip.norm() * across(m);
    L.middleRows(N + 1, nt) += turn * problem.G.middleRows(N + 1, nt);
    B.middleRows(N + 1, nt) -= turn * rest;
  }
  // Rows of G carry the masses; without them the rank can be judged.
  for (Eigen::Index row = 0; row < n; ++row) {
    const double size = L.row(row).cwiseAbs().maxCoeff();
    if (!(size > 0)) continue;
    L.row(row) /= size;
    B.row(row) /= size;
  }
  Eigen::CompleteOrthogonalDecomposition<Mat> qr;
  qr.setThreshold(kRank);
  qr.compute(L);
  return qr.solve(B);
}

// P = P_0 + s (P_1 - P_0) with P . rate + P G P / 2 = 0; `whole`: the stages of P_1, their dP in dP.
Mat of_reduction(const ImpactProblem& problem, const ImpactVariation& variation, const ImpactStage& stage,
                 const Vec& P_1, const Mat& dP_1, const Mat& Q_1, const Mat& Q) {
  const double s = stage.part;
  const Vec D = P_1 - stage.without, P = P_1 + stage.P, after = problem.rate + problem.G * P;
  // dG P is linear in P: Q = (s - 1) (Q_1 - Q_0).
  const Mat Q_0 = Q_1 + Q / (1 - s);
  const Mat dP_0 = of_stage(problem, variation, ImpactStage::Law::coulomb, stage.without, problem.rate, variation.rate,
                            Q_0, P_1, dP_1);
  Mat dP = dP_0 + s * (dP_1 - dP_0);
  const double slope = D.dot(after);
  if (s > 0 && slope != 0)
    dP -= D * (after.transpose() * dP + P.transpose() * (variation.rate + 0.5 * (Q_1 + Q))) / slope;
  return dP - dP_1;
}

}  // namespace

void impact_derivative(const ImpactProblem& problem, const std::vector<ImpactStage>& stages,
                       const ImpactVariation& variation, std::vector<Mat>& dP) {
  const Eigen::Index n = problem.rate.size(), columns = variation.rate.cols();
  Vec rate = problem.rate, P_1 = Vec::Zero(n);
  Mat drate = variation.rate, dP_1 = Mat::Zero(n, columns), Q_1 = dP_1;
  dP.clear();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const Vec& P = stages[stage].P;
    const Mat& Q = variation.G[stage];
    dP.push_back(stages[stage].law == ImpactStage::Law::reduction
                     ? of_reduction(problem, variation, stages[stage], P_1, dP_1, Q_1, Q)
                     : of_stage(problem, variation, stages[stage].law, P, rate, drate, Q, stages[0].P,
                                stage > 0 ? dP[0] : dP_1));
    drate += Q + problem.G * dP.back();
    rate += problem.G * P;
    P_1 += P;
    dP_1 += dP.back();
    Q_1 += Q;
  }
}

}  // namespace clatter::contact
