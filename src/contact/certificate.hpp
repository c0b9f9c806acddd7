// Certificate: how well the contact laws were met, step by step; the worst of a run is kept with its time.
//
//   complementarity   natural map of the contact problem, scaled (solve/cone_map.hpp)
//   cone              how far forces and rates lay outside of their sets, scaled
//   penetration       deepest gap at the end of a step, metres, positive; event by event and in smooth motions also
//                     between the ends, of contacts that are not closed (passage_watch.hpp)
//   on_way            time stepping of pairs: deepest between the ends of a step, which its scheme does not promise
//                     anything about (step_passage.cpp). Crowds look where their steps lead (crowd_second_look.cpp)
//   energy            what a step's change of the stored energy and its booked work differ by, joules
#pragma once

#include <cmath>

#include "integrate/archive.hpp"

namespace clatter::contact {

struct Certificate {
  double complementarity = 0, cone = 0, penetration = 0, energy = 0, on_way = 0;
  double t_complementarity = 0, t_cone = 0, t_penetration = 0, t_energy = 0, t_on_way = 0;

  // Keeps the larger of each.
  void take(const Certificate& step, double t) {
    keep(complementarity, t_complementarity, step.complementarity, t);
    keep(cone, t_cone, step.cone, t);
    keep(penetration, t_penetration, step.penetration, t);
    keep(energy, t_energy, std::abs(step.energy), t);
    keep(on_way, t_on_way, step.on_way, t);
  }
  void exchange(Archive& archive) {
    for (double* x : {&complementarity, &cone, &penetration, &energy, &on_way, &t_complementarity, &t_cone,
                      &t_penetration, &t_energy, &t_on_way})
      archive.value(*x);
  }

 private:
  static void keep(double& worst, double& when, double x, double t) {
    if (!(x > worst)) return;
    worst = x;
    when = t;
  }
};

}  // namespace clatter::contact
