// Input files of Abaqus and CalculiX: keyword lines (*NODE, ...) followed by data lines; ** is a comment, names are
// compared without case. An element's nodes may continue on further lines as long as there are too few.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/error.hpp"
#include "fem/read.hpp"

namespace clatter::fem {
namespace {

std::string upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}
std::string trim(const std::string& s) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  std::size_t a = 0, b = s.size();
  while (a < b && space(s[a])) ++a;
  while (b > a && space(s[b - 1])) --b;
  return s.substr(a, b - a);
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out;
  std::size_t a = 0;
  while (a <= line.size()) {
    const std::size_t b = std::min(line.find(',', a), line.size());
    out.push_back(trim(line.substr(a, b - a)));
    a = b + 1;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

struct Keyword {
  std::string name;
  std::map<std::string, std::string> options;  // upper case; value as written
};

struct TypeRow {
  const char* name;
  ElementType type;
};

constexpr TypeRow known_types[] = {
    {"C3D4", ElementType::tet4},     {"C3D10", ElementType::tet10},  {"C3D10M", ElementType::tet10},
    {"C3D8", ElementType::hex8},     {"C3D8I", ElementType::hex8},   {"C3D8R", ElementType::hex8},
    {"C3D20", ElementType::hex20},   {"C3D20R", ElementType::hex20}, {"C3D6", ElementType::wedge6},
    {"C3D15", ElementType::wedge15}, {"CPS3", ElementType::tri3},    {"CPE3", ElementType::tri3},
    {"CPS4", ElementType::quad4},    {"CPE4", ElementType::quad4},   {"CPS4R", ElementType::quad4},
    {"CPE4R", ElementType::quad4},   {"CPS4I", ElementType::quad4},  {"CPE4I", ElementType::quad4},
    {"CPS6", ElementType::tri6},     {"CPE6", ElementType::tri6},    {"CPS8", ElementType::quad8},
    {"CPE8", ElementType::quad8},    {"CPS8R", ElementType::quad8},  {"CPE8R", ElementType::quad8},
    {"B31", ElementType::line2},     {"B33", ElementType::line2}};

class AbaqusReader {
 public:
  AbaqusReader(const std::string& text, const std::string& file, double unit) : text_(text), file_(file), unit_(unit) {}

  Mesh run() {
    std::size_t a = 0;
    while (a < text_.size()) {
      const std::size_t b = std::min(text_.find('\n', a), text_.size());
      ++line_;
      data_line(trim(text_.substr(a, b - a)));
      a = b + 1;
    }
    end_of_element();
    return finish();
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    throw InputError({{file_, text_}}, Source{file_, line_, 1}, message, hint);
  }
  int whole(const std::string& s) const {
    int v = 0;
    const auto [p, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (ec != std::errc() || p != s.data() + s.size()) fail("expected a whole number, found `" + s + "`");
    return v;
  }
  double real(std::string s) const {
    for (char& c : s)
      if (c == 'D' || c == 'd') c = 'e';  // Fortran's exponents
    double v = 0;
    const char* first = s.data() + (s.starts_with('+') ? 1 : 0);
    const auto [p, ec] = std::from_chars(first, s.data() + s.size(), v);
    if (ec != std::errc() || p != s.data() + s.size() || !std::isfinite(v))
      fail("expected a number, found `" + s + "`");
    return v;
  }
  static bool is_number(const std::string& s) {
    return !s.empty() && (std::isdigit(static_cast<unsigned char>(s[0])) != 0 || s[0] == '-' || s[0] == '+');
  }
  std::string option(const char* name) const {
    const auto it = keyword_.options.find(name);
    return it == keyword_.options.end() ? std::string() : it->second;
  }

  void data_line(const std::string& line) {
    if (line.empty() || line.starts_with("**")) return;
    if (line[0] == '*') {
      end_of_element();
      begin(line);
      return;
    }
    if (keyword_.name == "NODE") return node(fields(line));
    if (keyword_.name == "ELEMENT") return element(fields(line));
    if (keyword_.name == "NSET") return set(node_sets_, option("NSET"), line);
    if (keyword_.name == "ELSET") return set(element_sets_, option("ELSET"), line);
    if (keyword_.name == "SURFACE") return surface(fields(line));
  }

  void begin(const std::string& line) {
    const std::vector<std::string> f = fields(line.substr(1));
    keyword_ = {};
    if (f.empty()) fail("a keyword is missing after `*`");
    keyword_.name = upper(f[0]);
    for (std::size_t i = 1; i < f.size(); ++i) {
      const std::size_t eq = f[i].find('=');
      keyword_.options[upper(trim(f[i].substr(0, eq)))] = eq == std::string::npos ? "" : trim(f[i].substr(eq + 1));
    }
    if (keyword_.name == "ELEMENT") {
      const std::string type = upper(option("TYPE"));
      element_type_ = nullptr;
      std::vector<std::string> names;
      for (const auto& t : known_types) {
        if (type == t.name) element_type_ = &t.type;
        names.emplace_back(t.name);
      }
      if (element_type_ == nullptr) {
        const std::string near = did_you_mean(type, names);
        fail("elements of type `" + type + "` are not known",
             near.empty() ? "known: solids C3D4, C3D10, C3D8, C3D20, C3D6, C3D15, plane CPS.., CPE.., beams B31, B33"
                          : near);
      }
    }
    if (keyword_.name == "NSET" && option("NSET").empty()) fail("*NSET needs NSET=name");
    if (keyword_.name == "ELSET" && option("ELSET").empty()) fail("*ELSET needs ELSET=name");
    if (keyword_.name == "SURFACE" && option("NAME").empty()) fail("*SURFACE needs NAME=name");
    if (keyword_.name == "INCLUDE") fail("*INCLUDE is not followed", "put the nodes and elements into one file");
    if (keyword_.name == "INSTANCE" && ++instances_ > 1) fail("only one part instance is read");
  }

  void node(const std::vector<std::string>& f) {
    if (f.size() < 3) fail("a node needs a number and coordinates");
    const int label = whole(f[0]);
    Vec3 x = Vec3::Zero();
    for (std::size_t k = 0; k < 3 && k + 1 < f.size(); ++k) x[static_cast<int>(k)] = unit_ * real(f[k + 1]);
    if (!node_of_.try_emplace(label, static_cast<int>(mesh_.nodes.size())).second)
      fail(fmt::format("node {} is there twice", label));
    if (const std::string name = option("NSET"); !name.empty()) node_sets_[name].push_back(label);
    mesh_.nodes.push_back(x);
    mesh_.node_labels.push_back(label);
  }

  void element(const std::vector<std::string>& f) {
    const auto needed = static_cast<std::size_t>(info(*element_type_).nodes) + 1;
    for (const std::string& s : f) pending_.push_back(whole(s));
    if (pending_.size() > needed)
      fail(fmt::format("element {} has {} nodes, a {} needs {}", pending_[0], pending_.size() - 1, option("TYPE"),
                       needed - 1));
    if (pending_.size() == needed) {
      if (const std::string name = option("ELSET"); !name.empty()) element_sets_[name].push_back(pending_[0]);
      elements_.push_back({*element_type_, pending_, line_});
      pending_.clear();
    }
  }
  void end_of_element() {
    if (!pending_.empty())
      fail(fmt::format("element {} has too few nodes ({} of {})", pending_[0], pending_.size() - 1,
                       info(*element_type_).nodes));
  }

  void set(std::map<std::string, std::vector<int>>& sets, const std::string& name, const std::string& line) {
    const std::vector<std::string> f = fields(line);
    auto& out = sets[name];
    if (keyword_.options.contains("GENERATE")) {
      if (f.size() < 2) fail("GENERATE needs first, last and a step");
      const int first = whole(f[0]), last = whole(f[1]), step = f.size() > 2 ? whole(f[2]) : 1;
      if (step < 1) fail("the step must be positive");
      for (int i = first; i <= last; i += step) out.push_back(i);
      return;
    }
    for (const std::string& s : f) {
      if (is_number(s)) {
        out.push_back(whole(s));
      } else if (const auto it = find(sets, s); it != sets.end()) {
        const std::vector<int> other = it->second;
        out.insert(out.end(), other.begin(), other.end());
      } else {
        fail("there is no set `" + s + "` before this line");
      }
    }
  }

  static std::map<std::string, std::vector<int>>::iterator find(std::map<std::string, std::vector<int>>& sets,
                                                                const std::string& name) {
    for (auto it = sets.begin(); it != sets.end(); ++it)
      if (upper(it->first) == upper(name)) return it;
    return sets.end();
  }

  void surface(const std::vector<std::string>& f) {
    const std::string name = option("NAME"), type = upper(option("TYPE"));
    if (type == "NODE") {
      if (is_number(f[0])) {
        node_sets_[name].push_back(whole(f[0]));
      } else {
        const auto it = find(node_sets_, f[0]);
        if (it == node_sets_.end()) fail("there is no node set `" + f[0] + "`");
        const std::vector<int> other = it->second;
        auto& out = node_sets_[name];
        out.insert(out.end(), other.begin(), other.end());
      }
      return;
    }
    if (f.size() < 2 || f[1].size() < 2 || (f[1][0] != 'S' && f[1][0] != 's'))
      fail("expected an element or element set and a face S1 ... S6");
    Side s{line_, {}, whole(f[1].substr(1)) - 1};
    if (is_number(f[0])) {
      s.elements = {whole(f[0])};
    } else {
      const auto it = find(element_sets_, f[0]);
      if (it == element_sets_.end()) fail("there is no element set `" + f[0] + "`");
      s.elements = it->second;
    }
    surfaces_[name].push_back(std::move(s));
  }

  Mesh finish() {
    if (mesh_.nodes.empty()) throw InputError(Source{file_, line_, 0}, "the file has no *NODE");
    if (elements_.empty()) throw InputError(Source{file_, line_, 0}, "the file has no *ELEMENT");
    std::map<ElementType, ElementBlock> blocks;
    std::map<ElementType, std::vector<int>> order;
    for (const auto& e : elements_) {
      ElementBlock& b = blocks[e.type];
      b.type = e.type;
      line_ = e.line;
      for (std::size_t k = 1; k < e.numbers.size(); ++k) {
        const auto it = node_of_.find(e.numbers[k]);
        if (it == node_of_.end())
          fail(fmt::format("element {} names node {}, which does not exist", e.numbers[0], e.numbers[k]));
        b.connectivity.push_back(it->second);
      }
      b.labels.push_back(e.numbers[0]);
    }
    std::unordered_map<int, int> element_of;
    int index = 0;
    for (auto& [type, b] : blocks) {
      for (int label : b.labels)
        if (!element_of.try_emplace(label, index++).second)
          throw InputError(Source{file_, 0, 0}, fmt::format("element {} is there twice", label));
      mesh_.blocks.push_back(std::move(b));
    }
    const auto numbers = [&](const std::vector<int>& labels, const auto& map, const std::string& name,
                             const char* what) {
      std::vector<int> out;
      for (int label : labels) {
        const auto it = map.find(label);
        if (it == map.end())
          throw InputError(Source{file_, 0, 0},
                           fmt::format("set `{}` names {} {}, which does not exist", name, what, label));
        out.push_back(it->second);
      }
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      return out;
    };
    for (const auto& [name, labels] : node_sets_) mesh_.node_sets[name] = numbers(labels, node_of_, name, "node");
    for (const auto& [name, labels] : element_sets_)
      mesh_.element_sets[name] = numbers(labels, element_of, name, "element");
    for (const auto& [name, sides] : surfaces_)
      for (const Side& s : sides)
        for (int e : numbers(s.elements, element_of, name, "element")) {
          if (s.side < 0 || s.side >= static_cast<int>(info(mesh_.element(e).type).faces.size())) {
            line_ = s.line;
            fail(fmt::format("element {} has no face S{}", mesh_.element_label(e), s.side + 1));
          }
          mesh_.surfaces[name].push_back({e, s.side});
        }
    mesh_.file = file_;
    remove_unused_nodes(mesh_);
    return std::move(mesh_);
  }

  struct RawElement {
    ElementType type;
    std::vector<int> numbers;
    int line;
  };
  struct Side {
    int line;
    std::vector<int> elements;
    int side;
  };
  const std::string& text_;
  std::string file_;
  double unit_;
  int line_ = 0, instances_ = 0;
  Keyword keyword_;
  const ElementType* element_type_ = nullptr;
  std::vector<int> pending_;
  Mesh mesh_;
  std::unordered_map<int, int> node_of_;
  std::vector<RawElement> elements_;
  std::map<std::string, std::vector<int>> node_sets_, element_sets_;  // labels
  std::map<std::string, std::vector<Side>> surfaces_;
};

}  // namespace

Mesh read_abaqus(const std::string& text, const std::string& file, double unit) {
  return AbaqusReader(text, file, unit).run();
}

}  // namespace clatter::fem
