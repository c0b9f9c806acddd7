// Beams by cone complementarity: semi-implicit Euler steps, rigid points of their sides (YV-5 to YV-10).
#include <fmt/format.h>

#include <cmath>

#include "crowd/problems.hpp"

namespace clatter::contact {
namespace {

// YV-6 from 0.1 mm above the ground. With a disc far away that rolls at `speed`, so that all points within 2 h `speed`
// take part in a step.
std::string dropped(double speed) {
  return fmt::format(R"(
clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies:
  beam: {{type: beam, planar: true, element: ancf-beam, elements: 8, to: [1, 0], section: {{rectangle: [0.1, 1]}},
         material: {{density: 7850, young: 2.1e7, poisson: 0.3}}, position: [0, 0.0501], velocity: [0, -4.3171]}}
  runner: {{type: planar, mass: 1, inertia: 1, position: [100 m, 0], velocity: [{}, 0]}}
shapes:
  floor: {{on: ground, type: line}}
  skin: {{on: beam, type: sides, per_element: 11, side: below}}
  rim: {{on: runner, type: circle, radius: 1 cm}}
  wall: {{on: ground, type: line, length: 1 m, at: [200 m, 0]}}
contacts:
  touch: {{between: [skin, floor], law: {{type: rigid, friction: 0.3}}}}
  far: {{between: [rim, wall], law: {{type: rigid}}}}
simulate: {{method: time-stepping, contact_solver: barzilai-borwein, friction_model: relaxed, contact_iterations: 20000,
           contact_tolerance: 1e-10, step: 0.1 ms, end: 1 s}}
)",
                     speed);
}

// YV-5 (iii): the impulses of all points are the change of momentum and what gravity brought, to rounding of the sum.
TEST(BeamInACrowd, IsThrownUpByExactlyTheImpulsesOfItsPoints) {
  Crowd c(dropped(0));
  double impulse = 0;
  for (int n = 0; n < 200; ++n) {
    c.stepper->step(1);
    impulse += 1e-4 * c.stepper->entries()[0].force.y();
  }
  c.engine.observe(c.stepper->state(), nullptr);
  // The disc far away, 1 kg, falls too.
  const double mass = 785, momentum = momenta(c.system->tree, c.engine.links()).linear.y();
  EXPECT_GT(impulse, mass * 4);
  EXPECT_NEAR(impulse, momentum + mass * 4.3171 + (mass + 1) * 9.81 * 0.02, 1e-9 * impulse);
}

// YV-7: points farther away than anything moves in a step do not change it. Here all 81 points take part from the start
// of a bounce to its end (reach 0.2 m), or those within a millimetre. Velocities are unique where impulses are not
// (T-10), to what the solver leaves: 1e-10 m/s a step.
TEST(BeamInACrowd, MovesTheSameWhateverTheReachOfTheSearch) {
  Crowd narrow(dropped(0)), wide(dropped(1000));
  double difference = 0;
  for (int n = 0; n < 200; ++n) {
    narrow.stepper->step(1);
    wide.stepper->step(1);
    difference = std::max(difference, (narrow.q().tail(68) - wide.q().tail(68)).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(difference, 1e-9);
}

// YV-8 with n elements and 161 points.
std::string swinging(int elements, double step) {
  return fmt::format(R"(
clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies:
  beam: {{type: beam, planar: true, element: ancf-beam, elements: {}, to: [1, 0], section: {{rectangle: [0.05, 1]}},
         material: {{density: 7850, young: 2.1e7, poisson: 0.3}}}}
joints: {{pin: {{type: revolute, between: [ground, beam.start]}}}}
shapes:
  disc: {{on: ground, type: circle, radius: 5 cm, at: [0.5 m, -0.5 m]}}
  skin: {{on: beam, type: sides, per_element: {}, side: below}}
contacts: {{touch: {{between: [skin, disc], law: {{type: rigid, friction: 0.3}}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, friction_model: relaxed, contact_iterations: 3000,
           contact_tolerance: 1e-7, step: {}, end: 1 s}}
)",
                     elements, 160 / elements + 1, step);
}

double tip(const Crowd& c) { return c.q()[c.q().size() - 3]; }  // y of the last node; its section vector follows

// The tip converges from one side. At 0.3 s, just before the disc is met, the limit would be fourth order, 16 a
// doubling; so few elements are not there yet, and more than second order (5 a doubling) is asked. 0.1 s into the
// contact it is about first order.
TEST(BeamOnADisc, ConvergesMonotonouslyWithItsElements) {
  double before[3], during[3];
  int i = 0;
  for (const int elements : {4, 8, 16}) {
    Crowd c(swinging(elements, 5e-5));
    c.run(0.3);
    before[i] = tip(c);
    c.run(0.4);
    during[i++] = tip(c);
  }
  EXPECT_GT((before[1] - before[0]) / (before[2] - before[1]), 5);
  EXPECT_GT(before[2], before[1]);
  EXPECT_GT(before[1], before[0]);
  EXPECT_GT(during[1], during[0]);
  EXPECT_GT(during[2], during[1]);
  EXPECT_LT(during[2] - during[1], 0.6 * (during[1] - during[0]));
}

// Contacts take energy and give none; what the total rises by is the oscillation of semi-implicit Euler. These steps
// keep T + U - h/2 dU/dt to the second order, so that T + U of two instants differ by h/2 (dU/dt - dU'/dt), at most by
// the largest change of the potential energy in one step; and it is in proportion to the step.
TEST(BeamOnADisc, OnlyRisesInEnergyByWhatTheStepMakes) {
  const auto rise = [](double step) {
    Crowd c(swinging(5, step));
    double least = 0, most = 0, exchanged = 0, before = 0;
    while (c.stepper->state().t < 0.6) {
      c.stepper->step(1);
      const double E = c.energy();
      least = std::min(least, E);
      most = std::max(most, E - least);
      State still = c.stepper->state();
      still.v.setZero();
      const double U = c.dynamics->stored_energy(still);
      exchanged = std::max(exchanged, std::abs(U - before));
      before = U;
    }
    EXPECT_LT(most, exchanged) << step;
    EXPECT_LT(least, -200) << "the contacts took nothing";
    return most;
  };
  const double coarse = rise(1e-4), fine = rise(5e-5);
  EXPECT_NEAR(fine / coarse, 0.5, 0.15);
}

}  // namespace
}  // namespace clatter::contact
