// A contact problem without discs written as a plain LCP (P-29: n_N + 2 n_T unknowns for planar friction).
//
// 1. Bilateral rows (y = 0, r free) leave by pivoting: the largest entry a_ij of their block is exchanged,
//      r_j = -(sum_k a_ik r_k + b_i) / a_ij,
//    until the block is empty or what is left of it vanishes. Left-over rows that vanish altogether are dependent:
//    their r is set to zero, and a load on them is a contradiction. Left-over rows coupled to the rest keep a free
//    unknown, split in two nonnegative ones, r = x+ - x-, with rows y >= 0 and -y >= 0.
// 2. ray:               x = r,                        w = y
//    lower bound only:  x = r - lo + mu_minus r_N,    w = y
//    upper bound only:  x = hi + mu_plus r_N - r,     w = -y
//    both:              x = r - lo + mu_minus r_N,    w = y + z   (= y+),   z = y- >= 0,
//                       w' = hi - lo + (mu_minus + mu_plus) r_N - x,   w' perp z
//
// y+ and y- are not unique when the interval is a point (trap 8): only r is taken back, and y computed from it.
#pragma once

#include <vector>

#include "solve/complementarity.hpp"

namespace clatter {

class LcpReduction {
 public:
  enum class Outcome { reduced, inconsistent };

  // `p` scaled so that entries of A and b are of order one (cone_map.hpp), without discs.
  Outcome reduce(const ContactProblem& p);

  const Mat& A() const { return lcp_A_; }
  const Vec& b() const { return lcp_b_; }

  void expand(const Vec& x, Vec& r) const;  // r of the contact problem from x of the LCP

 private:
  enum class Form : std::uint8_t { lower, upper, both, split };
  struct Row {
    Form form;
    int row;      // row of A
    int unknown;  // column of A: the same, but for `split`
    int x;        // first unknown of the LCP; `both` has the second after all first ones
    int second;   // for `both` and `split`
    double mu_minus, mu_plus, lo, hi;
    int normal;  // index into rows_, -1 none
  };
  struct Exchange {
    int row, column;
  };

  Outcome eliminate(const ContactProblem& p);
  void add_rows(const ContactProblem& p);

  int n_ = 0, m_ = 0;
  Mat K_;  // [A | b] after the exchanges
  std::vector<char> line_row_, line_column_;
  std::vector<Exchange> exchanges_;
  std::vector<int> row_at_;  // row of the contact problem -> index into rows_
  std::vector<Row> rows_;
  Mat S_;  // r = S x + s on the rows left
  Vec s_, column_;
  Mat lcp_A_;
  Vec lcp_b_;
};

}  // namespace clatter
