// Contact between beams: search against brute force (YV-27), rows against differences, balance of forces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "contact/contacts.hpp"
#include "model/load.hpp"
#include "shapes/oriented_box.hpp"

namespace clatter::contact {
namespace {

using Vec2 = Eigen::Vector2d;

// --- boxes -----------------------------------------------------------------------------------------------------------

std::vector<Vec2> corners(const OrientedBox& b, double grow = 0) {
  const Vec2 x = (b.half.x() + grow) * b.axis, y = (b.half.y() + grow) * b.other_axis();
  return {b.centre - x - y, b.centre + x - y, b.centre + x + y, b.centre - x + y};
}

bool holds(const OrientedBox& b, const Vec2& p, double slack) {
  const Vec2 d = p - b.centre;
  return std::abs(d.dot(b.axis)) <= b.half.x() + slack && std::abs(d.dot(b.other_axis())) <= b.half.y() + slack;
}

OrientedBox random_box(std::mt19937& random) {
  std::uniform_real_distribution<double> u(-1, 1);
  const double angle = 3 * u(random);
  return {Vec2(2 * u(random), 2 * u(random)), Vec2(std::cos(angle), std::sin(angle)),
          Vec2(0.05 + std::abs(u(random)), 0.05 + std::abs(u(random)))};
}

// Two convex quadrilaterals meet where an edge of one crosses the other or a corner of one lies in the other.
bool meet(const OrientedBox& a, const OrientedBox& b) {
  const auto ca = corners(a), cb = corners(b);
  for (const Vec2& p : ca)
    if (holds(b, p, 0)) return true;
  for (const Vec2& p : cb)
    if (holds(a, p, 0)) return true;
  const auto turn = [](const Vec2& p, const Vec2& q, const Vec2& r) {
    return (q.x() - p.x()) * (r.y() - p.y()) - (q.y() - p.y()) * (r.x() - p.x());
  };
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec2 &p = ca[i], &q = ca[(i + 1) % 4], &r = cb[k], &s = cb[(k + 1) % 4];
      if (turn(p, q, r) * turn(p, q, s) < 0 && turn(r, s, p) * turn(r, s, q) < 0) return true;
    }
  return false;
}

TEST(OrientedBox, SeparatingAxesTellWhatEdgesAndCornersTell) {
  std::mt19937 random(1);
  int apart_ones = 0;
  for (int i = 0; i < 20000; ++i) {
    const OrientedBox a = random_box(random), b = random_box(random);
    ASSERT_EQ(apart(a, b, 0), !meet(a, b)) << i;
    apart_ones += apart(a, b, 0);
  }
  EXPECT_GT(apart_ones, 2000);
  EXPECT_LT(apart_ones, 18000);
}

TEST(OrientedBox, ClipsASegmentToThePartInside) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> u(-3, 3);
  for (int i = 0; i < 5000; ++i) {
    const OrientedBox box = random_box(random);
    const Vec2 a(u(random), u(random)), b(u(random), u(random));
    double from, to;
    const bool any = clip(box, 0.1, a, b, from, to);
    for (int k = 0; k <= 200; ++k) {
      const double t = k / 200.0;
      const bool inside = holds(box, a + t * (b - a), 0.1);
      const bool said = any && t >= from && t <= to;
      // On the edge itself rounding decides.
      if (any && (std::abs(t - from) < 1e-9 || std::abs(t - to) < 1e-9)) continue;
      ASSERT_EQ(said, inside) << i << " at " << t;
    }
  }
}

TEST(OrientedBox, OfACloudIsTheSmallestOfAllDirections) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int i = 0; i < 300; ++i) {
    std::vector<Vec2> points;
    for (int k = 0; k < 10; ++k) points.emplace_back(3 * u(random), u(random));
    std::vector<Vec2> copy = points;
    const OrientedBox box = smallest_box(copy);
    for (const Vec2& p : points) ASSERT_TRUE(holds(box, p, 1e-12));
    double least = 1e9;
    for (int k = 0; k < 2000; ++k) {
      const double angle = k * M_PI / 4000;
      const Vec2 x(std::cos(angle), std::sin(angle)), y(-x.y(), x.x());
      Vec2 low(1e9, 1e9), high(-1e9, -1e9);
      for (const Vec2& p : points) {
        low = low.cwiseMin(Vec2(p.dot(x), p.dot(y)));
        high = high.cwiseMax(Vec2(p.dot(x), p.dot(y)));
      }
      least = std::min(least, (high - low).prod());
    }
    const double area = 4 * box.half.prod();
    // The smallest is among the edges' directions; a grid of directions comes near it from above.
    EXPECT_LE(area, least * (1 + 1e-12));
    EXPECT_GE(area, least * 0.98);
  }
}

