#include "app/flexible.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "fem/make.hpp"

namespace clatter::app {

void make_flexible_bodies(LoadOptions& options) {
  auto made = std::make_shared<std::map<std::string, std::shared_ptr<const fem::ReducedBody>>>();
  options.make_flexible = [made](const FlexibleSource& source, const std::string& body) {
    std::shared_ptr<const fem::ReducedBody>& reduced = (*made)[fem::canonical_text(source)];
    if (!reduced) {
      fem::MakeOptions how;
      const bool terminal = isatty(fileno(stderr)) != 0;
      bool told = false;
      if (terminal)
        how.progress = [&](const std::string& stage, double fraction) {
          fmt::print(stderr, "\rclatter: body `{}`: {} {:.0f} %\033[K", body, stage, 100 * fraction);
          told = true;
        };
      const fem::FlexibleModel model = fem::make_flexible(source, how);
      if (told) fmt::print(stderr, "\r\033[K");
      for (const std::string& w : model.warnings) fmt::print(stderr, "clatter: body `{}`: {}\n", body, w);
      reduced = model.body;
    }
    FlexibleMade out;
    out.reduced = reduced;
    out.planar = reduced->planar;
    for (const fem::Marker& m : reduced->markers) {
      FrameDef f;
      f.name = m.name;
      f.placement = {reduced->origin + m.X, Quat(m.R)};
      out.markers.push_back(std::move(f));
    }
    return out;
  };
}

}  // namespace clatter::app
