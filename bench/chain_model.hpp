// Benchmark problem C as a Model: the chain of peers/chain_problem.hpp, straight along +x at rest, or bent and moving.
//
// A body's frame sits at its mass centre, its joints at -l/2 and +l/2 along its x; the joint axis is z. In joint
// coordinates the chain is one tree of n revolute links; in absolute coordinates it is n free bodies and 5 n rows.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "peers/chain_problem.hpp"

namespace clatter {

enum class ChainCoordinates { joint, absolute };
enum class ChainStart {
  straight,  // problem C
  bent       // angles 0.1 sin(1 + i), rates 0.1 cos(2 + i): nothing vanishes, for timing one evaluation
};

inline const char* name_of(ChainCoordinates c) { return c == ChainCoordinates::joint ? "joint" : "absolute"; }

inline Model chain_model(int n, ChainCoordinates coordinates, ChainStart start = ChainStart::straight) {
  const auto at = [](int body, double x) {
    Attachment a;
    a.body = body;
    a.placement.position = Vec3(x, 0, 0);
    return a;
  };
  Model model;
  model.title = "chain";
  model.gravity = Vec3(0, -chain::kGravity, 0);
  model.joint_coordinates = coordinates == ChainCoordinates::joint;
  for (int i = 0; i < n; ++i) {
    Body link;
    link.name = "link" + std::to_string(i + 1);
    link.mass = chain::kMass;
    link.inertia = Vec3(chain::kInertiaAxial, chain::kInertiaTransverse, chain::kInertiaTransverse).asDiagonal();
    model.bodies.push_back(link);

    Joint pin;
    pin.name = "pin" + std::to_string(i + 1);
    pin.kind = JointKind::revolute;
    pin.a = i == 0 ? at(-1, 0) : at(i - 1, 0.5 * chain::kLength);
    pin.b = at(i, -0.5 * chain::kLength);
    const bool bent = start == ChainStart::bent;
    pin.position = {bent ? 0.1 * std::sin(1.0 + i) : 0.0};
    pin.velocity = {bent ? 0.1 * std::cos(2.0 + i) : 0.0};
    model.joints.push_back(pin);
  }
  return model;
}

inline std::shared_ptr<const System> chain_system(int n, ChainCoordinates coordinates,
                                                  ChainStart start = ChainStart::straight) {
  return System::compile(chain_model(n, coordinates, start));
}

inline chain::Point chain_tip(Engine& engine, const State& s) {
  engine.observe(s, nullptr);
  const FrameState<double> last = engine.frame_state(engine.system().bodies.back().frame);
  const Vec3 tip = last.p + last.R * Vec3(0.5 * chain::kLength, 0, 0);
  return {tip.x(), tip.y()};
}

}  // namespace clatter