// --- rows ------------------------------------------------------------------------------------------------------------

struct Beams {
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Contacts> kinematics;

  explicit Beams(const std::string& text, bool smooth = false) {
    system = System::compile(load_model_text("clatter: 1\n" + text, "beams"));
    contacts = ContactSystem::compile(system, smooth);
    engine = std::make_unique<Engine>(system);
    kinematics = std::make_unique<Contacts>(contacts, *engine);
  }
};

const char* const kPlanar = R"(
bodies:
  upper: {type: beam, planar: true, element: ancf-beam, elements: 3, to: [1, 0], position: [0.1, 0.105],
          section: {rectangle: [0.1, 0.2]}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-beam, elements: 2, to: [0.9, 0], position: [0, 0],
          section: {rectangle: [0.1, 0.2]}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}BEAMS}}
)";
const char* const kCables = R"(
bodies:
  upper: {type: beam, planar: true, element: ancf-cable, elements: 3, to: [1, 0.02], position: [0.1, 0.105],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-cable, elements: 2, to: [0.9, 0], position: [0, 0],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}BEAMS}}
)";
const char* const kCrossed = R"(
bodies:
  upper: {type: beam, element: ELEMENT, elements: 2, from: [0.1, -0.4, 0.105], to: [0.3, 0.5, 0.11],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, element: ELEMENT, elements: 2, from: [-0.4, 0, 0], to: [0.6, 0.05, 0.01],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}}}
)";
const char* const kAlong = R"(
bodies:
  upper: {type: beam, element: ELEMENT, elements: 2, from: [0.1, 0.01, 0.105], to: [0.9, 0.02, 0.11],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, element: ELEMENT, elements: 2, from: [0, 0, 0], to: [1, 0.01, 0.005],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}, beams: {gauss: 2, segments: 1}}}
)";
// The cap of one end on that of another, askew: what touches lies off the sections.
const char* const kEnds = R"(
bodies:
  upper: {type: beam, element: ancf-beam, elements: 2, from: [0.06, 0.02, 0.09], to: [0.5, 0.3, 0.7],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, element: ancf-beam, elements: 2, from: [-0.4, 0, 0], to: [0, 0, 0],
          section: {circle: 0.08}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}}}
)";
const char* const kMixed = R"(
bodies:
  upper: {type: beam, planar: true, element: ancf-cable, elements: 3, to: [1, 0.02], position: [0.1, 0.105],
          section: {circle: 0.1}, material: {density: 1000, young: 1e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-beam, elements: 2, to: [0.9, 0], position: [0, 0],
          section: {rectangle: [0.1, 0.2]}, material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {between: [upper, lower], law: {type: rigid, friction: 0.3}}}
)";
const char* const kHairpin = R"~(
bodies:
  pin: {type: beam, planar: true, element: ancf-beam, elements: 9, section: {rectangle: [0.1, 0.2]},
        curve: {x: "1 - 1.5*s^2", y: "0.13*(s + s^3)", from: -0.6, to: 0.6},
        material: {density: 1000, young: 1e7, poisson: 0.3}}
contacts: {slap: {within: pin, law: {type: rigid, friction: 0.3}}}
)~";

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
  return text;
}

struct Case {
  const char* name;
  std::string text;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class BeamRowsOf : public testing::TestWithParam<Case> {
 protected:
  Beams beams{GetParam().text};
  State s = beams.system->initial;
  std::vector<int> near;

  // A position near the start, bent a little, and a motion.
  void stir(unsigned seed, double size) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    s = beams.system->initial;
    for (Eigen::Index i = 0; i < s.q.size(); ++i) s.q[i] += size * u(random);
    for (Eigen::Index i = 0; i < s.v.size(); ++i) s.v[i] = u(random);
    beams.kinematics->detect(s, 0.05);
    near = beams.kinematics->near();
  }
  State moved(const Vec& dq, const Vec& dv) const {
    State out = s;
    out.q += dq;
    out.v += dv;
    return out;
  }
};

