#include "contact/impact_derivative.hpp"

#include <Eigen/QR>
#include <algorithm>

namespace clatter::contact {

namespace {

// Impulses below this part of the largest one are zero, and as near to a rim are on it.
constexpr double kSmall = 1e-9;
constexpr double kRank = 1e-10;

Mat across(const Vec& m) { return Mat::Identity(m.size(), m.size()) - m * m.transpose(); }

}  // namespace

void impact_derivative(const ImpactProblem& problem, const std::vector<ImpactStage>& stages,
                       const ImpactVariation& variation, std::vector<Mat>& dP) {
  const Eigen::Index n = problem.rate.size(), columns = variation.rate.cols();
  Vec rate = problem.rate;
  Mat drate = variation.rate;
  dP.clear();
  Mat L(n, n), B(n, columns);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const Vec& P = stages[stage].P;
    const Mat& Q = variation.G[stage];
    const Vec after = rate + problem.G * P;
    const bool expansion = stages[stage].law == ImpactStage::Law::expansion;
    const bool elastic = stages[stage].law == ImpactStage::Law::restitution;
    double largest = P.cwiseAbs().maxCoeff();
    if (expansion) largest = std::max(largest, stages[0].P.cwiseAbs().maxCoeff());
    const double small = kSmall * largest;

    L.setIdentity();
    B.setZero();
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
      const ImpactContact& c = problem.contacts[i];
      const int N = c.row, nt = c.tangents;
      const double P_NC = expansion ? stages[0].P[N] : 0, eps = expansion ? c.restitution : 0;
      if (P[N] - eps * P_NC > small) {
        L.row(N) = problem.G.row(N);
        B.row(N) = -Q.row(N) - (1 + (elastic ? c.restitution : 0)) * drate.row(N);
      } else if (expansion) {
        B.row(N) = eps * dP[0].row(N);
      }
      if (nt == 0 || c.mu == 0 || P[N] <= small) continue;

      // How the slip after it changes but for the part that dP has in it.
      const double e = elastic ? c.tangential_restitution : 0;
      const Mat rest = Q.middleRows(N + 1, nt) + (1 + e) * drate.middleRows(N + 1, nt);
      const Vec P_TC = expansion ? Vec(stages[0].P.segment(N + 1, nt)) : Vec::Zero(nt);
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
      if (back > 0) B.middleRows(N + 1, nt) += back / 2 * (d - m) * (d.transpose() * dP[0].middleRows(N + 1, nt));
      if (nt == 1) continue;
      if (reversible && S > 0) B.middleRows(N + 1, nt) += S / size * across(d) * dP[0].middleRows(N + 1, nt);
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
    dP.push_back(qr.solve(B));
    drate += Q + problem.G * dP.back();
    rate = after;
  }
}

}  // namespace clatter::contact
