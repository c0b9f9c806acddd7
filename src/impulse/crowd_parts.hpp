// How the work of a crowd's step is dealt out to threads: always the same parts in the same order of results, however
// many threads there are.
//
//   chunks   equal ranges of a list, with a place of their own for what comes out of each
//   parts    rows of a CrowdProblem that share no body with those of another part (its blocks), then the rows between
//            blocks, then those with sides in jointed trees
#pragma once

#include <algorithm>

#include "base/worker_pool.hpp"
#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

// Shorter lists are one chunk.
constexpr int kChunks = 16, kChunked = 2048;

inline int chunks_of(std::size_t n) { return n < static_cast<std::size_t>(kChunked) ? 1 : kChunks; }
inline std::size_t chunk_begin(std::size_t n, int chunks, int k) {
  return n * static_cast<std::size_t>(k) / static_cast<std::size_t>(chunks);
}

// visit(from, to, k): a range of n items for each chunk k.
template <class Visit>
void visit_chunks(std::size_t n, WorkerPool& pool, const Visit& visit) {
  const int chunks = chunks_of(n);
  pool.run(chunks, [&](int k) { visit(chunk_begin(n, chunks, k), chunk_begin(n, chunks, k + 1), k); });
}

constexpr int kParts = CrowdProblem::grounds + 2;

// visit(from, to, part): rows; the parts 0 ... kParts - 1, or the other way round.
template <class Visit>
void visit_parts(const CrowdProblem& problem, bool backward, WorkerPool& pool, const Visit& visit) {
  const int blocks = std::max(0, static_cast<int>(problem.blocks.size()) - 1);
  const int apart = blocks > 0 ? problem.blocks.back() : 0;
  const auto in_blocks = [&] {
    if (blocks == 0) return;
    pool.run(blocks, [&](int k) {
      visit(problem.blocks[static_cast<std::size_t>(k)], problem.blocks[static_cast<std::size_t>(k) + 1], k);
    });
  };
  const auto between = [&] { visit(apart, problem.free_rows, CrowdProblem::grounds); };
  const auto coupled = [&] {
    visit(problem.free_rows, static_cast<int>(problem.rows.size()), CrowdProblem::grounds + 1);
  };
  if (backward) {
    coupled();
    between();
    in_blocks();
  } else {
    in_blocks();
    between();
    coupled();
  }
}

}  // namespace clatter::contact
