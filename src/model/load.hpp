// Reads a model file. Every mistake the user can make is thrown as one InputError with up to twenty diagnostics.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace clatter {

struct FlexibleSource;  // model/flexible.hpp

// What a flexible body's description makes: the reduced body and its markers as frames of the body.
struct FlexibleMade {
  std::shared_ptr<const ReducedBody> reduced;
  bool planar = false;
  std::vector<FrameDef> markers;
};

struct LoadOptions {
  // Gives a file's text, or nothing when it cannot be read; reads from disk unless set. Includes come through here too.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
  // Parameters that replace the file's: {"length", "2*15 mm"}.
  std::vector<std::pair<std::string, std::string>> parameters;
  // Makes flexible bodies; without it they are read but have no reduced body, and their interfaces no true place.
  std::function<FlexibleMade(const FlexibleSource& source, const std::string& body)> make_flexible;
  std::size_t max_bytes = 64u << 20;    // of one file
  std::size_t max_nodes = 4'000'000;    // YAML nodes of one file, aliases written out
  std::size_t max_objects = 1'000'000;  // bodies, joints, forces, frames and instances together
  std::size_t max_files = 100;
};

Model load_model(const std::string& path, const LoadOptions& options = {});
// `name` stands for the file in messages; includes are relative to it.
Model load_model_text(const std::string& text, const std::string& name = "model", const LoadOptions& options = {});

}  // namespace clatter
