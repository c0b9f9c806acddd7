// Models with flexible bodies from their texts, without the cache.
#pragma once

#include <string>

#include "fem/make.hpp"
#include "model/load.hpp"

namespace clatter::test {

inline Model flexible_model(const std::string& text) {
  LoadOptions options;
  options.make_flexible = [](const FlexibleSource& source, const std::string&) {
    fem::MakeOptions how;
    how.cache = "none";
    FlexibleMade out;
    out.reduced = fem::make_reduced_body(source, how);
    out.planar = out.reduced->planar;
    for (const Marker& m : out.reduced->markers) {
      FrameDef f;
      f.name = m.name;
      f.placement = {out.reduced->origin + m.X, Quat(m.R)};
      out.markers.push_back(f);
    }
    return out;
  };
  return load_model_text(text, "model.yaml", options);
}

}  // namespace clatter::test
