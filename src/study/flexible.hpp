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

namespace clatter::study {

// A flexible body as it was made.
struct MadeBody {
  std::string body;
  FlexibleSource source;
  std::shared_ptr<const fem::FlexibleModel> model;
  double wall = 0;   // seconds it took
  std::string like;  // the body it shares its reduction with, or empty
};

// Who hears of bodies while they are made.
struct BodyMaking {
  using Stages = std::function<void(const std::string& stage, double fraction)>;
  std::function<Stages(const std::string& body)> progress;  // what it returns is let go when the body is made
  std::function<void(const MadeBody&)> made;
  // Where nobody listens, on the standard error output.
  std::function<void(const std::string& body, const std::string& text)> warn;
};

void make_flexible_bodies(LoadOptions& options, const BodyMaking& making = {});

}  // namespace clatter::study
