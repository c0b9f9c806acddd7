// Impact laws on plain matrices. Numbers: spec PV-8, PV-15 to PV-23. Where no other reason is given, the tolerance is
// 1e-9: the spec's numbers have nine decimals; closed forms are compared to 1e-12, which a few dozen roundings of
// numbers of size one stay below.
#include "contact/impact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace clatter::contact {
namespace {

using Impact = RigidContact::Impact;
constexpr double kPrinted = 1e-9, kClosed = 1e-12;

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// Two contact rows of PV-6: rod on its tip, m = s = 1.
ImpactProblem rod(double phi, const Vec3& v, const ImpactContact& c) {
  ImpactProblem p;
  const double C = std::cos(phi), S = std::sin(phi);
  p.G.resize(2, 2);
  p.G << 1 + 3 * C * C, 3 * S * C, 3 * S * C, 1 + 3 * S * S;
  p.rate.resize(2);
  p.rate << v[1] - v[2] * C, v[0] - v[2] * S;
  p.contacts = {c};
  return p;
}

struct RodRow {
  Vec3 v;
  double mu, eps, eps_T, nu, P_NC, P_TC, P_NE, P_TE, gap, slip;
};

TEST(PoissonImpact, EccentricRodCouplesNormalAndTangent) {
  const RodRow rows[] = {
      {{1, -1, 0}, 0.3, 0.5, 0, 0, 0.487804878, -0.146341463, 0.243902439, -0.073170732, 0.5, 1.548780488},
      {{1, -1, 0}, 1, 0.5, 0, 0, 1, -1, 0.5, -0.3, 0.8, 0},
      {{-1, -1, 0}, 0.3, 0.5, 0, 0, 0.338983051, 0.101694915, 0.169491525, -0.006779661, 0.413559322, 0},
      {{-0.2, -1, 0}, 0.8, 0.5, 0, 0, 0.55, -0.25, 0.275, -0.165, 0.44, 0},
      {{1, -1, 0}, 1, 1, 1, 1, 1, -1, 1, -1, 1, -1},
  };
  for (const RodRow& row : rows) {
    const ImpactResult r = ImpactSolver().solve(rod(radians(45), row.v, {0, 1, row.mu, row.eps, row.eps_T, row.nu}));
    ASSERT_EQ(r.status, ContactStatus::solved) << r.note;
    EXPECT_NEAR(r.P_compression[0], row.P_NC, kPrinted);
    EXPECT_NEAR(r.P_compression[1], row.P_TC, kPrinted);
    EXPECT_NEAR(r.P[0] - r.P_compression[0], row.P_NE, kPrinted);
    EXPECT_NEAR(r.P[1] - r.P_compression[1], row.P_TE, kPrinted);
    EXPECT_NEAR(r.rate[0], row.gap, kPrinted);
    EXPECT_NEAR(r.rate[1], row.slip, kPrinted);
  }
}

}  // namespace
}  // namespace clatter::contact
