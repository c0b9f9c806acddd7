// BeamCouplings: which elements of two beams (or of one) the tangents of their contact tie together.
//
// A contact moves the nodal vectors of two elements, and wanders. A pattern that foresaw every place would be dense in
// both beams, and its factorisation cubic in their elements; this one holds the pairs of elements that have met, and
// grows when two meet for the first time. Two bands with a few couplings factorise in linear time. Where beams slide
// along each other the pairs of long ago would widen the band: beyond kMost pairs an element it starts anew from those
// that meet now.
#pragma once

#include <utility>
#include <vector>

#include "contact/beam_pair.hpp"
#include "solve/sparsity.hpp"

namespace clatter::contact {

class BeamCouplings {
 public:
  explicit BeamCouplings(const BeamPair& pair);

  // Elements that a contact ties together, numbered through both beams (BeamPair::element_number). False: all known.
  bool meet(const std::vector<int>& elements);
  bool crowded() const { return list_.size() > kMost * count_; }
  void forget();
  void add_pattern(PatternBuilder& pattern) const;

 private:
  static constexpr std::size_t kMost = 6;
  void columns(int element, std::vector<int>& out) const;

  const BeamPair& pair_;
  std::size_t count_;      // elements of both
  std::vector<char> met_;  // count_ x count_
  std::vector<std::pair<int, int>> list_;
};

}  // namespace clatter::contact
