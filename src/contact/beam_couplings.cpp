#include "contact/beam_couplings.hpp"

#include <algorithm>

namespace clatter::contact {

BeamCouplings::BeamCouplings(const BeamPair& pair)
    : pair_(pair),
      count_(static_cast<std::size_t>(pair.beam[0].elements() + (pair.self ? 0 : pair.beam[1].elements()))),
      met_(count_ * count_, 0) {}

bool BeamCouplings::meet(const std::vector<int>& elements) {
  bool grown = false;
  for (const int a : elements)
    for (const int b : elements) {
      if (a >= b) continue;
      char& met = met_[static_cast<std::size_t>(a) * count_ + static_cast<std::size_t>(b)];
      if (met) continue;
      met = 1;
      list_.emplace_back(a, b);
      grown = true;
    }
  return grown;
}

void BeamCouplings::forget() {
  list_.clear();
  std::fill(met_.begin(), met_.end(), 0);
}

void BeamCouplings::columns(int element, std::vector<int>& out) const {
  const int first = pair_.beam[0].elements(), b = element < first ? 0 : 1;
  const BeamOutline& beam = pair_.beam[b];
  const int dim = beam.body->dim, from = beam.v + (b == 0 ? element : element - first) * beam.body->stride * dim;
  for (int i = 0; i < beam.body->element_vectors * dim; ++i) out.push_back(from + i);
}

void BeamCouplings::add_pattern(PatternBuilder& pattern) const {
  std::vector<int> both;
  for (const auto& [a, b] : list_) {
    both.clear();
    columns(a, both);
    columns(b, both);
    pattern.add_block(both, both);
  }
}

}  // namespace clatter::contact
