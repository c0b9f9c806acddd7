// Rows of G that depend on the others, by the pivots of G diag(M)^-1 G^T. Newton iterations in index-2 form leave them
// out: away from the tangent's state their residual does not lie in the range of G there, and a nearly singular matrix
// would blow it up.
#pragma once

#include <vector>

#include "integrate/archive.hpp"
#include "integrate/dynamics.hpp"

namespace clatter {

class RedundantRows {
 public:
  explicit RedundantRows(const Sizes& n);
  void start() { look_ = !found_.empty(); }
  // Rows are looked for only as long as there were some at the last look.
  bool wanted() const { return look_; }
  // One entry a row, not zero where it is redundant; empty when there is none.
  const std::vector<char>& find(const Tangents& tangents);
  void exchange(Archive& archive);

 private:
  Mat matrix_;
  Vec scale_, column_;
  std::vector<char> found_;
  const std::vector<char> none_;
  bool look_ = false;
};

}  // namespace clatter
