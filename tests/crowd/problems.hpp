// Crowds for the tests: random contact problems, and models read from text and stepped by the CrowdStepper.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "contact/crowd_stepper.hpp"
#include "model/load.hpp"

namespace clatter::contact {

// n balls in a line-up with random contacts between them and with the ground, well posed: more contacts than bodies.
inline CrowdProblem random_problem(unsigned seed, int n, int rows, bool planar, bool balls) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  CrowdProblem p;
  p.balls = balls;
  p.bodies.assign(CrowdProblem::grounds, {});
  p.inverse_inertia.assign(CrowdProblem::grounds, Mat3::Zero());
  for (int i = 0; i < n; ++i) {
    CrowdBody b;
    b.inverse_mass = 1 + 0.5 * u(random);
    b.inverse_inertia = 2.5 * b.inverse_mass;
    for (int k = 0; k < (planar ? 2 : 3); ++k) b.v[k] = u(random);
    b.v[planar ? 1 : 2] -= 1;  // towards the ground
    for (int k = planar ? 2 : 0; k < 3; ++k) b.w[k] = u(random);
    p.bodies.push_back(b);
    Mat3 I = b.inverse_inertia * Mat3::Identity();
    if (!balls && !planar) {
      Mat3 R;
      for (int k = 0; k < 9; ++k) R(k / 3, k % 3) = u(random);
      I = Mat3(R * R.transpose()) + 0.5 * Mat3::Identity();
    }
    if (planar) I = Mat3(Vec3(0, 0, b.inverse_inertia).asDiagonal());
    p.inverse_inertia.push_back(I);
  }
  for (int i = 0; i < rows; ++i) {
    CrowdRow row{};
    row.side1 = CrowdProblem::grounds + (i < n ? i : static_cast<int>(random() % static_cast<unsigned>(n)));
    row.side2 = i < n ? 0 : CrowdProblem::grounds + static_cast<int>(random() % static_cast<unsigned>(n));
    if (row.side1 == row.side2) row.side2 = 0;
    Vec3 d{u(random), u(random), planar ? 0 : u(random)};  // braces: drawn in this order by every compiler
    if (row.side2 == 0) d = planar ? Vec3(0.3 * d.x(), 1, 0) : Vec3(0.3 * d.x(), 0.3 * d.y(), 1);
    d.normalize();
    for (int k = 0; k < 3; ++k) {
      row.n[k] = d[k];
      row.c1[k] = -d[k] + (balls || (planar && k == 2) ? 0 : 0.3 * u(random));
      row.c2[k] = row.side2 == 0 ? 0 : d[k];
    }
    row.mu = 0.4 + 0.3 * u(random);
    row.b = 0.1 * std::abs(u(random));
    p.set_response(row);
    p.rows.push_back(row);
  }
  p.free_rows = rows;
  return p;
}

inline double largest_difference(const CrowdProblem& a, const CrowdProblem& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    for (int k = 0; k < 3; ++k)
      most = std::max(
          {most, std::abs(a.bodies[i].v[k] - b.bodies[i].v[k]), std::abs(a.bodies[i].w[k] - b.bodies[i].w[k])});
  return most;
}

// A model of a crowd at work.
class Crowd {
 public:
  explicit Crowd(Model model)
      : system(System::compile(std::move(model))), contacts(ContactSystem::compile(system)), engine(system) {
    IntegratorSettings settings;
    settings.step = system->model.simulate.step;
    dynamics = std::make_unique<ContactDynamics>(contacts, engine);
    stepper = std::make_unique<CrowdStepper>(*dynamics, settings);
    stepper->start(system->initial);
  }
  explicit Crowd(const std::string& text) : Crowd(load_model_text(text, "crowd.yaml")) {}

  void run(double end) {
    while (stepper->state().t < end * (1 - 1e-12)) stepper->step(end);
  }
  const Vec& q() const { return stepper->state().q; }
  const Vec& v() const { return stepper->state().v; }
  double energy() { return dynamics->stored_energy(stepper->state()); }

  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  std::unique_ptr<ContactDynamics> dynamics;
  std::unique_ptr<CrowdStepper> stepper;
};

}  // namespace clatter::contact
