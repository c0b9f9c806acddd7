// Compliant contact of beams along lines and at corners: where it acts, by how much, and what it keeps (Y-21, Y-22,
// YV-14).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "contact/motion.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Pressed {
  std::shared_ptr<const System> system;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<ContactDynamics> dynamics;

  explicit Pressed(const std::string& text) {
    system = System::compile(load_model_text("clatter: 1\n" + text, "pressed"));
    engine = std::make_unique<Engine>(system);
    dynamics = std::make_unique<ContactDynamics>(ContactSystem::compile(system), *engine);
  }
  // Generalized forces of the contact, and through them the slots' own.
  Vec forces(const State& s) {
    dynamics->stored_energy(s);
    return *dynamics->compliant().generalized();
  }
  double normal_force(const State& s) {
    forces(s);
    double sum = 0;
    for (int slot = 0; slot < dynamics->contacts().slots(); ++slot) sum += dynamics->compliant().force(slot)[0];
    return sum;
  }
};

std::string two(const std::string& upper, const std::string& lower, const std::string& contact) {
  const std::string beam =
      "type: beam, planar: true, element: ancf-beam, section: {rectangle: [0.1, 0.2]}, material: {density: 1000, "
      "young: "
      "1e5, poisson: 0.3}";
  return fmt::format("bodies:\n  upper: {{{0}, {1}}}\n  lower: {{{0}, {2}}}\ncontacts: {{press: {3}}}\n", beam, upper,
                     lower, contact);
}

const char* const kLines =
    "{between: [upper, lower], law: {type: linear, stiffness: 1e4}, beams: {line_stiffness: 3e6}}";

// Y-21: two straight beams on each other, the upper one pushed over the end of the lower one. The gap is the same
// everywhere, so that Gauss points integrate it exactly where they stand on the part that is covered: the force is
// c b (overlap) (penetration) at every shift, to rounding, and passes no jump when an end passes a point, a segment or
// an element. Its line of action is the middle of the overlap (patch test).
TEST(PenaltyLines, PressOnTheLengthThatIsCovered) {
  const double depth = 1e-3;
  Pressed beams(two(fmt::format("elements: 3, to: [1, 0], position: [0.3, {:.17g}]", 0.1 - depth),
                    "elements: 2, to: [0.9, 0]", kLines));
  const FlexibleIndex& upper = beams.system->flexible[0];
  for (int i = 0; i <= 300; ++i) {
    const double shift = 0.0019 * i, overlap = 0.6 - shift;
    State s = beams.system->initial;
    for (int k = 0; k < upper.n; k += 4) s.q[upper.q + k] += shift;
    const double whole = 3e6 * 0.2 * overlap * depth;
    EXPECT_NEAR(beams.normal_force(s), whole, 1e-10 * whole) << shift;
    // A turn of the upper beam about the origin, dx = -y, dy = x: the work of the forces is their moment.
    const Vec f = beams.forces(s);
    double moment = 0;
    for (int k = 0; k < upper.n; k += 2)
      moment += s.q[upper.q + k] * f[upper.v + k + 1] - s.q[upper.q + k + 1] * f[upper.v + k];
    EXPECT_NEAR(moment, whole * 0.5 * (0.3 + shift + 0.9), 1e-9 * whole) << shift;
  }
}

// The same where the master is shorter than a segment: both its ends cut one.
TEST(PenaltyLines, PressOnAMasterShorterThanASegment) {
  Pressed beams(
      two("elements: 1, to: [1, 0], position: [0, 0.099]", "elements: 1, to: [0.07, 0], position: [0.43, 0]", kLines));
  const double whole = 3e6 * 0.2 * 0.07 * 1e-3;
  EXPECT_NEAR(beams.normal_force(beams.system->initial), whole, 1e-10 * whole);
}

std::string tilted(double angle, double depth, const std::string& beams) {
  // The lower left corner of the upper beam at (0.4, 0.05 - depth), its axis turned by the angle.
  return two(fmt::format("elements: 4, to: [1, 0], position: [{:.17g}, {:.17g}], orientation: {:.17g}",
                         0.4 - 0.05 * std::sin(angle), 0.05 - depth + 0.05 * std::cos(angle), angle),
             "elements: 4, to: [1, 0]",
             "{between: [upper, lower], law: {type: linear, stiffness: 1e5}, beams: {" + beams + "}}");
}

// YV-14: at the angle at which points pass to lines both formulas have the same gap. That of the lines is a straight
// function of the place; continued to the corner it is the corner's, here to rounding (asked for: 1e-6).
TEST(PenaltySwitch, HasTheSameGapByPointsAndByLines) {
  const double angle = 2 * M_PI / 180, depth = 1e-3;
  Pressed points(tilted(angle, depth, "touch: points")), lines(tilted(angle, depth, "touch: lines"));
  const auto gaps = [](Pressed& b, std::vector<std::pair<double, double>>& out) {
    b.dynamics->stored_energy(b.system->initial);
    for (int slot = 0; slot < b.dynamics->contacts().slots(); ++slot)
      // Of the upper beam, against the straight side of the lower: the normal is the vertical.
      if (b.dynamics->compliant().force(slot)[0] > 0 && std::abs(b.dynamics->contacts()[slot].basis(0, 0)) < 1e-9)
        out.emplace_back(b.dynamics->contacts()[slot].p1.x(), b.dynamics->contacts()[slot].gap);
  };
  std::vector<std::pair<double, double>> at_corner, along;
  gaps(points, at_corner);
  gaps(lines, along);
  ASSERT_EQ(at_corner.size(), 1u);
  ASSERT_GE(along.size(), 2u);
  std::sort(along.begin(), along.end());
  const auto [x0, g0] = along[0];
  const auto [x1, g1] = along[1];
  EXPECT_NEAR(at_corner[0].second, -depth, 1e-12);
  EXPECT_NEAR(g0 + (g1 - g0) * (0.4 - x0) / (x1 - x0), at_corner[0].second, 1e-9);
}

