// Rigid shapes that overlap at the start. One rule for every method, for pairs and for crowds, before the motion
// begins:
//
//   up to rounding   (kTouching of the length scale; of crowds what they take for touching): as it is
//   up to a tenth    of the smaller shape: an inaccuracy of the model; positions move by the smallest correction in
//                    the metric of M that takes all overlaps back, and the run says so
//   more             refused by name: taken back it would be another model
//
// `initial: adjust_positions: false` refuses the second, too. Bodies that deform move as a whole, against M + K T^2
// with a time T that is long for them. Shapes without a size (points, lines, planes) have no share in the measure.
// Compliant laws may begin deformed; rigid ones that `method: smooth` replaces count as rigid.
#pragma once

#include <memory>
#include <string>

#include "contact/contact_system.hpp"
#include "engine/engine.hpp"

namespace clatter::contact {

// What overlapped at the start.
struct StartOverlap {
  int places = 0;                       // points of contact beyond rounding
  double depth = 0;                     // of the deepest
  double share = 0;                     // of the smaller shape: of the worst
  std::string contact, shape1, shape2;  // of the worst
  Source source;
  double moved = 0;          // most that a body was moved by
  double left = 0;           // depth that is still there
  std::string text() const;  // for the summary
};

// Refuses what must not be taken back: InputError with the place of the contact, the two shapes and the depth.
void judge_overlap(const Model& model, const StartOverlap& overlap);

// Measures, judges and takes back; `start` is a state of the engine.
StartOverlap take_back_overlap(const std::shared_ptr<const ContactSystem>& contacts, Engine& engine, State& start);

// Most that a link's mass centre is away from where it was.
double largest_shift(const Engine& engine, const std::vector<Vec3>& before);
std::vector<Vec3> mass_centres(const Engine& engine);

}  // namespace clatter::contact
