#include "app/body_making.hpp"

#include <fmt/format.h>

#include <memory>

#include "app/progress.hpp"
#include "base/text.hpp"
#include "fem/make.hpp"

namespace clatter::app {

study::BodyMaking making_shown(bool quiet) {
  study::BodyMaking making;
  if (quiet) return making;
  making.progress = [](const std::string& body) {
    auto bar = std::make_shared<StageBar>(fmt::format("body `{}`", body), false);
    return [bar](const std::string& stage, double fraction) { bar->update(stage, fraction); };
  };
  return making;
}

std::string made_text(const study::MadeBody& made) {
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
