// Kinds of elements of cables and beams in absolute nodal coordinates: vectors a node, nodes an element, how places
// turn. Element kernels are compiled for their kind; who only looks at a body (ancf_body.hpp) does not need them.
#pragma once

#include "engine/ancf_turn.hpp"

namespace clatter::ancf {

template <int Dim, int Gradients, int Nodes, class TurnRule>
struct Kind {
  static constexpr int dim = Dim;
  static constexpr int gradients = Gradients;        // vectors a node
  static constexpr int nodes = Nodes;                // of an element
  static constexpr int vectors = Gradients * Nodes;  // of an element
  static constexpr int dofs = vectors * Dim;
  static constexpr int stride = Gradients * (Nodes - 1);  // vectors from one element to the next
  using Turn = TurnRule;
  static constexpr int turn_vectors = Turn::variables / Dim;
};
using PlanarCable = Kind<2, 2, 2, PlanarTurn<false>>;
using SpatialCable = Kind<3, 2, 2, CableTurn>;
using PlanarBeam = Kind<2, 2, 3, PlanarTurn<true>>;
using SpatialBeam = Kind<3, 3, 3, BeamTurn>;

}  // namespace clatter::ancf
