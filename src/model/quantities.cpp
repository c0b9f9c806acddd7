#include "model/quantities.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace clatter {

namespace {

struct Word {
  std::string_view name;
  const char* unit;  // null: not told by the word
};
constexpr Word words[] = {{"position", "m"},
                          {"displacement", "m"},
                          {"length", "m"},
                          {"distance", "m"},
                          {"center_of_mass", "m"},
                          {"velocity", "m/s"},
                          {"acceleration", "m/s^2"},
                          {"angle", "rad"},
                          {"orientation", nullptr},
                          {"angular_velocity", "rad/s"},
                          {"angular_acceleration", "rad/s^2"},
                          {"rate", nullptr},
                          {"force", nullptr},
                          {"torque", "N*m"},
                          {"energy", "J"},
                          {"power", "W"},
                          {"momentum", "kg*m/s"},
                          {"angular_momentum", "kg*m^2/s"},
                          {"state", nullptr},
                          {"frequency", "Hz"},
                          {"eta", nullptr},
                          {"von_mises", "Pa"},
                          {"pressure", "Pa"}};
constexpr std::array<std::string_view, 10> components = {"x",  "y",  "z",    "w",      "rx",
                                                         "ry", "rz", "norm", "angle1", "angle2"};

const Word* find(std::string_view name) {
  for (const auto& w : words)
    if (w.name == name) return &w;
  return nullptr;
}

}  // namespace

std::optional<Dimension> quantity_dimension(std::string_view name) {
  if (name == "t") return dimension_of("s");
  if (name.starts_with("energy.")) return dimension_of("J");
  // "joint.rate.angle" is a rate: a rate before the last word decides.
  if (name.find(".rate") != std::string_view::npos) return {};
  std::string_view last = name.substr(name.rfind('.') + 1);
  const bool number = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
  const bool component = number || std::find(components.begin(), components.end(), last) != components.end();
  if (component) {
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    name = name.substr(0, dot);
    last = name.substr(name.rfind('.') + 1);
  }
  const Word* w = find(last);
  if (!w || !w->unit) return {};
  return dimension_of(w->unit);
}

bool is_quantity_word(std::string_view word) { return find(word) != nullptr; }

const std::vector<std::string>& global_quantities() {
  static const std::vector<std::string> names{"energy", "system"};
  return names;
}

UnknownQuantity unknown_quantity(const std::string& name, const std::vector<std::string>& known) {
  UnknownQuantity u{"unknown quantity `" + name + "`", did_you_mean(name, known)};
  // A long name differs by little from many: keep to those that share the longest beginning, part by part.
  for (auto dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    const std::string head = name.substr(0, dot + 1);
    std::vector<std::string> tails;
    for (const auto& k : known)
      if (k.starts_with(head)) tails.push_back(k.substr(head.size()));
    if (tails.empty()) continue;
    const std::string tail = nearest_word(name.substr(dot + 1), tails);
    if (!tail.empty()) {
      u.hint = "did you mean `" + head + tail + "`?";
    } else {
      std::sort(tails.begin(), tails.end());
      tails.erase(std::unique(tails.begin(), tails.end()), tails.end());
      u.hint = "`" + name.substr(0, dot) + "` has:";
      for (std::size_t i = 0; i < std::min<std::size_t>(tails.size(), 12); ++i) u.hint += " " + tails[i];
      if (tails.size() > 12) u.hint += " ...";
    }
    return u;
  }
  return u;
}

bool glob_match(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == name[n] && pattern[p] != '*'))) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++, mark = n;
    } else if (star != std::string_view::npos) {
      p = star + 1, n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace clatter
