// Friction between beams in space acts where their skins touch: it turns them, lets them roll, and keeps momentum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "contact/contacts.hpp"
#include "contact/motion.hpp"
#include "engine/ancf_chain.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

// Momentum, and angular momentum about the origin, of one beam: p = sum m_ij v_j over i that are positions,
// L = sum q_i x m_ij v_j.
struct Momentum {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
  Vec3 centre = Vec3::Zero();
  double mass = 0;
  Vec3 spin() const { return angular - centre.cross(linear); }  // about its own centre
};

struct Tubes {
  std::shared_ptr<const System> system;
  Simulate simulate;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Motion> motion;

  Tubes(const std::string& text, double step, TimeStepping scheme = TimeStepping::moreau) {
    Model model = load_model_text(text, "tubes");
    model.simulate.method = Method::time_stepping;
    model.simulate.time_stepping = scheme;
    simulate = model.simulate;
    system = System::compile(std::move(model));
    engine = std::make_unique<Engine>(system);
    IntegratorSettings settings;
    settings.scheme = Scheme::generalized_alpha;
    settings.step = step;
    motion = std::make_unique<Motion>(system, *engine, simulate, settings);
    motion->stepper().start(system->initial);
  }
  const State& run(double end) {
    while (motion->stepper().state().t < end - 1e-12) motion->stepper().step(end);
    return motion->stepper().state();
  }
  Momentum momentum(int flexible, const State& s) const {
    const FlexibleIndex& f = system->flexible[static_cast<std::size_t>(flexible)];
    const ancf::AncfBody& body =
        static_cast<const ancf::AncfBlock&>(*system->tree.blocks[static_cast<std::size_t>(f.block)]).body();
    Momentum out;
    for (int i = 0; i < body.vectors; ++i)
      for (int j = 0; j < body.vectors; ++j) {
        const double m = body.mass(i, j);
        const Vec3 q = s.q.segment<3>(f.q + 3 * i), v = s.v.segment<3>(f.v + 3 * j);
        if (body.is_position(i)) out.linear += m * v;
        if (body.is_position(i)) out.centre += m * s.q.segment<3>(f.q + 3 * j);
        if (body.is_position(i) && body.is_position(j)) out.mass += m;
        out.angular += m * q.cross(v);
      }
    out.centre /= out.mass;
    return out;
  }
};

constexpr double kRadius = 0.05;

std::string tube(const std::string& place, double young) {
  return fmt::format(
      "{{type: beam, element: ancf-beam, elements: 2, {}, section: {{circle: 0.1}}, material: {{density: 1000, young: "
      "{}, poisson: 0.3}}}}",
      place, young);
}

// A tube that spins about its axis meets another, which lies beside it and rests. Momentum and angular momentum of both
// are kept to rounding: steps of the middle with forces at the middle keep them. (The correction of a gap does not; the
// tubes meet in the middle of the first step, so that there is none.) And the other one is turned by the friction at
// its skin: its spin is the radius times the momentum it was given along the skins. Were the force at its axis, it
// would not spin.
TEST(BeamSkins, PassOnSpin) {
  Tubes tubes(
      fmt::format("clatter: 1\nbodies:\n  upper: {}\n  lower: {}\ncontacts: {{rub: {{between: [upper, lower], "
                  "law: {{type: rigid, friction: 0.3}}}}}}\n",
                  tube("from: [-0.25, 0, 0], to: [0.25, 0, 0], position: [0, 0, 0.100002], velocity: [0, 0, -0.2], "
                       "angular_velocity: [20, 0, 0]",
                       1e7),
                  tube("from: [-0.25, 0, 0], to: [0.25, 0, 0]", 1e7)),
      2e-5);
  const State start = tubes.system->initial;
  const Momentum before = tubes.momentum(0, start);
  const State s = tubes.run(1e-3);
  const Momentum upper = tubes.momentum(0, s), lower = tubes.momentum(1, s);
  EXPECT_NEAR(before.spin().x(), 0.5 * before.mass * kRadius * kRadius * 20, 1e-12);
  EXPECT_LT((upper.linear + lower.linear - before.linear).norm(), 1e-12);
  EXPECT_LT((upper.angular + lower.angular - before.angular).norm(), 1e-12 * before.angular.norm());
  const double along = lower.linear.y();
  // The skin of the upper one moves to +y below its axis. Friction while it slides: 0.3 of the normal impulse.
  EXPECT_GT(along, 0.05);
  EXPECT_NEAR(along, -0.3 * lower.linear.z(), 1e-9 * along);
  EXPECT_NEAR(lower.spin().x(), -kRadius * along, 1e-9 * kRadius * along);
  EXPECT_NEAR(upper.spin().x() - before.spin().x(), -kRadius * along, 1e-9 * kRadius * along);
}

