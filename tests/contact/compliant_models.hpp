// Small models with compliant contacts made by hand, and a machine that moves them event by event.
#pragma once

#include <memory>
#include <string>

#include "contact/compliant.hpp"
#include "contact/compliant_law.hpp"
#include "contact/contact_dynamics.hpp"
#include "integrate/integrator.hpp"
#include "laws/table.hpp"
#include "model/load.hpp"

namespace clatter::contact {

// Sets a parameter of the law, if it has one of this name.
inline void set(CompliantContact& law, std::string_view key, double value) {
  if (laws::row(law.normal).find(key) != nullptr) laws::parameter(law.normal, key) = value;
}

inline CompliantContact law_of(const laws::LawRow& row, double stiffness, double damping = 0) {
  CompliantContact law;
  law.normal = laws::with_defaults(row);
  set(law, "stiffness", stiffness);
  set(law, "damping", damping);
  return law;
}

// By its name: the model of a linear law, or the type.
inline CompliantContact law_of(std::string_view name, double stiffness, double damping = 0) {
  for (const laws::LawRow& row : laws::table())
    if (row.name() == name) return law_of(row, stiffness, damping);
  throw std::logic_error("no such law");
}

inline ContactShape shape(const std::string& name, int body, ContactShape::Kind kind, double radius = 0) {
  ContactShape s;
  s.name = name;
  s.at.body = body;
  s.kind = kind;
  s.radius = radius;
  return s;
}

inline Contact contact(const std::string& name, int first, int second, const CompliantContact& law) {
  Contact c;
  c.name = name;
  c.first = first;
  c.second = second;
  c.law = law;
  return c;
}

// A model with compliant contacts, moved by one integrator; events are told to the contacts and the integrator begins
// anew after them.
struct Machine {
  explicit Machine(Model model, Scheme scheme = Scheme::dopri5, double tolerance = 1e-12)
      : system(System::compile(std::move(model))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        dynamics(contacts, engine) {
    settings.scheme = scheme;
    settings.relative_tolerance = settings.absolute_tolerance = tolerance;
    State s = system->initial;
    s.z.conservativeResize(dynamics.sizes().nz);
    s.z.tail(dynamics.compliant().inner_states()).setZero();
    integrator = make_integrator(settings, dynamics);
    a.setZero(dynamics.sizes().nv);
    lambda.setZero(dynamics.sizes().nc());
    zdot.setZero(dynamics.sizes().nz);
    dynamics.accelerations(s, a, lambda, zdot);
    dynamics.compliant().settle();
    energy = dynamics.stored_energy(s);
    W.setZero(dynamics.sizes().np);
    integrator->start(s);
  }
  const State& state() const { return integrator->state(); }
  // Moves to the next event of a contact, or to the limit. Returns the kind of event (0 begins, 1 ends), or -1.
  int next(double limit) {
    while (state().t < limit) {
      const bool at_event = integrator->step(limit).at_event;
      if (!at_event) continue;
      const int first = dynamics.sizes().ne - dynamics.compliant().event_count();
      std::vector<int> own;
      for (const int i : integrator->fired()) own.push_back(i - first);
      here();
      force_before = dynamics.compliant().force(0);
      dynamics.compliant().on_events(own);
      force_after = dynamics.compliant().force(0);
      const State s = state();
      W += integrator->work();
      integrator->start(s);
      return dynamics.compliant().event_info(own[0]).second;
    }
    here();
    return -1;
  }
  void here() { dynamics.accelerations(state(), a, lambda, zdot); }
  double remainder() { return dynamics.stored_energy(state()) - energy - (W + integrator->work()).sum(); }

  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  ContactDynamics dynamics;
  IntegratorSettings settings;
  std::unique_ptr<Integrator> integrator;
  Vec a, lambda, zdot, W;
  Vec3 force_before, force_after;
  double energy = 0;
};

// A disc of mass 1 kg that touches the floor at the start.
inline Model table(const CompliantContact& law, double speed = 1, double gravity = 0, double mass = 1) {
  Model m = load_model_text(R"(clatter: 1
bodies:
  ball: {type: planar, mass: 1, inertia: 0.01, position: [0, 0.25]}
simulate: {end: 1}
)",
                            "table.yaml");
  m.gravity = Vec3(0, -gravity, 0);
  m.bodies[0].mass = mass;
  m.bodies[0].velocity = Vec3(0, -speed, 0);
  m.shapes = {shape("hull", 0, ContactShape::Kind::circle, 0.25), shape("floor", -1, ContactShape::Kind::line)};
  m.contacts = {contact("hit", 0, 1, law)};
  return m;
}

}  // namespace clatter::contact
