// A stick whose tip strikes the floor, what the law of impact says of it, and the event-driven method beside it.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "contact/event_driven.hpp"
#include "contact/impacts.hpp"
#include "contact/models.hpp"

namespace clatter::contact {

struct Throw {
  double restitution = 0, mu = 0.1;
  double height = 0.01;              // of the tip
  Vec3 velocity = Vec3(0.5, -2, 0);  // at first the tip slips forwards, the blow turns it round
  double rate = 0, gravity = 0;
  double size = 1;  // half a metre is half of a `size`
  RigidContact::Impact impact = RigidContact::Impact::moreau;
  double tangential = 0;  // restitution
};

inline constexpr double kAngle = 40 * std::numbers::pi / 180;

// m = 1, length 1: J = 1/12. One tip, or both.
inline Model stick(const Throw& t, double angle = kAngle, bool both = false) {
  ModelMaker m(Vec3(0, -t.gravity * t.size, 0));
  const double half = 0.5 * t.size;
  const int body = m.planar_body(1, t.size * t.size / 12, Vec3(0, half * std::sin(angle) + t.height * t.size, 0),
                                 t.velocity * t.size, angle, t.rate);
  const int floor = m.line(-1);
  for (const double side : {-1.0, 1.0}) {
    if (side > 0 && !both) break;
    const int tip = m.circle(body, 0);
    m.model.shapes.back().at.placement.position = Vec3(side * half, 0, 0);
    RigidContact& law = m.contact(tip, floor, t.restitution, t.mu);
    law.impact = t.impact;
    law.tangential_restitution = t.tangential;
  }
  return m.model;
}

// What the law says of one impact of the tip, from velocities before it.
inline Vec after_impact(const Throw& t, double* gain = nullptr) {
  ImpactSystem s;
  s.M = Vec3(1, 1, 1.0 / 12).asDiagonal();
  s.W.resize(3, 2);
  const Vec3 arm(-0.5 * std::cos(kAngle), -0.5 * std::sin(kAngle), 0);
  s.W << 0, 1, 1, 0, arm.x(), -arm.y();
  s.v = Vec3(t.velocity.x(), t.velocity.y(), 0);
  const ImpactProblem problem =
      s.problem({{0, 1, t.mu, t.restitution, t.tangential, t.tangential > 0 ? 1.0 : 0.0, t.impact}});
  ImpactSolver solver;
  ImpactResult r = solver.solve(problem);
  solver.forbid_gain(problem, r);
  if (gain != nullptr) *gain = r.gain;
  s.apply(r.P);
  return s.v;
}

struct EventRun {
  explicit EventRun(const Model& model)
      : system(System::compile(model)),
        contacts(ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings()) {
    stepper.start(system->initial);
  }
  static IntegratorSettings settings() {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = s.absolute_tolerance = 1e-11;
    return s;
  }
  void run(double t) {
    while (stepper.state().t < t) {
      stepper.step(t);
      for (const ContactChange& c : stepper.changes())
        if (c.what == "energy gain") gains.push_back(c.detail);
    }
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  std::vector<std::string> gains;
};

}  // namespace clatter::contact