// YV-14: no jump of the force where contact passes from the corner to the side. The corner stays 1 mm deep while the
// beam is laid down from 6 to 1 degrees; between 4 and 2 the corner hands over to the side. The steepest part of the
// hand-over is 1.6 times the difference of the two forces in 2 degrees: 0.8 % of the larger one in a hundredth of a
// degree. Halving the step halves the largest change: it is a slope, not a jump.
TEST(PenaltySwitch, PassesFromPointsToLinesWithoutAJump) {
  double largest[2] = {0, 0};
  for (const int fine : {0, 1}) {
    const double step = (fine ? 0.005 : 0.01) * M_PI / 180;
    double last = -1;
    for (double angle = 6 * M_PI / 180; angle > 1 * M_PI / 180; angle -= step) {
      Pressed beams(tilted(angle, 1e-3, ""));
      const double force = beams.normal_force(beams.system->initial);
      if (last >= 0) largest[fine] = std::max(largest[fine], std::abs(force - last));
      last = force;
    }
  }
  const double at_corner = 1e5 * 1e-3;
  EXPECT_GT(largest[0], 1e-4 * at_corner);
  EXPECT_LT(largest[0], 0.01 * at_corner);
  EXPECT_NEAR(largest[1] / largest[0], 0.5, 0.05);
}

// The ledger of a contact whose part changes: while one beam slides over the end of another and turns through the
// angles of the hand-over, the power of its forces is the change of its energy and what is booked as passed on. Rates
// by central differences of 1e-6 s.
TEST(PenaltySwitch, BooksWhatChangesWithoutWork) {
  for (const double angle : {0.0, 0.045, 0.055}) {
    Pressed beams(two(fmt::format("elements: 2, to: [1, 0], position: [0.35, 0.099], orientation: {}", angle),
                      "elements: 2, to: [0.9, 0]",
                      "{between: [upper, lower], law: {type: linear, stiffness: 1e4, damping: 5}, beams: "
                      "{line_stiffness: 3e6}}"));
    State s = beams.system->initial;
    const FlexibleIndex& upper = beams.system->flexible[0];
    // Slides by 1 m/s, turns by 0.3 rad/s about the origin and sinks by 0.1 m/s.
    s.v.setZero();
    for (int k = 0; k < upper.n; k += 2) {
      s.v[upper.v + k] = (k % 4 == 0 ? 1.0 : 0.0) - 0.3 * s.q[upper.q + k + 1];
      s.v[upper.v + k + 1] = (k % 4 == 0 ? -0.1 : 0.0) + 0.3 * s.q[upper.q + k];
    }
    const auto energy = [&](double t) {
      State at = s;
      at.q += t * s.v;
      beams.forces(at);
      return beams.dynamics->compliant().stored_energy();
    };
    const double h = 1e-6, rate = (energy(h) - energy(-h)) / (2 * h);
    const double power = beams.forces(s).dot(s.v);
    double passed[1] = {0};
    beams.dynamics->compliant().powers(passed);
    EXPECT_GT(std::abs(rate), 1e-3) << angle;
    EXPECT_NEAR(power, -rate + passed[0], 1e-6 * std::abs(rate)) << angle;
  }
}

// YV-14: mirror images stay so. Both beams are slave and master alike, by half the area each: the forces on a left and
// a right beam, bent at random but mirrored, are mirrored to rounding.
TEST(PenaltyLines, DoNotPreferOneOfTheTwoBeams) {
  const std::string beam =
      "type: beam, planar: true, element: ancf-beam, elements: 5, section: {rectangle: [0.1, 0.2]}, material: "
      "{density: "
      "1000, young: 1e5, poisson: 0.3}";
  Pressed beams(
      fmt::format("bodies:\n  left: {{{0}, to: [0, 1], position: [-0.0495, 0]}}\n  right: {{{0}, to: [0, 1], "
                  "position: [0.0495, 0]}}\ncontacts: {{clap: {{between: [left, right], law: {{type: linear, "
                  "stiffness: 1e4, friction: 0.3, friction_velocity: 0.1}}}}}}\n",
                  beam));
  State s = beams.system->initial;
  const FlexibleIndex &left = beams.system->flexible[0], &right = beams.system->flexible[1];
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  // Gradients across the section point to the left on both: mirrored they change sign.
  const auto mirror = [](int k) { return (k % 2 == 0 ? -1.0 : 1.0) * (k % 4 < 2 ? 1.0 : -1.0); };
  for (int k = 0; k < left.n; ++k) {
    s.q[left.q + k] += 1e-3 * u(random);
    s.v[left.v + k] = u(random);
    s.q[right.q + k] = mirror(k) * s.q[left.q + k];
    s.v[right.v + k] = mirror(k) * s.v[left.v + k];
  }
  const Vec f = beams.forces(s);
  EXPECT_GT(f.cwiseAbs().maxCoeff(), 1);
  for (int k = 0; k < left.n; ++k)
    EXPECT_NEAR(f[right.v + k], mirror(k) * f[left.v + k], 1e-10 * f.cwiseAbs().maxCoeff()) << k;
}

}  // namespace
}  // namespace clatter::contact
