#include "app/flexible.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "app/progress.hpp"
#include "app/text.hpp"
#include "fem/make.hpp"

namespace clatter::app {

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
      StageBar bar(fmt::format("body `{}`", body), !making.progress);
      fem::MakeOptions how;
      how.progress = [&](const std::string& stage, double fraction) { bar.update(stage, fraction); };
      made.model = std::make_shared<const fem::FlexibleModel>(fem::make_flexible(source, how));
      made.wall = bar.wall();
      bar.clear();
      for (const std::string& w : made.model->warnings) fmt::print(stderr, "warning: body `{}`: {}\n", body, w);
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

std::string made_text(const MadeBody& made) {
  const fem::ReductionReport& r = made.model->report;
  if (r.freedoms == 0)
    return fmt::format("body `{}`: {} of `{}`", made.body,
                       counted(static_cast<std::uint64_t>(made.model->body->n), "elastic coordinate"),
                       made.source.mesh.file);
  std::string text =
      fmt::format("body `{}`: {} reduced to {}", made.body,
                  counted(static_cast<std::uint64_t>(r.freedoms), "degree of freedom", "degrees of freedom"),
                  counted(static_cast<std::uint64_t>(made.model->body->n), "elastic coordinate"));
  if (!made.like.empty()) return text + fmt::format(", as for `{}`", made.like);
  return text + (made.model->from_cache ? std::string(", from the cache") : " in " + duration(made.wall));
}

}  // namespace clatter::app
