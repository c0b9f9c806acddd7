// Laws: force values of PV-3, derivatives against differences, energy against its stress, the balance
// sigma de = dE/dt + dissipation on every branch, and events that change sign where the law changes form.
#include "engine/law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace clatter {
namespace {

struct Compiled {
  LawTables tables;
  CompiledLaw law;
  explicit Compiled(const Law& description) : law(compile_law(description, {}, tables)) {}
  LawValue operator()(double e, double de = 0) const { return evaluate_law(law, tables, e, de); }
  double event(LawEvent which, double e, double de) const { return law_event_value(law, tables, which, e, de); }
};

LinearLaw one_sided(bool tension) {
  LinearLaw law{.stiffness = 40, .damping = 1.5, .rest = 0.3};
  (tension ? law.tension_only : law.compression_only) = true;
  return law;
}

PlayLaw play(PlayLaw::Kind kind, bool lower = true, bool upper = true) {
  return {
      .kind = kind, .lower = -0.2, .upper = 0.5, .has_lower = lower, .has_upper = upper, .stiffness = 30, .damping = 2};
}

TableLaw table(bool smooth) {
  return {.e = {-1, -0.4, 0.1, 0.9, 2}, .sigma = {-3, -2, 0.5, 1, 4}, .smooth = smooth, .damping = 0.7};
}

std::vector<Law> all_laws() {
  std::vector<Law> laws = {LinearLaw{.stiffness = 40, .damping = 1.5, .rest = 0.3}, one_sided(true), one_sided(false),
                           table(true), table(false)};
  for (auto kind : {PlayLaw::Kind::elastic, PlayLaw::Kind::damped, PlayLaw::Kind::clipped})
    for (auto [lower, upper] : {std::pair{true, true}, {true, false}, {false, true}})
      laws.push_back(play(kind, lower, upper));
  return laws;
}

// Whether no event of the law lies within h of (e, de), so that a difference stays on one branch.
bool on_one_branch(const Compiled& law, double e, double de, double h) {
  const LawEvents events = law_events(law.law);
  for (int i = 0; i < events.count; ++i)
    if (std::abs(law.event(events.kind[i], e, de)) < 100 * h) return false;
  return true;
}

TEST(LinearLaw, GivesSpringAndDamper) {
  const Compiled law(LinearLaw{.stiffness = 40, .damping = 1.5, .rest = 0.3});
  const LawValue v = law(0.5, -2);
  EXPECT_NEAR(v.sigma, 40 * 0.2 - 1.5 * 2, 1e-14);
  EXPECT_NEAR(v.energy, 0.8, 1e-15);
  EXPECT_NEAR(v.dissipation_power, 6, 1e-15);
}

TEST(OneSidedLaw, NeverActsTheWrongWay) {
  const Compiled tension(one_sided(true)), compression(one_sided(false));
  int pulled = 0, pushed = 0;
  for (double e = -1; e < 1.5; e += 0.0371)
    for (double de = -30; de < 30; de += 1.7) {
      EXPECT_GE(tension(e, de).sigma, 0);
      EXPECT_LE(compression(e, de).sigma, 0);
      EXPECT_EQ((e < 0.3 ? tension : compression)(e, de).sigma, 0);
      pulled += tension(e, de).sigma > 0;
      pushed += compression(e, de).sigma < 0;
      // mirror images about the rest length
      EXPECT_NEAR(tension(e, de).sigma, -compression(0.6 - e, -de).sigma, 1e-13);
    }
  EXPECT_GT(pulled, 100);
  EXPECT_GT(pushed, 100);
}

// PV-3: c = 1000, d = 10, m = 1, v0 = -1; gamma = lower-flank gap, zeta = -sigma.
TEST(PlayLaw, GivesTheForcesOfAMassHittingATable) {
  PlayLaw p{.lower = 0, .has_upper = false, .stiffness = 1000, .damping = 10};
  const double touch = -1e-15;
  p.kind = PlayLaw::Kind::elastic;
  EXPECT_NEAR(-Compiled(p)(-0.031622777).sigma, 31.6227766, 1e-6);  // nine printed digits of the depth
  p.kind = PlayLaw::Kind::damped;
  EXPECT_NEAR(-Compiled(p)(touch, -1).sigma, 10, 1e-10);                    // start: d |v0|
  EXPECT_NEAR(-Compiled(p)(touch, 0.604679066).sigma, -6.046790657, 1e-8);  // end: pulls with d e |v0|
  EXPECT_EQ(Compiled(p)(1e-15, -1).sigma, 0);
  p.kind = PlayLaw::Kind::clipped;
  EXPECT_NEAR(-Compiled(p)(-0.006362224, 0.636222416).sigma, 0, 1e-6);  // (c): leaves at zero force
  EXPECT_EQ(Compiled(p)(-0.006362224, 0.64).sigma, 0);
  EXPECT_GT(-Compiled(p)(-0.006362224, 0.63).sigma, 0);
  EXPECT_NEAR(-Compiled(p)(0.005, -1).sigma, 5, 1e-12);  // acts before touch
}

// PV-3 (a) and (b) as motions: contact time and restitution follow from the law alone. Classical Runge-Kutta inside
// the contact branch (4000 steps, error far below 1e-9); the end is interpolated linearly in the last step, whose
// curvature error is a h^2/8 < 1e-9.
TEST(PlayLaw, GivesTheContactTimeAndReboundOfAMassHittingATable) {
  for (auto [kind, time, rebound] : {std::tuple{PlayLaw::Kind::elastic, 0.099345883, 1.0},
                                     std::tuple{PlayLaw::Kind::damped, 0.100611486, 0.604679066}}) {
    const Compiled law(PlayLaw{.kind = kind, .lower = 0, .has_upper = false, .stiffness = 1000, .damping = 10});
    double e = -1e-300, v = -1, t = 0, e0 = e, v0 = v;
    const double h = time / 4000;
    const auto a = [&](double x, double dx) { return -law(std::min(x, -1e-300), dx).sigma; };
    while (e < 0 && t < 1) {
      e0 = e, v0 = v;
      const double k1 = a(e, v), k2 = a(e + h / 2 * v, v + h / 2 * k1);
      const double k3 = a(e + h / 2 * v + h * h / 4 * k1, v + h / 2 * k2);
      const double k4 = a(e + h * v + h * h / 2 * k2, v + h * k3);
      e += h * v + h * h / 6 * (k1 + k2 + k3);
      v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      t += h;
    }
    const double part = e / (e - e0);
    EXPECT_NEAR(t - part * h, time, 2e-8);
    EXPECT_NEAR(v - part * (v - v0), rebound, 2e-7);
  }
}

TEST(PlayLaw, HasTwoEqualFlanksWithNothingBetween) {
  for (auto kind : {PlayLaw::Kind::elastic, PlayLaw::Kind::damped, PlayLaw::Kind::clipped}) {
    const Compiled law(play(kind));
    EXPECT_EQ(law(0.1, 0).sigma, 0);
    EXPECT_NEAR(law(0.6, 0).sigma, 3, 1e-14);
    EXPECT_NEAR(law(-0.3, 0).sigma, -3, 1e-14);
    EXPECT_NEAR(law(0.6, 0.2).sigma, -law(-0.3, -0.2).sigma, 1e-14);
  }
}

TEST(EveryLaw, HasTheDerivativesOfCentralDifferences) {
  const double h = 1e-6;  // pieces are cubic at most: truncation 1e-12, round-off 1e-16 * 100 / h
  for (const Law& description : all_laws()) {
    const Compiled law(description);
    int tested = 0;
    for (double e = -1.7; e < 2.6; e += 0.0773)
      for (double de : {-6.0, -0.9, 0.0, 0.4, 7.0}) {
        if (!on_one_branch(law, e, de, h)) continue;
        ++tested;
        const LawValue v = law(e, de);
        EXPECT_NEAR(v.d_sigma_de, (law(e + h, de).sigma - law(e - h, de).sigma) / (2 * h), 2e-8);
        EXPECT_NEAR(v.d_sigma_dde, (law(e, de + h).sigma - law(e, de - h).sigma) / (2 * h), 2e-8);
      }
    EXPECT_GT(tested, 200);
  }
}

TEST(EveryLaw, StoresTheEnergyOfItsElasticStressAndDissipatesTheRest) {
  const double h = 1e-5;
  for (const Law& description : all_laws()) {
    const Compiled law(description);
    for (double e = -1.7; e < 2.6; e += 0.0773)
      for (double de : {-6.0, -0.9, 0.0, 0.4, 7.0}) {
        const LawValue v = law(e, de);
        EXPECT_GE(v.dissipation_power, 0);
        EXPECT_GE(v.energy, -1e-15);
        // the energy is continuously differentiable everywhere: E' = elastic stress; jump of E'' only
        const double slope = (law(e + h, de).energy - law(e - h, de).energy) / (2 * h);
        EXPECT_NEAR(v.sigma * de, slope * de + v.dissipation_power, 1e-8 + 100 * h * std::abs(de)) << e << ' ' << de;
        if (on_one_branch(law, e, de, h)) {
          EXPECT_NEAR(v.sigma * de, slope * de + v.dissipation_power, 2e-8 * (1 + std::abs(de))) << e << ' ' << de;
        }
      }
  }
}

TEST(TableLaw, PassesThroughItsPointsAndContinuesStraight) {
  for (bool smooth : {true, false}) {
    const TableLaw points = table(smooth);
    const Compiled law(points);
    for (std::size_t i = 0; i < points.e.size(); ++i) EXPECT_NEAR(law(points.e[i]).sigma, points.sigma[i], 1e-14);
    const double slope = law(5).d_sigma_de;
    EXPECT_NEAR(law(7).sigma - law(5).sigma, 2 * slope, 1e-13);
    EXPECT_NEAR(slope, law(std::nextafter(2, 0)).d_sigma_de, 1e-13);
    EXPECT_NEAR(law(-5).d_sigma_de, law(-1).d_sigma_de, 1e-13);
  }
}

TEST(TableLaw, SplineHasContinuousSlopeAndCurvature) {
  const Compiled law(table(true));
  const double h = 1e-7;
  for (double knot : {-1.0, -0.4, 0.1, 0.9, 2.0}) {
    EXPECT_NEAR(law(knot - h).d_sigma_de, law(knot + h).d_sigma_de, 1e-5);
    const double before = (law(knot - h).d_sigma_de - law(knot - 2 * h).d_sigma_de) / h;
    const double after = (law(knot + 2 * h).d_sigma_de - law(knot + h).d_sigma_de) / h;
    EXPECT_NEAR(before, after, 1e-4);
  }
}

TEST(TableLaw, EqualsAnIndependentNaturalSpline) {
  // scipy.interpolate.CubicSpline(e, sigma, bc_type="natural") at these places, and its integral from -0.4 to 0.9.
  const Compiled law(table(true));
  EXPECT_NEAR(law(-0.8).sigma, -2.88659116711547, 2e-14);
  EXPECT_NEAR(law(-0.1).sigma, -0.442289522326162, 2e-14);
  EXPECT_NEAR(law(0.3).sigma, 0.971157251897653, 2e-14);
  EXPECT_NEAR(law(0.5).sigma, 1.07295058125897, 2e-14);
  EXPECT_NEAR(law(1.5).sigma, 2.17399641239234, 2e-14);
  EXPECT_NEAR(law(0.9).energy - law(-0.4).energy, 0.40797239704038, 2e-14);
}

TEST(TableLaw, EnergyIsTheExactIntegral) {
  // Gauss-Legendre with three points is exact for the pieces' cubics, so only round-off remains.
  for (bool smooth : {true, false}) {
    const TableLaw points = table(smooth);
    const Compiled law(points);
    for (std::size_t i = 0; i + 1 < points.e.size(); ++i) {
      const double h = points.e[i + 1] - points.e[i], middle = (points.e[i + 1] + points.e[i]) / 2,
                   r = h / 2 * std::sqrt(0.6);
      const double integral = h / 18 * (5 * law(middle - r).sigma + 8 * law(middle).sigma + 5 * law(middle + r).sigma);
      EXPECT_NEAR(law(points.e[i + 1]).energy - law(points.e[i]).energy, integral, 5e-15);
    }
  }
  // straight lines: the unstressed place is e = 0, E(0.1) = 0.1 * 0.5 / 2
  EXPECT_NEAR(Compiled(table(false))(0).energy, 0, 1e-15);
  EXPECT_NEAR(Compiled(table(false))(0.1).energy, 0.025, 1e-15);
}

TEST(TableLaw, ManyTablesShareOneStore) {
  LawTables tables;
  const CompiledLaw first = compile_law(table(true), {}, tables);
  const CompiledLaw second =
      compile_law(TableLaw{.e = {0, 1}, .sigma = {0, 5}, .smooth = true, .damping = 0}, {}, tables);
  EXPECT_NEAR(evaluate_law(first, tables, 0.9, 0).sigma, 1, 1e-14);
  EXPECT_NEAR(evaluate_law(second, tables, 0.4, 0).sigma, 2, 1e-15);
  EXPECT_NEAR(evaluate_law(second, tables, -0.4, 0).sigma, -2, 1e-15);
}

TEST(TableLaw, ThatIsNoFunctionIsRefused) {
  LawTables tables;
  const auto compile = [&](std::vector<double> e, std::vector<double> sigma) {
    return compile_law(TableLaw{.e = e, .sigma = sigma, .smooth = true, .damping = 0}, {"m.yaml", 3, 5}, tables);
  };
  EXPECT_THROW(compile({0}, {0}), InputError);
  EXPECT_THROW(compile({0, 1, 1}, {0, 1, 2}), InputError);
  EXPECT_THROW(compile({0, 1}, {0}), InputError);
  EXPECT_THROW(compile({0, NAN}, {0, 1}), InputError);
  LinearLaw both = one_sided(true);
  both.compression_only = true;
  EXPECT_THROW(compile_law(both, {}, tables), InputError);
  EXPECT_THROW(compile_law(play(PlayLaw::Kind::damped, false, false), {}, tables), InputError);
  EXPECT_TRUE(tables.pieces.empty());
}

TEST(LawEvents, ChangeSignExactlyWhereTheLawChangesForm) {
  // Along a line through the plane (e, de) the jumps of slope or stress and the sign changes are the same places.
  for (const Law& description : all_laws()) {
    const Compiled law(description);
    const LawEvents events = law_events(law.law);
    for (double de : {-3.0, 0.0, 2.0}) {
      const double h = 1e-3;
      for (double e = -1.7005; e < 2.6; e += h) {
        bool crossed = false;
        for (int i = 0; i < events.count; ++i)
          crossed |= law.event(events.kind[i], e, de) * law.event(events.kind[i], e + h, de) < 0;
        const LawValue a = law(e, de), b = law(e + h, de);
        const bool jumped = std::abs(b.d_sigma_de - a.d_sigma_de) > 0.1 || std::abs(b.sigma - a.sigma) > 0.2;
        EXPECT_TRUE(crossed || !jumped) << e << ' ' << de << ' ' << static_cast<int>(law.law.kind);
      }
    }
  }
  const Compiled polygon(table(false));
  for (double knot : {-1.0, -0.4, 0.1, 0.9, 2.0}) {
    const double before = polygon.event(LawEvent::knot, knot - 1e-6, 0),
                 after = polygon.event(LawEvent::knot, knot + 1e-6, 0);
    EXPECT_LT(before * after, 0);
    EXPECT_NEAR(std::abs(after), 1e-6, 1e-10);
  }
}

TEST(FormulaLaw, IsLeftToTheEngine) {
  LawTables tables;
  const CompiledLaw formula = compile_law(FormulaLaw{}, {}, tables), actuator = compile_law(ActuatorLaw{}, {}, tables);
  EXPECT_EQ(formula.kind, LawKind::formula);
  EXPECT_EQ(actuator.kind, LawKind::actuator);
  EXPECT_THROW(evaluate_law(formula, tables, 0, 0), std::logic_error);
}

}  // namespace
}  // namespace clatter