// Gap, rates and biases along a motion with constant nodal velocities, by central differences.
TEST_P(BeamRowsOf, RatesAndBiasesAreDerivativesAlongAMotion) {
  int looked = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    stir(seed, 0.002);
    const double h = 1e-6;
    for (const int slot : near) {
      beams.kinematics->at(s);
      beams.kinematics->evaluate(slot, true);
      const SlotState now = (*beams.kinematics)[slot];
      const int feature = beams.kinematics->branch(slot).feature;
      SlotState side[2];
      bool same = true;
      for (int k = 0; k < 2; ++k) {
        const State t = moved((k ? h : -h) * s.v, Vec::Zero(s.v.size()));
        beams.kinematics->at(t);
        beams.kinematics->evaluate(slot, false);
        side[k] = (*beams.kinematics)[slot];
        same = same && side[k].present && beams.kinematics->branch(slot).feature == feature;
      }
      if (!same) continue;
      const double rate = (side[1].gap - side[0].gap) / (2 * h);
      // A foot that jumps to the next element is another branch.
      if (std::abs(rate - now.rate[0]) > 1e-2) continue;
      ++looked;
      EXPECT_NEAR(rate, now.rate[0], 1e-7) << "slot " << slot;
      for (int k = 0; k <= beams.contacts->pair(slot).tangents; ++k)
        EXPECT_NEAR((side[1].rate[k] - side[0].rate[k]) / (2 * h), now.bias[k], 1e-5 * (1 + std::abs(now.bias[k])))
            << "slot " << slot << " row " << k;
    }
  }
  EXPECT_GE(looked, 8);
}

TEST_P(BeamRowsOf, TangentsAreDerivativesOfRows) {
  stir(3, 0.002);
  const int nv = beams.engine->sizes().nv;
  const double h = 1e-6;
  int looked = 0;
  const Vec still = Vec::Zero(nv);
  Rows t;
  for (const int slot : near) {
    for (int k = 0; k <= beams.contacts->pair(slot).tangents; ++k) {
      beams.kinematics->at(s);
      beams.kinematics->evaluate(slot, true);
      if (!(*beams.kinematics)[slot].present) continue;
      Vec column(nv);
      beams.kinematics->column(slot, k, column.data());
      const Vec3 force = Vec3::Unit(k);  // K is then minus the derivative of row k
      beams.kinematics->rows(slot, 1 + beams.contacts->pair(slot).tangents, force.data(), &still, t);
      Vec g = Vec::Zero(nv);
      for (std::size_t i = 0; i < t.size(); ++i) g[t.columns[i]] = t.gradient(k)[i];
      ASSERT_LT((g - column).norm(), 1e-12 * (1 + column.norm())) << "slot " << slot << " row " << k;
      const int feature = beams.kinematics->branch(slot).feature;
      for (std::size_t j = 0; j < t.columns.size(); j += 3) {
        Vec W[2] = {Vec(nv), Vec(nv)};
        SlotState side[2];
        bool same = true;
        for (int b = 0; b < 2; ++b) {
          Vec dq = Vec::Zero(s.q.size());
          dq[t.columns[j]] = b ? h : -h;
          beams.kinematics->at(moved(dq, Vec::Zero(nv)));
          beams.kinematics->evaluate(slot, true);
          side[b] = (*beams.kinematics)[slot];
          same = same && side[b].present && beams.kinematics->branch(slot).feature == feature;
          if (same) beams.kinematics->column(slot, k, W[b].data());
        }
        if (!same) continue;
        const Vec slope = (W[1] - W[0]) / (2 * h);
        if (slope.norm() > 1e3) continue;  // the foot jumped to the next element
        ++looked;
        const double rate_q = t.row(t.rate_q, k)[j], second_q = t.row(t.second_q, k)[j];
        const double second_v = t.row(t.second_v, k)[j];
        for (std::size_t i = 0; i < t.size(); ++i)
          EXPECT_NEAR(slope[t.columns[i]], -t.turn(i, j), 1e-6 * (1 + slope.norm())) << "slot " << slot << " row " << k;
        EXPECT_NEAR((side[1].rate[k] - side[0].rate[k]) / (2 * h), rate_q, 1e-6 * (1 + std::abs(rate_q)))
            << "slot " << slot << " row " << k;
        EXPECT_NEAR((side[1].bias[k] - side[0].bias[k]) / (2 * h), second_q, 1e-4 * (1 + std::abs(second_q)))
            << "slot " << slot << " row " << k;
        Vec dv = Vec::Zero(nv);
        SlotState fast[2];
        for (int b = 0; b < 2; ++b) {
          dv[t.columns[j]] = b ? 1e-3 : -1e-3;
          beams.kinematics->at(moved(Vec::Zero(s.q.size()), dv));
          beams.kinematics->evaluate(slot, true);
          fast[b] = (*beams.kinematics)[slot];
        }
        EXPECT_NEAR((fast[1].bias[k] - fast[0].bias[k]) / 2e-3, second_v, 1e-8 * (1 + std::abs(second_v)))
            << "slot " << slot << " row " << k;
      }
    }
  }
  EXPECT_GT(looked, 20);
}

