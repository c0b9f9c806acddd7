// Flexible bodies of a model that is being loaded: made by src/fem, with its cache, and shared by bodies that are
// alike.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/flexible.hpp"
#include "model/load.hpp"

namespace clatter::fem {
struct FlexibleModel;
}

namespace clatter::app {

// A flexible body as it was made.
struct MadeBody {
  std::string body;
  FlexibleSource source;
  std::shared_ptr<const fem::FlexibleModel> model;
  double wall = 0;   // seconds it took
  std::string like;  // the body it shares its reduction with, or empty
};

struct BodyMaking {
  bool progress = false;  // a bar on stderr while bodies are reduced
  std::function<void(const MadeBody&)> made;
};

void make_flexible_bodies(LoadOptions& options, const BodyMaking& making = {});

// "body `rod`: 2 583 degrees of freedom reduced to 12 elastic coordinates in 1.2 s" or "..., from the cache".
std::string made_text(const MadeBody& made);

}  // namespace clatter::app
