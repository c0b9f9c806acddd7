// Joints that say what others already say, in both coordinates: in absolute ones their rows depend on other rows, in
// joint ones they vanish, up to rounding. Degrees of freedom, names of the redundant rows and the motion are the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "model/load.hpp"
#include "study/simulate.hpp"

namespace clatter::study {
namespace {

struct Seen {
  int degrees_of_freedom = -1;
  std::vector<std::string> redundant;
  std::vector<double> last;  // of the quantities asked for
  double largest = 0;        // of all forces and torques
  std::uint64_t steps = 0;
};

class LastAndLargest final : public Sink {
 public:
  explicit LastAndLargest(const Observer& observer) {
    for (const QuantityInfo& q : observer.quantities())
      force_.insert(force_.end(), static_cast<std::size_t>(q.width()),
                    q.name.ends_with(".force") || q.name.ends_with(".torque"));
  }
  void sample(double, std::span<const double> values) override {
    last.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (force_[i]) largest = std::max(largest, std::abs(values[i]));
  }
  void ledger(double, std::span<const double>) override {}
  void event(double, const StepEvent&) override {}
  void checkpoint(double, std::span<const double>) override {}
  std::vector<double> last;
  double largest = 0;

 private:
  std::vector<bool> force_;
};

Seen moved(const std::string& text, bool joint, const std::vector<std::string>& quantities) {
  Model model = load_model_text(text, "double.yaml");
  model.joint_coordinates = joint;
  Prepared p = prepare(std::move(model));
  std::vector<std::string> wanted = quantities;
  for (const Joint& j : p.system->model.joints)
    for (const char* what : {".force", ".torque"}) wanted.push_back(j.name + what);
  wanted.push_back("energy.kinetic");
  const Observer observer(p.system, wanted);
  LastAndLargest sink(observer);
  RunRequest request;
  request.sink = &sink;
  const Outcome outcome = simulate(p, observer, request);
  EXPECT_TRUE(outcome.finished) << (outcome.failure ? outcome.failure->what() : "");
  Seen seen{p.degrees_of_freedom(), p.redundant(), sink.last, sink.largest, outcome.summary.steps};
  std::size_t width = 0;
  for (std::size_t i = 0; i < quantities.size(); ++i)
    width += static_cast<std::size_t>(observer.quantities()[i].width());
  seen.last.resize(width);
  return seen;
}

struct Kind {
  const char* type;
  int freedoms;
  bool along;  // may stand anywhere along its axis
};

const Kind kKinds[] = {{"revolute", 1, true}, {"spherical", 3, false}, {"prismatic", 1, true}, {"cylindrical", 2, true},
                       {"fixed", 0, true},    {"universal", 2, false}, {"planar", 3, false},   {"screw", 1, true}};
const Vec3 kAxes[] = {{1, 0, 0}, {0, 0, 1}, {1, 2, 3}, {-0.3, 0.1, 2}};

class TwiceInSpace : public testing::TestWithParam<std::tuple<Kind, int, double>> {};

// A body of generic shape and place, of size L, held to ground by one joint written twice.
std::string twice_in_space(const Kind& kind, const Vec3& axis, double L, const std::string& method) {
  const Vec3 at = L * Vec3(0.1, -0.3, 0.2), n = axis.normalized();
  const Vec3 other = kind.along ? Vec3(at + 0.7 * L * n) : at;
  const Vec3 across = n.unitOrthogonal();
  const auto joint = [&](const char* name, const Vec3& p) {
    std::string more;
    if (std::string(kind.type) == "universal")
      more = fmt::format(", axis2: [{:.17g}, {:.17g}, {:.17g}]", across.x(), across.y(), across.z());
    if (std::string(kind.type) == "screw") more = fmt::format(", pitch: {}", 0.05 * L);
    return fmt::format(
        "  {}: {{type: {}, between: [ground, part], at: [{:.17g}, {:.17g}, {:.17g}], axis: [{}, {}, {}]{}}}\n", name,
        kind.type, p.x(), p.y(), p.z(), axis.x(), axis.y(), axis.z(), more);
  };
  return fmt::format(R"(clatter: 1
gravity: [{}, {}, {}]
bodies:
  part:
    mass: 2
    inertia: [{}, {}, {}]
    position: [{}, {}, {}]
    orientation: {{axis: [1, -2, 0.5], angle: 40 deg}}
joints:
)",
                     2 * L, -3 * L, -9 * L, 0.1 * L * L, 0.2 * L * L, 0.15 * L * L, 0.5 * L, 0.25 * L, -0.35 * L) +
         joint("one", at) + joint("two", other) + "simulate: {" + method + ", end: 0.25 s, output_step: 0.05 s}\n";
}

// The motion is integrated to 1e-9 of the scales; coordinates, and the rounding of redundant rows, change it by no more
// than a hundred times that. Reactions carry the weight and the inertia of 2 kg, some 10 L m/s^2 each: 1e3 L N and N
// m/L is far beyond them, and far below what a row of rounding would make of them (1e15).
TEST_P(TwiceInSpace, HasTheSameFreedomsRedundantRowsAndMotionInBothCoordinates) {
  const auto& [kind, axis, L] = GetParam();
  const std::string text = twice_in_space(kind, kAxes[axis], L, "method: dopri5, tolerance: 1e-9");
  const Seen absolute = moved(text, false, {"part.position", "part.orientation"});
  const Seen joint = moved(text, true, {"part.position", "part.orientation"});
  for (const Seen* seen : {&absolute, &joint}) {
    EXPECT_EQ(seen->degrees_of_freedom, kind.freedoms);
    EXPECT_EQ(seen->redundant.size(), static_cast<std::size_t>(6 - kind.freedoms));
    for (const std::string& name : seen->redundant) EXPECT_TRUE(name.starts_with("two.")) << name;
    EXPECT_LT(seen->largest, 1e3 * L * std::max(1.0, L));
    EXPECT_LT(seen->steps, 500U);
  }
  EXPECT_EQ(absolute.redundant, joint.redundant);
  for (std::size_t i = 0; i < absolute.last.size(); ++i)
    EXPECT_NEAR(absolute.last[i], joint.last[i], 1e-7 * (i < 3 ? L : 1.0)) << i;
}

std::string size_name(double L) { return L == 1 ? "metres" : L < 1 ? "millimetres" : "kilometres"; }

std::string name_in_space(const testing::TestParamInfo<TwiceInSpace::ParamType>& test) {
  return fmt::format("{}_axis{}_{}", std::get<0>(test.param).type, std::get<1>(test.param),
                     size_name(std::get<2>(test.param)));
}

INSTANTIATE_TEST_SUITE_P(, TwiceInSpace,
                         testing::Combine(testing::ValuesIn(kKinds), testing::Range(0, 4),
                                          testing::Values(1e-3, 1.0, 1e3)),
                         name_in_space);

// Every method meets the empty rows: by their own matrices, or by the least-norm solution.
TEST(RedundantJoints, EveryMethodMovesABracketOnTwoHinges) {
  const Kind revolute{"revolute", 1, true};
  for (const char* method :
       {"method: dopri5, tolerance: 1e-8", "method: radau5, tolerance: 1e-8", "method: bdf, tolerance: 1e-8",
        "method: adams, tolerance: 1e-8", "method: generalized-alpha, step: 0.5 ms", "method: rk4, step: 1 ms",
        "method: verlet, step: 0.2 ms", "method: time-stepping, step: 0.2 ms"}) {
    const bool rough = std::string(method).find("step") != std::string::npos;
    const std::string text = twice_in_space(revolute, kAxes[2], 1, method);
    const Seen absolute = moved(text, false, {"part.position"}), joint = moved(text, true, {"part.position"});
    EXPECT_EQ(joint.degrees_of_freedom, 1) << method;
    EXPECT_LT(joint.largest, 1e3) << method;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(absolute.last[i], joint.last[i], rough ? 3e-3 : 1e-6) << method;
  }
}

struct PlanarKind {
  const char* type;
  int freedoms;
};
class TwiceInThePlane : public testing::TestWithParam<std::tuple<PlanarKind, double, double>> {};

TEST_P(TwiceInThePlane, HasTheSameFreedomsRedundantRowsAndMotionInBothCoordinates) {
  const auto& [kind, degrees, L] = GetParam();
  const double c = std::cos(degrees * M_PI / 180), s = std::sin(degrees * M_PI / 180);
  const std::string axis =
      std::string(kind.type) == "prismatic" ? fmt::format(", axis: [{:.17g}, {:.17g}, 0]", c, s) : std::string();
  const std::string joint = fmt::format("{{type: {}, between: [ground, part], at: [{:.17g}, {:.17g}]{}}}", kind.type,
                                        0.3 * L * c, 0.3 * L * s, axis);
  const std::string text = fmt::format(
      "clatter: 1\ngravity: [{}, {}]\nbodies:\n  part: {{type: planar, mass: 2, inertia: {}, position: [{}, {}], "
      "angle: 20 deg}}\njoints:\n  one: {}\n  two: {}\nsimulate: {{method: dopri5, tolerance: 1e-9, end: 0.3 s}}\n",
      2 * L, -9 * L, 0.1 * L * L, 0.5 * L, -0.2 * L, joint, joint);
  const Seen absolute = moved(text, false, {"part.position"}), in_joint = moved(text, true, {"part.position"});
  for (const Seen* seen : {&absolute, &in_joint}) {
    EXPECT_EQ(seen->degrees_of_freedom, kind.freedoms);
    EXPECT_LT(seen->largest, 1e3 * L * std::max(1.0, L));
    EXPECT_LT(seen->steps, 500U);
  }
  EXPECT_EQ(absolute.redundant, in_joint.redundant);
  EXPECT_EQ(absolute.redundant.size(), static_cast<std::size_t>(3 - kind.freedoms));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(absolute.last[i], in_joint.last[i], 1e-7 * L);
}

std::string name_in_the_plane(const testing::TestParamInfo<TwiceInThePlane::ParamType>& test) {
  return fmt::format("{}_{:.0f}deg_{}", std::get<0>(test.param).type, std::get<1>(test.param),
                     size_name(std::get<2>(test.param)));
}

INSTANTIATE_TEST_SUITE_P(, TwiceInThePlane,
                         testing::Combine(testing::Values(PlanarKind{"revolute", 1}, PlanarKind{"prismatic", 1},
                                                          PlanarKind{"fixed", 0}),
                                          testing::Values(0.0, 37.0, 90.0, 211.0), testing::Values(1e-3, 1.0, 1e3)),
                         name_in_the_plane);

// A door on three hinges of a frame that itself swings, and a spatial four-bar, whose loop repeats three rows: which
// joint closes the loop differs between the coordinates, what is redundant does not.
TEST(RedundantJoints, LoopsOfSeveralBodiesAreToldTheSameWayInBothCoordinates) {
  const std::string door = R"(clatter: 1
gravity: [0.5, 0, -9.81]
bodies:
  frame: {mass: 3, inertia: [0.5, 0.5, 0.3], position: [0.4, 0.1, 0], angular_velocity: [0, 0.1, 0.2]}
  door: {mass: 8, inertia: [2, 2, 0.7], position: [0.9, 0.1, 0.4]}
joints:
  pivot: {type: spherical, between: [ground, frame], at: [0, 0, 0]}
  low: {type: revolute, between: [frame, door], at: [0.5, 0.1, 0], axis: [0.1, 0, 1]}
  middle: {type: revolute, between: [frame, door], at: [0.55, 0.1, 0.5], axis: [0.1, 0, 1]}
  high: {type: revolute, between: [frame, door], at: [0.6, 0.1, 1], axis: [0.1, 0, 1]}
simulate: {method: dopri5, tolerance: 1e-9, end: 0.4 s}
)";
  const std::string four_bar = R"(clatter: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.25]}
  coupler: {mass: 2, inertia: [0.2, 0.2, 0.2], position: [0.5, 0, 0.6]}
  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0.35]}