// A force between beams has no resultant, and no moment: rigid motions of both do no work on it. Friction between two
// outlines acts on either skin and has the moment of the gap between them, which closes; tubes have one point of
// contact between their axes. Cables in space have no torsion: the moment about their axes has nowhere to go.
TEST_P(BeamRowsOf, ForcesBalance) {
  stir(5, 0.002);
  const System& system = *beams.system;
  const int nv = beams.engine->sizes().nv;
  for (const int slot : near)
    for (int k = 0; k <= beams.contacts->pair(slot).tangents; ++k) {
      Vec column(nv);
      beams.kinematics->column(slot, k, column.data());
      Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
      for (const FlexibleIndex& f : system.flexible) {
        const BeamPair& pair = *beams.contacts->pairs[0].beams;
        const ancf::AncfBody& body = f.q == pair.beam[0].q ? *pair.beam[0].body : *pair.beam[1].body;
        for (int i = 0; i < body.vectors; ++i) {
          Vec3 x = Vec3::Zero(), p = Vec3::Zero();
          for (int c = 0; c < body.dim; ++c) {
            x[c] = s.q[f.q + i * body.dim + c];
            p[c] = column[f.v + i * body.dim + c];
          }
          if (body.is_position(i)) force += p;
          moment += x.cross(p);
        }
      }
      EXPECT_LT(force.norm(), 1e-13) << "slot " << slot << " row " << k;
      const std::string name = GetParam().name;
      const BeamPair& pair = *beams.contacts->pairs[0].beams;
      const bool spatial_cables = name == "crossed_cables" || name == "cables_side_by_side";
      // Means over several places have no single pair of points.
      if (pair.touching.multiplier != BeamTouching::Multiplier::point && k > 0) continue;
      const SlotState& at = (*beams.kinematics)[slot];
      const bool outlines = pair.beam[0].sides && pair.beam[1].sides;
      const Vec3 couple = k > 0 && outlines ? Vec3((at.p1 - at.p2).cross(at.basis.col(k))) : Vec3(Vec3::Zero());
      if (!spatial_cables || k == 0) {
        EXPECT_LT((moment - couple).norm(), 1e-13) << "slot " << slot << " row " << k;
      }
    }
  EXPECT_GT(near.size(), 0u);
}

