// The skin of a beam moves with it: corners of its section where the deformed beam has them.
#include "app/beam_skin.hpp"

#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "model/load.hpp"

namespace clatter::app {
namespace {

struct Look {
  Vec3 lowest = Vec3::Constant(1e300), highest = Vec3::Constant(-1e300);
};

// Bounds of the skin in the world for a state of the beam.
Look look(const System& system, Engine& engine, const State& s) {
  engine.observe(s, nullptr);
  const record::Surface skin = beam_skin(system.model.bodies[0]);
  const FrameState<double> f = engine.frame_state(system.bodies[0].frame);
  const double* eta = engine.links().blocks[0]->elastic_coordinates();
  const std::size_t rows = skin.vertices.size();
  Look out;
  for (std::size_t v = 0; v < rows; v += 3) {
    Vec3 x;
    for (std::size_t c = 0; c < 3; ++c) {
      x[static_cast<long>(c)] = static_cast<double>(skin.vertices[v + c]);
      for (int k = 0; k < system.sizes.nv; ++k)
        x[static_cast<long>(c)] += eta[k] * static_cast<double>(skin.modes[static_cast<std::size_t>(k) * rows + v + c]);
    }
    x = f.p + f.R * x;
    out.lowest = out.lowest.cwiseMin(x);
    out.highest = out.highest.cwiseMax(x);
  }
  return out;
}

// A beam turned by 90 degrees about its start and moved: its prism stands there. Single precision: 1e-6.
TEST(BeamSkin, IsThePrismOfTheSectionWhereverTheBeamIs) {
  for (const char* kind :
       {"planar: true, element: ancf-cable", "planar: true, element: ancf-beam", "element: ancf-beam"}) {
    const auto system = System::compile(load_model_text(
        std::string("clatter: 1\ntitle: prism\nbodies:\n  one: {type: beam, ") + kind +
            ", elements: 3, to: [2, 0, 0], section: {rectangle: [0.2, 0.1], up: y}, material: {density: 1, young: 1}, "
            "position: [1, 0, 0]}\n",
        "m"));
    Engine engine(system);
    State s = system->initial;
    Look at = look(*system, engine, s);
    EXPECT_NEAR((at.lowest - Vec3(1, -0.1, -0.05)).norm(), 0, 1e-6) << kind;
    EXPECT_NEAR((at.highest - Vec3(3, 0.1, 0.05)).norm(), 0, 1e-6) << kind;
    // r = r_0 + ..., every vector turned: (x, y) -> (-y, x)
    const int dim = is_planar(system->model.bodies[0].kind) ? 2 : 3;
    for (int i = 0; i < system->sizes.nv; i += dim) {
      const double x = s.q[i], y = s.q[i + 1];
      s.q[i] = -y;
      s.q[i + 1] = x;
    }
    at = look(*system, engine, s);
    EXPECT_NEAR((at.lowest - Vec3(-0.1, 1, -0.05)).norm(), 0, 1e-6) << kind;
    EXPECT_NEAR((at.highest - Vec3(0.1, 3, 0.05)).norm(), 0, 1e-6) << kind;
  }
}

}  // namespace
}  // namespace clatter::app
