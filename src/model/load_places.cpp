// Places: a body, a frame of a body, a frame of the ground, or one of these with an offset.
#include <algorithm>

#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

bool Loader::planar(int body_number) const {
  if (body_number < 0) return false;
  return is_planar(model_.bodies[static_cast<std::size_t>(body_number)].kind);
}

std::optional<Attachment> Loader::named_place(const YamlNode& node, const Scope& scope) {
  const auto text = reader_.text(node, "a place (body, body.frame or ground)");
  if (!text) return {};
  Attachment a;
  a.source = mistakes_.source(node);
  if (*text == "ground") {
    a.label = *text;
    a.placement = scope.placement;
    return a;
  }
  if (text->starts_with("ground.")) {
    const std::string frame = text->substr(7);
    for (const Scope* s = &scope; s; s = s->outer) {
      const auto it = ground_frame_index_.find(s->prefix + frame);
      if (it == ground_frame_index_.end()) continue;
      a.label = "ground." + s->prefix + frame;
      a.placement = model_.ground_frames[static_cast<std::size_t>(it->second)].placement;
      return a;
    }
  } else {
    const std::string full = Reader::full_name(*text, scope);
    if (const auto it = body_index_.find(full); it != body_index_.end()) {
      a.label = full;
      a.body = it->second;
      return a;
    }
    const auto dot = full.rfind('.');
    const auto it = dot == std::string::npos ? body_index_.end() : body_index_.find(full.substr(0, dot));
    if (it != body_index_.end()) {
      for (const auto& f : model_.bodies[static_cast<std::size_t>(it->second)].frames) {
        if (f.name != full.substr(dot + 1)) continue;
        a.label = full;
        a.body = it->second;
        a.placement = f.placement;
        if (deforms(model_.bodies[static_cast<std::size_t>(it->second)].kind)) a.marker = f.name;
        return a;
      }
      // A beam that is wrong itself has no places yet: that mistake is told, this would be its echo.
      if (is_beam(model_.bodies[static_cast<std::size_t>(it->second)].kind) && mistakes_.count() > 0 &&
          model_.bodies[static_cast<std::size_t>(it->second)].frames.empty())
        return {};
      std::vector<std::string> frames;
      for (const auto& f : model_.bodies[static_cast<std::size_t>(it->second)].frames) frames.push_back(f.name);
      std::string hint = did_you_mean(full.substr(dot + 1), frames);
      if (hint.empty() && !frames.empty()) {
        hint = "its frames:";
        for (std::size_t i = 0; i < std::min<std::size_t>(frames.size(), 12); ++i) hint += " " + frames[i];
      }
      if (frames.empty()) hint = "it has no frames";
      mistakes_.add(node, fmt::format("body `{}` has no frame `{}`", full.substr(0, dot), full.substr(dot + 1)), hint);
      return {};
    }
  }
  std::vector<std::string> known{"ground"};
  for (const auto& b : model_.bodies) {
    const bool local = !scope.prefix.empty() && b.name.starts_with(scope.prefix);
    const std::string name = local ? b.name.substr(scope.prefix.size()) : b.name;
    known.push_back(name);
    if (known.size() < 20000)
      for (const auto& f : b.frames) known.push_back(name + "." + f.name);
  }
  for (const auto& f : model_.ground_frames) known.push_back("ground." + f.name);
  std::string hint = did_you_mean(*text, known);
  if (hint.empty()) hint = did_you_mean(text->substr(0, text->rfind('.')), known);
  mistakes_.add(node, fmt::format("there is no body or frame `{}`", *text), hint);
  return {};
}

std::optional<Attachment> Loader::place(const YamlNode& node, const Scope& scope) {
  if (node.kind != YamlNode::Kind::map) return named_place(node, scope);
  const Object o(reader_, node, object_spec("place"), "the place", scope);
  if (!o.ok() || !o.has("on")) return {};
  const Placement offset = placement(o);
  auto a = named_place(*o.find("on"), scope);
  if (a) a->placement = a->placement * offset;
  return a;
}

std::optional<std::pair<Attachment, Attachment>> Loader::two_places(const Object& o) {
  if (!o.require("between", "the two places: between: [ground.pivot, rod.top]")) return {};
  const YamlNode& n = *o.find("between");
  if (n.kind != YamlNode::Kind::list || n.items.size() != 2) {
    mistakes_.add(n, "`between` takes a list of two places");
    return {};
  }
  auto a = place(*n.items[0], o.scope());
  auto b = place(*n.items[1], o.scope());
  if (!a || !b) return {};
  // Two points of a body that deforms move apart.
  const bool apart =
      a->body >= 0 && deforms(model_.bodies[static_cast<std::size_t>(a->body)].kind) && a->marker != b->marker;
  if (a->body == b->body && !apart) {
    const std::string name = a->body < 0 ? "ground" : "`" + model_.bodies[static_cast<std::size_t>(a->body)].name + "`";
    mistakes_.add(n, fmt::format("{} ties {} to itself", o.what(), name));
    return {};
  }
  return std::make_pair(std::move(*a), std::move(*b));
}

std::optional<Placement> Loader::start_pose(const Attachment& a) const {
  if (a.body < 0) return a.placement;
  const auto& pose = model_.bodies[static_cast<std::size_t>(a.body)].pose;
  if (!pose) return {};
  return *pose * a.placement;
}

}  // namespace clatter::loading