// The power of a unit force is the rate it works on: rate = W^T v, whatever moves. Sums of some fifty products of
// numbers up to one.
TEST_P(BeamRowsOf, PowersAreRates) {
  stir(6, 0.002);
  const int nv = beams.engine->sizes().nv;
  Vec column(nv);
  for (const int slot : near)
    for (int k = 0; k <= beams.contacts->pair(slot).tangents; ++k) {
      beams.kinematics->column(slot, k, column.data());
      EXPECT_NEAR(column.dot(s.v), (*beams.kinematics)[slot].rate[k], 1e-13) << "slot " << slot << " row " << k;
    }
  EXPECT_GT(near.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Beams, BeamRowsOf,
    testing::Values(
        Case{"outlines", with(kPlanar, "BEAMS", "")},
        Case{"segments", with(kPlanar, "BEAMS", ", beams: {multiplier: segment}")},
        Case{"elements", with(kPlanar, "BEAMS", ", beams: {multiplier: element, touch: lines}")},
        Case{"corners", with(with(kPlanar, "position: [0.1, 0.105]", "position: [0.5, 0.09], orientation: 40 deg"),
                             "BEAMS", ", beams: {touch: points}")},
        Case{"tips",
             with(with(kPlanar, "position: [0.1, 0.105]", "position: [0.92, 0.07], orientation: 30 deg"), "BEAMS", "")},
        Case{"cables", with(kCables, "BEAMS", "")}, Case{"crossed_cables", with(kCrossed, "ELEMENT", "ancf-cable")},
        Case{"crossed_beams", with(kCrossed, "ELEMENT", "ancf-beam")},
        Case{"cables_side_by_side", with(kAlong, "ELEMENT", "ancf-cable")},
        Case{"beams_side_by_side", with(kAlong, "ELEMENT", "ancf-beam")}, Case{"beams_end_to_end", kEnds},
        Case{"cable_on_beam", kMixed}, Case{"hairpin", kHairpin}),
    [](const auto& it) { return it.param.name; });

// --- search ----------------------------------------------------------------------------------------------------------

// The nearest distance of the outlines, from dense samples of their sides and ends.
double brute_force(const Beams& beams, const State& s) {
  const BeamPair& pair = *beams.contacts->pairs[0].beams;
  std::vector<Vec2> skin[2];
  std::size_t sides[2];
  for (int b = 0; b < 2; ++b) {
    const BeamOutline& beam = pair.beam[b];
    for (int e = 0; e < beam.elements(); ++e)
      for (const double y : {-beam.half, beam.half})
        for (int i = 0; i <= 400; ++i) {
          double w[BeamPair::kMostVectors];
          beam.weights({BeamCurve::Runs::along, e, y}, i / 400.0 * beam.length(e), 0, w);
          Vec2 p = Vec2::Zero();
          for (int n = 0; n < beam.body->element_vectors; ++n)
            p += w[n] * s.q.segment<2>(beam.q + (e * beam.body->stride + n) * 2);
          skin[b].push_back(p);
        }
    // End faces are straight.
    sides[b] = skin[b].size();
    for (const bool finish : {false, true}) {
      const std::size_t last = sides[b] - 1;
      const Vec2 low = finish ? skin[b][last - 401] : skin[b][0], high = finish ? skin[b][last] : skin[b][401];
      for (int i = 0; i <= 100; ++i) skin[b].push_back(low + i / 100.0 * (high - low));
    }
  }
  double least = 1e9;
  for (const Vec2& a : skin[0])
    for (const Vec2& b : skin[1]) least = std::min(least, (a - b).squaredNorm());
  return std::sqrt(least);
}

TEST(BeamSearch, FindsTheNearestPlaceThatSamplesFind) {
  for (const char* place :
       {"position: [0.1, 0.13]", "position: [0.5, 0.11], orientation: 35 deg",
        "position: [0.3, 0.12], orientation: -1 deg", "position: [0.96, 0.08], orientation: 50 deg"}) {
    Beams beams(with(with(kPlanar, "position: [0.1, 0.105]", place), "BEAMS", ", beams: {touch: lines}"));
    const State s = beams.system->initial;
    beams.kinematics->detect(s, 0.2);
    double gap = 1e9;
    for (const int slot : beams.kinematics->near()) gap = std::min(gap, (*beams.kinematics)[slot].gap);
    const double truth = brute_force(beams, s);
    // Samples are 0.8 mm apart and can only be farther away.
    EXPECT_LE(gap, truth + 1e-12) << place;
    EXPECT_GT(gap, truth - 2e-5) << place;
  }
}

// The reach decides who is looked at, not what is found.
TEST(BeamSearch, FindsTheSameWithAnyReach) {
  Beams beams(with(with(kPlanar, "position: [0.1, 0.105]", "position: [0.3, 0.12], orientation: -2 deg"), "BEAMS", ""));
  const State s = beams.system->initial;
  const auto within = [&](double reach, double limit) {
    std::vector<std::pair<int, double>> out;
    beams.kinematics->detect(s, reach);
    for (const int slot : beams.kinematics->near())
      if ((*beams.kinematics)[slot].gap <= limit) out.emplace_back(slot, (*beams.kinematics)[slot].gap);
    return out;
  };
  const auto narrow = within(0.03, 0.03), wide = within(1.0, 0.03);
  EXPECT_GT(narrow.size(), 3u);
  EXPECT_EQ(narrow, wide);
}

std::string bent(double angle) {
  // An arc of this angle, 1 m long and 5 cm high.
  return fmt::format(R"(
bodies:
  arc: {{type: beam, planar: true, element: ancf-beam, elements: 16, section: {{rectangle: [0.05, 0.1]}},
        curve: {{x: "sin({0}*s)/{0}", y: "(1 - cos({0}*s))/{0}", from: 0, to: 1}},
        material: {{density: 1000, young: 1e7, poisson: 0.3}}}}
contacts: {{slap: {{within: arc, law: {{type: rigid}}}}}}
)",
                     angle);
}

