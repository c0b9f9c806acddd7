// Small contact models made by hand, and a bench that steps them.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contact/contact_dynamics.hpp"
#include "contact/nonsmooth_alpha.hpp"
#include "contact/time_stepping.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {

// Adds bodies, shapes and contacts to a model.
struct ModelMaker {
  Model model;

  explicit ModelMaker(const Vec3& gravity) { model.gravity = gravity; }
  explicit ModelMaker(Model m) : model(std::move(m)) {}

  int planar_body(double mass, double inertia, const Vec3& at, const Vec3& velocity, double angle = 0,
                  double rate = 0) {
    Body b;
    b.name = "body" + std::to_string(model.bodies.size() + 1);
    b.kind = BodyKind::planar;
    b.mass = mass;
    b.inertia(2, 2) = inertia;
    b.pose = Placement{at, Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))};
    b.velocity = velocity;
    b.angular_velocity = Vec3(0, 0, rate);
    model.bodies.push_back(b);
    return static_cast<int>(model.bodies.size()) - 1;
  }
  int spatial_body(double mass, const Vec3& inertia, const Vec3& at, const Vec3& velocity,
                   const Vec3& rate = Vec3::Zero(), const Quat& turned = Quat::Identity()) {
    Body b;
    b.name = "body" + std::to_string(model.bodies.size() + 1);
    b.mass = mass;
    b.inertia = inertia.asDiagonal();
    b.pose = Placement{at, turned};
    b.velocity = velocity;
    b.angular_velocity = rate;
    model.bodies.push_back(b);
    return static_cast<int>(model.bodies.size()) - 1;
  }
  ContactShape& shape(int body, ContactShape::Kind kind) {
    ContactShape s;
    s.name = "shape" + std::to_string(model.shapes.size() + 1);
    s.at.body = body;
    s.kind = kind;
    model.shapes.push_back(s);
    return model.shapes.back();
  }
  int last_shape() const { return static_cast<int>(model.shapes.size()) - 1; }
  int line(int body, double angle = 0, const Vec3& at = Vec3::Zero()) {
    shape(body, ContactShape::Kind::line).at.placement = {at, Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))};
    return last_shape();
  }
  int circle(int body, double radius) {
    shape(body, ContactShape::Kind::circle).radius = radius;
    return last_shape();
  }
  int rectangle(int body, double width, double height) {
    const double a = width / 2, b = height / 2;
    shape(body, ContactShape::Kind::polygon).points = {{-a, -b, 0}, {a, -b, 0}, {a, b, 0}, {-a, b, 0}};
    return last_shape();
  }
  int plane(int body) {
    shape(body, ContactShape::Kind::plane);
    return last_shape();
  }
  int sphere(int body, double radius) {
    shape(body, ContactShape::Kind::sphere).radius = radius;
    return last_shape();
  }
  int box(int body, const Vec3& size) {
    shape(body, ContactShape::Kind::box).size = size;
    return last_shape();
  }
  RigidContact& contact(int first, int second, double restitution, double mu) {
    Contact c;
    c.name = "contact" + std::to_string(model.contacts.size() + 1);
    c.first = first;
    c.second = second;
    RigidContact law;
    law.restitution = restitution;
    law.friction.mu = mu;
    c.law = law;
    model.contacts.push_back(c);
    return std::get<RigidContact>(model.contacts.back().law);
  }
};

struct Moreau {
  double theta = 0.5;
  bool implicit = false;
};
struct Alpha {
  double rho_inf = 0.8;
};

// One model with one of the two steppers.
class Bench {
 public:
  Bench(const Model& model, double h, const Moreau& m) : Bench(model) {
    stepper_ = std::make_unique<MoreauStepper>(*dynamics_, settings(h), MoreauSettings{m.theta, m.implicit});
    stepper_->start(start_);
  }
  Bench(const Model& model, double h, const Alpha& a) : Bench(model) {
    IntegratorSettings s = settings(h);
    s.rho_inf = a.rho_inf;
    stepper_ = std::make_unique<NonsmoothAlpha>(*dynamics_, s);
    stepper_->start(start_);
  }

  ContactStepper& stepper() { return *stepper_; }
  ContactDynamics& dynamics() { return *dynamics_; }
  const State& state() const { return stepper_->state(); }
  const State& begin() const { return start_; }
  double energy() { return dynamics_->stored_energy(state()); }
  void step(double until) { stepper_->step(until); }
  void run(double until) {
    while (state().t < until) stepper_->step(until);
  }
  // Calls seen() after every step.
  template <class F>
  void run(double until, F&& seen) {
    while (state().t < until) {
      stepper_->step(until);
      seen();
    }
  }

 private:
  explicit Bench(const Model& model) {
    auto system = System::compile(model);
    auto contacts = ContactSystem::compile(system);
    engine_ = std::make_unique<Engine>(system);
    dynamics_ = std::make_unique<ContactDynamics>(contacts, *engine_);
    start_ = system->initial;
    start_.z.conservativeResize(dynamics_->sizes().nz);
    make_consistent(*dynamics_, start_);
  }
  static IntegratorSettings settings(double h) {
    IntegratorSettings s;
    s.step = h;
    return s;
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ContactDynamics> dynamics_;
  State start_;
  std::unique_ptr<ContactStepper> stepper_;
};

}  // namespace clatter::contact
