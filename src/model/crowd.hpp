// CrowdModel: contacts of many bodies, by groups of shapes instead of pairs.
//
// A group of n shapes has n (n - 1) / 2 pairs, of which a few n ever touch. Time stepping by sweeps or gradients
// (contact/crowd_stepper.hpp) makes the pairs while it runs, from what is near; this is what it needs to know. Contacts
// in coordinates, of beams on beams, and with compliant laws stay in Model::contacts beside it.
#pragma once

#include "model/model.hpp"

namespace clatter {

// How the impulses of a step are found: block Gauss-Seidel sweeps, accelerated projected gradients (Nesterov), spectral
// projected gradients (Barzilai and Borwein), semismooth Newton.
enum class CrowdSolver { gauss_seidel, apgd, barzilai_borwein, newton };

// Coulomb's law, or its convex relaxation (Y-28): gap rates of sliding contacts grow by mu times the slip.
enum class FrictionModel { exact, relaxed };

// Each shape of `first` may touch each of `second`; `among`: any two of `first`, which then is `second` too.
struct CrowdContact : Named {
  std::vector<int> first, second;
  bool among = false;
  RigidContact law;
};

// A rope that cannot be longer than `length` and does not push (Y-14).
struct CrowdRope : Named {
  Attachment a, b;
  double length = 0;
  RigidContact law;
};

struct CrowdModel {
  std::vector<CrowdContact> contacts;
  std::vector<CrowdRope> ropes;
  std::vector<std::pair<int, int>> apart;  // pairs of shapes that Model::contacts has, lower first, sorted
  CrowdSolver solver = CrowdSolver::gauss_seidel;
  FrictionModel friction = FrictionModel::exact;
  int iterations = 0;    // at most; 0: chosen
  double tolerance = 0;  // of rates, m/s; 0: chosen
  int threads = 1;
};

}  // namespace clatter