// YV-27: a straight or gently bent beam does not touch itself; one that is bent to a ring does, at its ends.
TEST(BeamSearch, ABeamTouchesItselfOnlyWhereItComesBack) {
  for (const double angle : {1e-3, 0.5, 1.5, 3.0, 5.0}) {
    Beams beams(bent(angle));
    beams.kinematics->detect(beams.system->initial, 0.02);
    for (const int slot : beams.kinematics->near())
      EXPECT_GT((*beams.kinematics)[slot].gap, 0.02) << "angle " << angle << " slot " << slot;
  }
  // 6.5 rad: the ends overlap by 0.03 m along the arc, on the same circle: they are inside each other.
  Beams ring(bent(6.5));
  ring.kinematics->detect(ring.system->initial, 0.02);
  double least = 1;
  for (const int slot : ring.kinematics->near()) least = std::min(least, (*ring.kinematics)[slot].gap);
  EXPECT_LT(least, 0);
}

// YV-14: signs of corner against corner in the four quadrants about a corner of the lower beam, whose end is at x = 0.9
// and upper side at y = 0.05.
TEST(BeamSearch, TellsOutsideFromInsideAboutACorner) {
  const auto gap = [](double x, double y) {
    // The upper beam comes from above right, its lower left corner at (x, y), turned by 45 degrees: its corner points
    // straight down left. It lies at start (-0.05 left of the axis) of the beam.
    const double c = std::cos(M_PI / 4);
    const double ax = x - 0.05 * c, ay = y + 0.05 * c;
    Beams beams(with(with(kPlanar, "position: [0.1, 0.105]",
                          fmt::format("position: [{:.17g}, {:.17g}], orientation: 45 deg", ax, ay)),
                     "BEAMS", ", beams: {touch: points}"));
    beams.kinematics->detect(beams.system->initial, 0.5);
    double least = 1;
    for (const int slot : beams.kinematics->near()) least = std::min(least, (*beams.kinematics)[slot].gap);
    return least;
  };
  EXPECT_NEAR(gap(0.91, 0.06), std::hypot(0.01, 0.01), 1e-12);  // beyond both: corner to corner
  EXPECT_NEAR(gap(0.89, 0.06), 0.01, 1e-12);                    // above the side
  EXPECT_LT(gap(0.89, 0.045), 0);                               // inside
  EXPECT_NEAR(gap(0.92, 0.04), 0.01 / std::sqrt(2.0), 1e-12);   // in front of the end: the other's corner is nearest
}

// An end that rests on an end face, a little inside it, and slides past: its corners stay as deep as they are, and do not
// come to be as deep below the sides as the ends overlap across (which would be pushed out with all its energy).
TEST(BeamSearch, KeepsACornerOnTheFaceItRestsOn) {
  for (const double inside : {1e-6, 1e-3})
    for (const double past : {0.01, 0.03, 0.05, 0.07, 0.09}) {
      Beams beams(
          with(with(kPlanar, "position: [0.1, 0.105]", fmt::format("position: [{:.17g}, {:.17g}]", 0.9 - inside, past)),
               "BEAMS", ", beams: {touch: points}"));
      beams.kinematics->detect(beams.system->initial, 0.02);
      double least = 1;
      for (const int slot : beams.kinematics->near()) least = std::min(least, (*beams.kinematics)[slot].gap);
      EXPECT_NEAR(least, -inside, 1e-12) << past;
    }
}

}  // namespace
}  // namespace clatter::contact
