#include "study/start_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.hpp"
#include "model/reduced_body.hpp"

namespace clatter::study {

namespace {

constexpr double kWorthTelling = 1e-6;  // of the model's scale

// All that a model can state about a start, as it is in a state.
struct Start {
  std::vector<FrameState<double>> bodies;
  std::vector<Vec> eta, rates;            // by flexible body
  std::vector<double> energy;             // likewise, elastic
  std::vector<double> component, speeds;  // by component of a joint
};

Start start_in(Engine& engine, const State& s) {
  const System& system = engine.system();
  engine.observe(s, nullptr);
  Start out;
  for (const BodyIndex& b : system.bodies) out.bodies.push_back(engine.frame_state(b.frame));
  for (const FlexibleIndex& f : system.flexible) {
    const BlockWork& block = *engine.links().blocks[static_cast<std::size_t>(f.block)];
    out.eta.emplace_back(Eigen::Map<const Vec>(block.elastic_coordinates(), f.n));
    out.rates.emplace_back(Eigen::Map<const Vec>(block.elastic_rates(), f.n));
    out.energy.push_back(block.elastic_energy());
  }
  for (const System::JointComponentIndex& c : system.joint_components) {
    out.component.push_back(engine.measure(c.measure).e);
    out.speeds.push_back(engine.measure(c.measure).de);
  }
  return out;
}

// What is zero but for rounding is shown as zero.
double clean(double x, double scale) { return std::abs(x) < 1e-12 * scale ? 0.0 : x; }

class ChangeList {
 public:
  void add(const std::string& name, double before, double after, double scale, const char* unit) {
    if (const double size = std::abs(after - before) / scale; size > kWorthTelling)
      list_.push_back({size, fmt::format("{} from {}{} to {}{}", name, number(clean(before, scale), 5), unit,
                                         number(clean(after, scale), 5), unit)});
  }
  void turn(const std::string& name, const Mat3& before, const Mat3& after) {
    const Eigen::AngleAxisd turn(Mat3(after * before.transpose()));
    if (turn.angle() <= kWorthTelling) return;
    const Vec3& axis = turn.axis();
    list_.push_back(
        {turn.angle(),
         fmt::format("{} by {} deg about [{}, {}, {}]", name, number(turn.angle() * 180 / std::numbers::pi, 4),
                     number(clean(axis.x(), 1), 3), number(clean(axis.y(), 1), 3), number(clean(axis.z(), 1), 3))});
  }
  std::vector<std::string> lines() {
    std::stable_sort(list_.begin(), list_.end(), [](const Line& a, const Line& b) { return a.size > b.size; });
    std::vector<std::string> out;
    for (Line& line : list_) out.push_back(std::move(line.text));
    return out;
  }

 private:
  struct Line {
    double size;
    std::string text;
  };
  std::vector<Line> list_;
};

void elastic(const System& system, const std::vector<Vec>& before, const std::vector<Vec>& after, const char* what,
             double length, ChangeList& out) {
  for (std::size_t i = 0; i < system.flexible.size(); ++i) {
    const Body& body = system.model.bodies[static_cast<std::size_t>(system.flexible[i].body)];
    if (is_beam(body.kind)) continue;  // its coordinates are where it is: its frame tells that
    const ReducedBody& r = *body.reduced;
    // The coordinate that stands for a displacement of the size of `length`.
    for (int k = 0; k < r.n; ++k)
      out.add(fmt::format("{}.{}.{}", body.name, what, k + 1), before[i][k], after[i][k],
              length * std::sqrt(r.mass / r.M(k, k)), "");
  }
}

constexpr const char* kAxes[] = {"x", "y", "z"};

}  // namespace

std::vector<std::string> changed_positions(Prepared& prepared) {
  Setting& told = prepared.told();
  const System& system = *told.system;
  const Start before = start_in(*told.engine, told.written), after = start_in(*told.engine, told.start);
  ChangeList out;
  for (std::size_t i = 0; i < system.model.bodies.size(); ++i) {
    const Body& body = system.model.bodies[i];
    if (!body.pose) continue;
    for (int k = 0; k < 3; ++k)
      out.add(body.name + ".position." + kAxes[k], before.bodies[i].p[k], after.bodies[i].p[k], system.length_scale,
              " m");
    out.turn(body.name + ".orientation", before.bodies[i].R, after.bodies[i].R);
  }
  elastic(system, before.eta, after.eta, "eta", system.length_scale, out);
  const double speed = system.length_scale / system.time_scale, energy = system.mass_scale * speed * speed;
  for (std::size_t i = 0; i < system.flexible.size(); ++i)
    out.add("elastic energy of " + system.model.bodies[static_cast<std::size_t>(system.flexible[i].body)].name,
            before.energy[i], after.energy[i], energy, " J");
  for (std::size_t i = 0; i < system.joint_components.size(); ++i) {
    const System::JointComponentIndex& c = system.joint_components[i];
    const Joint& joint = system.model.joints[static_cast<std::size_t>(c.joint)];
    if (joint.position.empty()) continue;
    const double change = after.component[i] - before.component[i];
    out.add(joint.name + "." + c.name, before.component[i],
            before.component[i] + (c.angular ? std::remainder(change, 2 * std::numbers::pi) : change),
            c.angular ? 1 : system.length_scale, c.angular ? " rad" : " m");
  }
  return out.lines();
}

std::vector<std::string> changed_velocities(Prepared& prepared) {
  Setting& told = prepared.told();
  const System& system = *told.system;
  // What the model states, in the position it states; what was found, in the one that was found.
  const Start before = start_in(*told.engine, told.written), after = start_in(*told.engine, told.start);
  const double speed = system.length_scale / system.time_scale, spin = 1 / system.time_scale;
  ChangeList out;
  for (std::size_t i = 0; i < system.model.bodies.size(); ++i) {
    const Body& body = system.model.bodies[i];
    for (int k = 0; k < 3; ++k) {
      if (body.velocity)
        out.add(body.name + ".velocity." + kAxes[k], before.bodies[i].v[k], after.bodies[i].v[k], speed, " m/s");
      if (body.angular_velocity)
        out.add(body.name + ".angular_velocity." + kAxes[k], before.bodies[i].w[k], after.bodies[i].w[k], spin,
                " rad/s");
    }
  }
  elastic(system, before.rates, after.rates, "eta_rate", speed, out);
  for (std::size_t i = 0; i < system.joint_components.size(); ++i) {
    const System::JointComponentIndex& c = system.joint_components[i];
    const Joint& joint = system.model.joints[static_cast<std::size_t>(c.joint)];
    if (joint.velocity.empty()) continue;
    out.add(joint.name + ".rate." + c.name, before.speeds[i], after.speeds[i], c.angular ? spin : speed,
            c.angular ? " rad/s" : " m/s");
  }
  return out.lines();
}

}  // namespace clatter::study
