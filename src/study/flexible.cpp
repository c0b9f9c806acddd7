#include "study/flexible.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>

#include "fem/make.hpp"

namespace clatter::study {

namespace {

void warn(const BodyMaking& making, const std::string& body, const std::string& text) {
  if (making.warn)
    making.warn(body, text);
  else
    fmt::print(stderr, "warning: body `{}`: {}\n", body, text);
}

}  // namespace

void make_flexible_bodies(LoadOptions& options, const BodyMaking& making) {
  struct Known {
    std::shared_ptr<const fem::FlexibleModel> model;
    std::string body;
  };
  auto known = std::make_shared<std::map<std::string, Known>>();
  options.make_flexible = [known, making](const FlexibleSource& source, const std::string& body) {
    Known& k = (*known)[fem::canonical_text(source)];
    MadeBody made{body, source, k.model, 0, k.body};
    if (!k.model) {
      const auto began = std::chrono::steady_clock::now();
      const BodyMaking::Stages stages = making.progress ? making.progress(body) : nullptr;
      fem::MakeOptions how;
      how.progress = [&](const std::string& stage, double fraction) {
        if (stages) stages(stage, fraction);
      };
      made.model = std::make_shared<const fem::FlexibleModel>(fem::make_flexible(source, how));
      made.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      for (const std::string& w : made.model->warnings) warn(making, body, w);
      k = {made.model, body};
    }
    if (making.made) making.made(made);
    const ReducedBody& reduced = *made.model->body;
    FlexibleMade out;
    out.reduced = made.model->body;
    out.planar = reduced.planar;
    for (const Marker& m : reduced.markers) {
      FrameDef f;
      f.name = m.name;
      f.placement = {reduced.origin + m.X, Quat(m.R)};
      out.markers.push_back(std::move(f));
    }
    return out;
  };
}

}  // namespace clatter::study
