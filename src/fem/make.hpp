// From what the user said about a flexible body to the value the engine works with; with a cache on disk.
#pragma once

#include <memory>
#include <string>

#include "fem/recovery.hpp"
#include "fem/reduce.hpp"
#include "model/flexible.hpp"
#include "model/reduced_body.hpp"

namespace clatter::fem {

struct MakeOptions {
  Progress progress;
  // Folder of the cache: empty for the user's own ($XDG_CACHE_HOME/clatter or ~/.cache/clatter), "none" for no cache.
  std::string cache;
};

struct FlexibleModel {
  std::shared_ptr<const ReducedBody> body;
  ReductionReport report;
  std::vector<std::string> warnings;
  Mat shapes;  // freedoms x n; empty for the closed form of E-16
  bool from_cache = false;
};

// InputError for what the user can mend, SolveError for what cannot be computed.
FlexibleModel make_flexible(const FlexibleSource& source, const MakeOptions& options = {});
std::shared_ptr<const ReducedBody> make_reduced_body(const FlexibleSource& source, const MakeOptions& options = {});
std::shared_ptr<const Recovery> make_recovery(const FlexibleSource& source, const MakeOptions& options = {});

// Parts.
Mesh make_mesh(const MeshDescription& mesh);
struct FlexibleStructure {
  std::shared_ptr<const Structure> structure;
  std::vector<Interface> interfaces;
};
FlexibleStructure make_structure(const FlexibleSource& source, const Progress& progress = {});
ReducedBody planar_block(double length, double height, const Properties& properties);
// Everything that decides the result, as text: the cache's key is its hash (with the bytes of the files).
std::string canonical_text(const FlexibleSource& source);

}  // namespace clatter::fem
