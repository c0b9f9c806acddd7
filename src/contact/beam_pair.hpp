// BeamPair: what is constant of two beams that may touch each other, or of one that may touch itself (Y-16 to Y-22).
//
// A planar beam with a section has an outline: two sides y = -H/2 and y = +H/2 and two end faces, which strain with the
// section. Cables, and beams in space, are tubes about their axes. Stations of one beam, the slave, look for the place
// of the other, the master, that they would touch:
//
//   line      Gauss points of segments of a side (tubes: of the axis), each with the area of beam it stands for;
//             of rigid laws slave is the first beam, where it touches itself the part with the smaller arc length; of
//             compliant ones both are, with half the area each, so that neither is preferred
//   end       corners of the outline (tubes: ends of the axis), of both beams
//   crossing  tubes in space: the nearest points of one element of the first beam and of the second
//
// A slot is one station, or several stations of the same side that share one multiplier (Y-31): its gap is the mean of
// theirs with the areas as weights, its row the same mean of their rows, so that gap' = W^T v.
#pragma once

#include <vector>

#include "contact/beam_kernel.hpp"
#include "engine/ancf_body.hpp"
#include "engine/system.hpp"

namespace clatter::contact {

// Where a curve runs on a beam: along it at distance y from the axis, or across it at an end.
struct BeamCurve {
  enum class Runs { along, across_start, across_end } runs = Runs::along;
  int element = 0;
  double y = 0;  // of curves along the beam; across it y is the parameter
  bool across() const { return runs != Runs::along; }
};

struct BeamOutline {
  const ancf::AncfBody* body = nullptr;
  int q = 0, v = 0;  // of its first nodal vector
  int link = -1, tree = -1;
  bool sides = false;  // an outline; otherwise a tube
  double half = 0;     // of the height
  double radius = 0;   // tubes
  double depth = 0;    // out of the plane; tubes: diameter

  int elements() const { return body->elements; }
  double length(int element) const { return body->source->lengths[static_cast<std::size_t>(element)]; }
  double reach() const { return sides ? half : radius; }  // from the axis to the skin
  SkinMotion skin() const;
  // Weights in the derivative of the section's vector Y (1) or Z (2) along the axis.
  void section_weights(int element, double x, int section, int derivative, double* out) const;
  // Weights of the element's vectors in the derivative of the curve by its parameter: arc length x, or y across.
  void weights(const BeamCurve& curve, double x, int derivative, double* out) const;
};

struct BeamStation {
  enum class Kind { line, end, crossing } kind = Kind::line;
  bool second = false;  // a place of the second beam
  BeamCurve curve;      // of the slave
  double x = 0;         // on it
  double area = 0;
  // Of line stations: the segment, and the place in it as a part of it.
  double from = 0, to = 0, z = 0;
};

struct BeamPair {
  static constexpr int kMostVectors = 9;  // of an element

  BeamPair(const BeamTouching& touching, const System& system, bool rigid);

  BeamTouching touching;
  BeamOutline beam[2];
  bool self = false;
  int dim = 2;
  std::vector<BeamStation> stations;  // those of a slot follow each other, those of an element too
  std::vector<int> slot_begin;        // stations of slot i: [slot_begin[i], slot_begin[i + 1])
  // Line stations of element i of a beam: [line_begin[i], line_begin[i + 1]); empty: it is no slave.
  std::vector<int> line_begin[2];
  int ends = 0;  // first end station; crossings come behind the ends
  int crossings = 0;

  // Of an element of beam b among those of both.
  int element_number(int b, int element) const { return b == 0 || self ? element : beam[0].elements() + element; }
  bool both = false;  // sides of both have line stations
  int slots() const { return static_cast<int>(slot_begin.size()) - 1; }
  const BeamOutline& slave(const BeamStation& s) const { return beam[s.second ? 1 : 0]; }
  const BeamOutline& master(const BeamStation& s) const { return beam[self || s.second ? 0 : 1]; }
  std::vector<int> slot_of_station;
  // Stiffness of a slot's law for a law of this stiffness (of one point): by the area of its stations.
  double stiffness(int slot, double of_point) const;
};

}  // namespace clatter::contact
