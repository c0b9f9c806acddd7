// Beams and cables in motion: momentum and energy over a run, the plane against space.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "integrate/initial.hpp"
#include "integrate/integrator.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

struct Motion {
  std::shared_ptr<const System> system;
  Engine engine;
  std::unique_ptr<Integrator> integrator;
  double energy = 0;

  Motion(const std::string& text, double step)
      : system(System::compile(load_model_text(text, "motion"))), engine(system) {
    State s = system->initial;
    make_consistent(engine, s, {});
    energy = engine.stored_energy(s);
    IntegratorSettings settings;
    settings.scheme = Scheme::generalized_alpha;
    settings.step = step;
    integrator = make_integrator(settings, engine);
    integrator->start(s);
  }
  const State& at(double t) {
    while (integrator->state().t < t - 1e-9) integrator->step(t);
    return integrator->state();
  }
  Vec3 place(const std::string& name) {
    engine.observe(integrator->state(), nullptr);
    for (std::size_t i = 0; i < system->frame_names.size(); ++i)
      if (system->frame_names[i] == name) return engine.frame_state(static_cast<int>(i)).p;
    ADD_FAILURE() << "no frame " << name;
    return Vec3::Zero();
  }
};

// YV-15 without contact, while the load acts: a centre of mass under 8 N is at (3 + 0.4 t^2, 4), whatever the beam
// does. The scheme is exact for a constant force; what is left is Newton's tolerance. Work of the loads, by the
// scheme's own quadrature, is the energy of the beam to 1e-4 (the specification's figure).
TEST(FlyingSpaghetti, ItsCentreMovesAsAPointAndWorkIsEnergy) {
  Motion x(
      "clatter: 1\ntitle: spaghetti\nbodies:\n  beam: {type: beam, planar: true, element: ancf-beam, elements: 16, "
      "from: "
      "[0, 8], to: [6, 0], section_stiffness: {axial: 10000, shear: 10000, bending: 100}, section_inertia: {mass: 1, "
      "rotary: 10}}\nforces:\n  push: {type: force, on: beam.end, components: [8, 0, 0]}\n  turn: {type: torque, on: "
      "beam.end, components: [0, 0, -80]}\n",
      2e-3);
  for (const double t : {1.0, 2.5}) {
    const State& s = x.at(t);
    x.engine.observe(s, nullptr);
    const Momenta m = momenta(x.system->tree, x.engine.links());
    EXPECT_NEAR(m.moment.x() / m.mass, 3 + 0.4 * t * t, 1e-9);
    EXPECT_NEAR(m.moment.y() / m.mass, 4, 1e-9);
    const double work = x.integrator->work().sum();
    EXPECT_NEAR(x.engine.stored_energy(s) - x.energy, work, 1e-4 * work);
  }
}

// A pendulum that stays in its plane moves the same as a planar and as a spatial chain: the same strains at the same
// points. Tolerance: the steps' Newton iterations, 1e-8.
TEST(AncfCable, InSpaceSwingsAsInThePlane) {
  for (const char* element : {"ancf-cable", "ancf-beam"}) {
    const auto model = [&](bool planar) {
      return fmt::format(
          "clatter: 1\ntitle: pendulum\ngravity: [0, -9.81, 0]\nbodies:\n  one: {{type: beam, planar: {}, element: {}, "
          "elements: 5, to: [1, 0, 0], section: {{rectangle: [0.02, 0.02]}}, material: {{density: 1000, young: 1e7, "
          "poisson: 0.3}}}}\njoints:\n  pin: {{type: {}, between: [ground, one.start]}}\n",
          planar, element, planar ? "revolute" : "spherical");
    };
    Motion plane(model(true), 1e-3), space(model(false), 1e-3);
    plane.at(0.3);
    space.at(0.3);
    EXPECT_LT((plane.place("one.end") - space.place("one.end")).norm(), 1e-7) << element;
  }
}

// A cable with damping in its bending: what its ledger says is lost is lost, but for the scheme's own 4e-5.
TEST(AncfCable, LosesWhatItsDampingTakes) {
  Motion x(
      "clatter: 1\ntitle: damped\ngravity: [0, -9.81, 0]\nbodies:\n  one: {type: beam, planar: true, element: "
      "ancf-cable, "
      "elements: 6, to: [1, 0, 0], section: {rectangle: [0.03, 0.02]}, material: {density: 1000, young: 1e7, poisson: "
      "0.3}, damping: {beta: 5 ms}}\njoints:\n  clamp: {type: fixed, between: [ground, one.start]}\n",
      5e-4);
  const State& s = x.at(0.5);
  const double lost = x.energy - x.engine.stored_energy(s);
  EXPECT_GT(lost, 0.04);
  EXPECT_NEAR(x.integrator->work().sum(), -lost, 2e-4 * lost);
}

}  // namespace
}  // namespace clatter