joints:
  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: y}
  b: {type: revolute, between: [crank, coupler], at: [0, 0, 0.5], axis: y}
  c: {type: revolute, between: [coupler, rocker], at: [1, 0, 0.7], axis: y}
  d: {type: revolute, between: [rocker, ground], at: [1, 0, 0], axis: y}
simulate: {method: dopri5, tolerance: 1e-9, end: 0.3 s}
)";
  for (const auto& [text, body, freedoms, rows] :
       {std::tuple(door, "door.position", 4, 10), std::tuple(four_bar, "coupler.position", 1, 3)}) {
    const Seen absolute = moved(text, false, {body}), joint = moved(text, true, {body});
    EXPECT_EQ(absolute.degrees_of_freedom, freedoms);
    EXPECT_EQ(joint.degrees_of_freedom, freedoms);
    EXPECT_EQ(absolute.redundant.size(), static_cast<std::size_t>(rows));
    EXPECT_EQ(absolute.redundant, joint.redundant);
    EXPECT_LT(joint.largest, 1e4);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(absolute.last[i], joint.last[i], 1e-7) << body;
  }
}

std::string refusal(const std::string& text, bool joint) {
  Model model = load_model_text(text, "double.yaml");
  model.joint_coordinates = joint;
  try {
    prepare(std::move(model));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// The second hinge a millimetre beside the first's axis: no position has both, however the coordinates are chosen. The
// same words, and the same rows named.
TEST(RedundantJoints, ContradictionsAreRefusedByTheSameWordsInBothCoordinates) {
  const std::string text = R"(clatter: 1
bodies:
  part:
    mass: 2
    inertia: [0.1, 0.2, 0.3]
    position: [0.5, 0, 0]
    frames: {a: [-0.5, 0, 0], b: [-0.5, 0, 0.7]}
frames: {a: [0, 0, 0], b: [1 mm, 0, 0.7]}
joints:
  one: {type: fixed, between: [ground.a, part.a]}
  two: {type: spherical, between: [ground.b, part.b]}
simulate: {end: 1 s}
)";
  const std::string absolute = refusal(text, false), joint = refusal(text, true);
  EXPECT_NE(absolute.find("two.x"), std::string::npos) << absolute;
  EXPECT_EQ(absolute, joint);
}

}  // namespace
}  // namespace clatter::study
