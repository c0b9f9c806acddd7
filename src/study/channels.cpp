#include "study/channels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "model/beam.hpp"
#include "record/export.hpp"

namespace clatter::study {

namespace {

// Length of the longest name among `things` that `quantity` starts with, followed by a dot; 0 for none.
template <class Things>
std::size_t owner_length(const Things& things, std::string_view quantity) {
  std::size_t longest = 0;
  for (const auto& thing : things) {
    const std::size_t n = thing.name.size();
    if (n > longest && quantity.size() > n + 1 && quantity.starts_with(thing.name) && quantity[n] == '.') longest = n;
  }
  return longest;
}

}  // namespace

std::string channel_of_quantity(const Model& model, std::string_view quantity) {
  const std::size_t body = owner_length(model.bodies, quantity);
  const std::size_t joint = owner_length(model.joints, quantity);
  std::size_t force = std::max(owner_length(model.force_elements, quantity), owner_length(model.loads, quantity));
  for (const Body& b : model.bodies)
    if (b.beam) force = std::max(force, owner_length(b.beam->pressures, quantity));
  const std::size_t length = std::max({body, joint, force});
  const auto placed = [&](std::string_view group, std::size_t split) {
    return fmt::format("{}/{}/{}", group, quantity.substr(0, split), quantity.substr(split + 1));
  };
  if (length == 0) {
    const std::size_t dot = quantity.find('.');
    if (dot == quantity.npos) return fmt::format("system/{}", quantity);
    return fmt::format("{}/{}", quantity.substr(0, dot), quantity.substr(dot + 1));
  }
  if (length == joint) return placed("joints", joint);
  if (length == force) return placed("forces", force);
  const std::size_t last = quantity.rfind('.');
  if (quantity.substr(body + 1).starts_with("rate.")) return placed("bodies", body);
  return last == body ? placed("bodies", body) : placed("frames", last);
}

std::string quantity_of_channel(std::string_view channel) {
  for (const std::string_view group : {"bodies/", "frames/", "joints/", "forces/"}) {
    if (channel.starts_with(group)) {
      channel.remove_prefix(group.size());
      break;
    }
  }
  std::string name(channel);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::vector<std::string> matching_channels(const record::Reader& reader, const std::vector<std::string>& globs) {
  // Fields over a body's skin have thousands of components: only by name.
  std::vector<bool> chosen(reader.channels().size(), false);
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = globs.empty() && !reader.channels()[i].single;
  for (const std::string& glob : globs) {
    bool found = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::string& name = reader.channels()[i].name;
      if (!record::matches_glob(glob, name) && !record::matches_glob(glob, quantity_of_channel(name))) continue;
      chosen[i] = found = true;
    }
    if (found) continue;
    std::vector<std::string> known;
    for (const record::Channel& c : reader.channels()) known.push_back(quantity_of_channel(c.name));
    throw InputError(fmt::format("{}: no channel matches `{}`", reader.path(), glob), did_you_mean(glob, known));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) names.push_back(reader.channels()[i].name);
  }
  return names;
}

}  // namespace clatter::study