// A tube thrown along two others, across them: it slides, is turned by friction and rolls. Friction F on the skin of a
// solid cylinder gives m dv = -F dt and m r^2 / 2 dw = r F dt, whatever F is: r w = 2 (v0 - v), and rolling, v = r w,
// is reached at v = 2/3 v0. The tracks give way under the impacts of its weight: a hundredth is asked for.
TEST(BeamSkins, RollAfterTheyHaveSlid) {
  std::string text = "clatter: 1\ngravity: [0, 0, -10]\nframes:\n";
  std::string joints = "joints:\n", contacts = "contacts:\n";
  std::string bodies =
      "bodies:\n  roller: " + tube("from: [0, -0.3, 0.1], to: [0, 0.3, 0.1], velocity: [0.3, 0, 0]", 1e9) + "\n";
  for (const double y : {-0.2, 0.2}) {
    const std::string name = y < 0 ? "right" : "left";
    for (const char* end : {"start", "end"}) {
      text += fmt::format("  {}_{}: {{at: [{}, {}, 0]}}\n", name, end, *end == 's' ? -0.1 : 0.2, y);
      joints += fmt::format("  {0}_{1}: {{type: fixed, between: [ground.{0}_{1}, {0}.{1}]}}\n", name, end);
    }
    bodies += fmt::format("  {}: {}\n", name, tube(fmt::format("from: [-0.1, {0}, 0], to: [0.2, {0}, 0]", y), 1e9));
    contacts += fmt::format("  on_{0}: {{between: [roller, {0}], law: {{type: rigid, friction: 0.5}}}}\n", name);
  }
  Tubes tubes(text + bodies + joints + contacts, 1e-4, TimeStepping::generalized_alpha);
  const double m = tubes.momentum(0, tubes.system->initial).mass;
  for (const double t : {0.01, 0.05}) {
    const Momentum roller = tubes.momentum(0, tubes.run(t));
    const double v = roller.linear.x() / m, rw = roller.spin().y() / (0.5 * m * kRadius);
    EXPECT_NEAR(rw, 2 * (0.3 - v), 1e-3 * 0.3) << t;
    if (t < 0.02) {
      EXPECT_LT(rw, 0.8 * v) << t;
    } else {
      EXPECT_NEAR(v, 0.2, 0.002) << t;
      EXPECT_NEAR(rw, v, 0.002) << t;
    }
  }
}

// In the plane both formulations are the same: sides of outlines, which are straight here, and skins of tubes of the
// same height that touch have the same slip for every motion of the nodes, section vectors included, and the same
// forces on them.
TEST(BeamSkins, HaveTheFrictionOfOutlinesInThePlane) {
  const auto model = [](bool planar) {
    const std::string kind = planar ? "planar: true, " : "",
                      section = planar ? "{rectangle: [0.1, 0.1]}" : "{circle: 0.1}";
    const std::string z = planar ? "" : ", 0";
    return System::compile(load_model_text(
        fmt::format(
            "clatter: 1\nbodies:\n  upper: {{type: beam, {0}element: ancf-beam, elements: 3, from: [0.1, 0.1{2}], to: "
            "[0.9, 0.1{2}], section: {1}, material: {{density: 1000, young: 1e7, poisson: 0.3}}}}\n  lower: {{type: "
            "beam, {0}element: ancf-beam, elements: 2, from: [0, 0{2}], to: [1, 0{2}], section: {1}, material: "
            "{{density: 1000, young: 1e7, poisson: 0.3}}}}\ncontacts: {{rub: {{between: [upper, lower], law: {{type: "
            "rigid, friction: 0.3}}, beams: {{touch: lines}}}}}}\n",
            kind, section, z),
        "plane"));
  };
  const auto outlines = model(true), tubes = model(false);
  Engine plane(outlines), space(tubes);
  Contacts sides(ContactSystem::compile(outlines), plane), skins(ContactSystem::compile(tubes), space);
  State flat = outlines->initial, solid = tubes->initial;
  // Vector i of a node of the plane (r, r_y) is vector i of one of space (r, r_y, r_z).
  const auto in_space = [](int component) {
    const int vector = component / 2, node = vector / 2;
    return 3 * (3 * node + vector % 2) + component % 2;
  };
  std::mt19937 random(8);
  std::uniform_real_distribution<double> u(-1, 1);
  solid.v.setZero();
  for (int b = 0; b < 2; ++b) {
    const FlexibleIndex &p = outlines->flexible[static_cast<std::size_t>(b)],
                        &q = tubes->flexible[static_cast<std::size_t>(b)];
    for (int i = 0; i < p.n; ++i) {
      EXPECT_NEAR(flat.q[p.q + i], solid.q[q.q + in_space(i)], 1e-15);
      flat.v[p.v + i] = solid.v[q.v + in_space(i)] = u(random);
    }
  }
  sides.detect(flat, 0.02);
  skins.detect(solid, 0.02);
  Vec of_plane(plane.sizes().nv), of_space(space.sizes().nv);
  int compared = 0;
  for (const int i : sides.near())
    for (const int j : skins.near()) {
      // The same station, where both touch; not the end faces, which outlines have.
      if ((sides[i].p1 - skins[j].p1).norm() > 1e-9 || std::abs(sides[i].basis.col(0).y()) < 0.5) continue;
      ++compared;
      const double turn = sides[i].basis.col(1).dot(skins[j].basis.col(1));
      EXPECT_NEAR(std::abs(turn), 1, 1e-12);
      EXPECT_NEAR(sides[i].gap, skins[j].gap, 1e-15);
      EXPECT_NEAR(sides[i].gap, 0, 1e-15);
      EXPECT_NEAR(sides[i].rate[1], turn * skins[j].rate[1], 1e-12);
      sides.column(i, 1, of_plane.data());
      skins.column(j, 1, of_space.data());
      for (int b = 0; b < 2; ++b) {
        const FlexibleIndex &p = outlines->flexible[static_cast<std::size_t>(b)],
                            &q = tubes->flexible[static_cast<std::size_t>(b)];
        for (int k = 0; k < p.n; ++k)
          EXPECT_NEAR(of_plane[p.v + k], turn * of_space[q.v + in_space(k)], 1e-13) << "component " << k;
      }
    }
  EXPECT_GE(compared, 9);
}

}  // namespace
}  // namespace clatter::contact
