// Gmsh's format 4.1 (Gmsh reference manual, "MSH file format"), ASCII or binary with 8-byte sizes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/error.hpp"
#include "fem/generate.hpp"
#include "fem/read.hpp"

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct GmshType {
  int number;
  ElementType type;
  std::vector<int> order;  // our node k is Gmsh's node order[k]
};

const GmshType* gmsh_type(int number) {
  using T = ElementType;
  static const std::vector<GmshType> all = {
      {1, T::line2, {0, 1}},
      {2, T::tri3, {0, 1, 2}},
      {3, T::quad4, {0, 1, 2, 3}},
      {4, T::tet4, {0, 1, 2, 3}},
      {5, T::hex8, {0, 1, 2, 3, 4, 5, 6, 7}},
      {6, T::wedge6, {0, 1, 2, 3, 4, 5}},
      {9, T::tri6, {0, 1, 2, 3, 4, 5}},
      {11, T::tet10, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8}},
      {16, T::quad8, {0, 1, 2, 3, 4, 5, 6, 7}},
      {17, T::hex20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15}},
      {18, T::wedge15, {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11}},
  };
  for (const auto& t : all)
    if (t.number == number) return &t;
  return nullptr;
}

// Nodes of elements that only carry sets (points and curved edges), or that are not known.
int gmsh_node_count(int number) {
  static const std::map<int, int> counts = {{7, 5}, {8, 3}, {10, 9}, {12, 27}, {13, 18}, {14, 14}, {15, 1}, {26, 4}};
  const auto it = counts.find(number);
  return it == counts.end() ? 0 : it->second;
}
const char* gmsh_name(int number) {
  switch (number) {
    case 7:
      return "pyramid with 5 nodes";
    case 8:
      return "line with 3 nodes";
    case 10:
      return "quadrilateral with 9 nodes";
    case 12:
      return "hexahedron with 27 nodes";
    case 13:
      return "wedge with 18 nodes";
    case 14:
      return "pyramid with 14 nodes";
    default:
      return "element";
  }
}
int gmsh_dimension(int number) {
  if (const GmshType* t = gmsh_type(number)) return info(t->type).dimension;
  if (number == 15) return 0;
  if (number == 8 || number == 26) return 1;
  return number == 10 ? 2 : 3;
}

class Stream {
 public:
  Stream(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {}
  bool binary = false;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    throw InputError(Source{file_, line(), binary ? 0 : 1}, message, hint);
  }
  int line() const {
    return 1 + static_cast<int>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(place_, text_.size())), '\n'));
  }
  bool end() {
    skip_space();
    return place_ >= text_.size();
  }
  std::string text_line() {
    skip_space();
    const std::size_t stop = std::min(text_.find('\n', place_), text_.size());
    std::string s = text_.substr(place_, stop - place_);
    place_ = std::min(stop + 1, text_.size());
    while (!s.empty() && (s.back() == '\r' || s.back() == ' ')) s.pop_back();
    return s;
  }
  long integer(bool wide) {
    if (binary) return wide ? static_cast<long>(raw<std::uint64_t>()) : raw<std::int32_t>();
    skip_space();
    long v = 0;
    const auto [p, ec] = std::from_chars(text_.data() + place_, text_.data() + text_.size(), v);
    if (ec != std::errc()) fail("expected a whole number");
    place_ = static_cast<std::size_t>(p - text_.data());
    return v;
  }
  int small() {
    const long v = integer(false);
    if (v < -2147483647L || v > 2147483647L) fail("number out of range");
    return static_cast<int>(v);
  }
  long count() {
    const long v = integer(true);
    if (v < 0 || static_cast<std::size_t>(v) > text_.size()) fail("the file ends before what it announces");
    return v;
  }
  long tag() { return integer(true); }
  double number() {
    double v = 0;
    if (binary) {
      v = raw<double>();
    } else {
      skip_space();
      const auto [p, ec] = std::from_chars(text_.data() + place_, text_.data() + text_.size(), v);
      if (ec != std::errc()) fail("expected a number");
      place_ = static_cast<std::size_t>(p - text_.data());
    }
    if (!std::isfinite(v)) fail("a number is not finite");
    return v;
  }
  void skip_to(const std::string& mark) {
    const std::size_t p = text_.find(mark, place_);
    if (p == std::string::npos) fail("`" + mark + "` is missing");
    place_ = p + mark.size();
  }
  void expect(const std::string& mark) {
    if (text_line() != mark) fail("expected `" + mark + "`");
  }
  void to_next_line() {
    const std::size_t stop = text_.find('\n', place_);
    place_ = stop == std::string::npos ? text_.size() : stop + 1;
  }

 private:
  void skip_space() {
    while (place_ < text_.size() &&
           (text_[place_] == ' ' || text_[place_] == '\n' || text_[place_] == '\r' || text_[place_] == '\t'))
      ++place_;
  }
  template <class T>
  T raw() {
    if (place_ + sizeof(T) > text_.size()) fail("the file ends before what it announces");
    T v;
    std::memcpy(&v, text_.data() + place_, sizeof(T));
    place_ += sizeof(T);
    return v;
  }
  const std::string& text_;
  std::string file_;
  std::size_t place_ = 0;
};

struct Group {
  std::vector<int> nodes;
  std::vector<std::vector<int>> faces;  // corner nodes of elements one dimension lower, sorted
  std::vector<int> elements;
};

class GmshReader {
 public:
  GmshReader(const std::string& text, const std::string& file, double unit)
      : in_(text, file), file_(file), unit_(unit) {}

  Mesh run() {
    bool format = false, nodes = false, elements = false;
    while (!in_.end()) {
      const std::string section = in_.text_line();
      if (section == "$MeshFormat") {
        read_format();
        format = true;
      } else if (!format) {
        in_.fail("this is not a Gmsh mesh: it does not begin with $MeshFormat");
      } else if (section == "$PhysicalNames") {
        read_names();
      } else if (section == "$Entities") {
        read_entities();
      } else if (section == "$Nodes") {
        read_nodes();
        nodes = true;
      } else if (section == "$Elements") {
        if (!nodes) in_.fail("$Elements stands before $Nodes");
        read_elements();
        elements = true;
      } else if (section.size() > 1 && section[0] == '$') {
        in_.skip_to("$End" + section.substr(1));
      } else {
        in_.fail("expected the beginning of a section ($...)");
      }
    }
    if (!nodes) in_.fail("the file has no $Nodes");
    if (!elements) in_.fail("the file has no $Elements");
    return finish();
  }

 private:
  void read_format() {
    const double version = in_.number();
    const int kind = in_.small(), size = in_.small();
    if (version != 4.1)
      in_.fail(fmt::format("Gmsh format {} is not read, only 4.1", version),
               "save with `gmsh -format msh41`, or Mesh.MshFileVersion = 4.1");
    if (kind == 1) {
      if (size != 8) in_.fail("binary Gmsh files need 8-byte sizes");
      in_.binary = true;
      in_.to_next_line();
      if (in_.integer(false) != 1) in_.fail("the file was written on a machine with another byte order");
    }
    in_.expect("$EndMeshFormat");
  }
  void read_names() {  // always text
    const bool binary = in_.binary;
    in_.binary = false;
    const long n = in_.count();
    for (long i = 0; i < n; ++i) {
      const int dimension = in_.small(), tag = in_.small();
      const std::string rest = in_.text_line();
      const std::size_t a = rest.find('"'), b = rest.rfind('"');
      if (a == std::string::npos || b <= a) in_.fail("a physical name must stand in quotes");
      names_[{dimension, tag}] = rest.substr(a + 1, b - a - 1);
    }
    in_.binary = binary;
    in_.expect("$EndPhysicalNames");
  }
  void read_entities() {
    long n[4];
    for (long& k : n) k = in_.count();
    for (int dimension = 0; dimension < 4; ++dimension)
      for (long i = 0; i < n[dimension]; ++i) {
        const int tag = in_.small();
        for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in_.number();
        const long physical = in_.count();
        for (long k = 0; k < physical; ++k) physical_[{dimension, tag}].push_back(std::abs(in_.small()));
        if (dimension > 0) {
          const long bounds = in_.count();
          for (long k = 0; k < bounds; ++k) in_.small();
        }
      }
    in_.expect("$EndEntities");
  }
  void read_nodes() {
    const long blocks = in_.count(), total = in_.count();
    in_.tag();
    in_.tag();
    for (long b = 0; b < blocks; ++b) {
      const int dimension = in_.small();
      in_.small();
      const bool parametric = in_.small() != 0;
      const long n = in_.count();
      const std::size_t first = mesh_.nodes.size();
      for (long i = 0; i < n; ++i) {
        const long tag = in_.tag();
        if (!node_of_.try_emplace(tag, static_cast<int>(mesh_.nodes.size())).second)
          in_.fail(fmt::format("node {} is there twice", tag));
        mesh_.nodes.emplace_back(Vec3::Zero());
        mesh_.node_labels.push_back(static_cast<int>(tag));
      }
      for (long i = 0; i < n; ++i) {
        Vec3& x = mesh_.nodes[first + static_cast<std::size_t>(i)];
        for (int k = 0; k < 3; ++k) x[k] = unit_ * in_.number();
        if (parametric)
          for (int k = 0; k < dimension; ++k) in_.number();
      }
    }
    if (static_cast<long>(mesh_.nodes.size()) != total) in_.fail("the number of nodes is not the one announced");
    in_.expect("$EndNodes");
  }
  void read_elements() {
    const long blocks = in_.count();
    in_.count();
    in_.tag();
    in_.tag();
    for (long b = 0; b < blocks; ++b) {
      const int dimension = in_.small(), entity = in_.small(), number = in_.small();
      const long n = in_.count();
      const GmshType* type = gmsh_type(number);
      const int nodes = type != nullptr ? info(type->type).nodes : gmsh_node_count(number);
      if (nodes == 0) in_.fail(fmt::format("Gmsh elements of type {} are not known", number));
      for (long i = 0; i < n; ++i) {
        Raw e{number, dimension, entity, static_cast<int>(in_.tag()), {}};
        for (int k = 0; k < nodes; ++k) {
          const long tag = in_.tag();
          const auto it = node_of_.find(tag);
          if (it == node_of_.end())
            in_.fail(fmt::format("element {} names node {}, which does not exist", e.label, tag));
          e.nodes.push_back(it->second);
        }
        raw_.push_back(std::move(e));
      }
    }
    in_.expect("$EndElements");
  }

  std::string group_name(int dimension, int tag) const {
    const auto it = names_.find({dimension, tag});
    return it != names_.end() ? it->second : fmt::format("physical_{}", tag);
  }

  Mesh finish() {
    int dimension = 0;
    for (const Raw& e : raw_) dimension = std::max(dimension, gmsh_dimension(e.type));
    if (dimension == 0) throw InputError(Source{file_, 0, 0}, "the mesh has no elements but points");
    std::map<std::string, Group> groups;
    std::map<ElementType, std::vector<std::size_t>> by_type;
    for (std::size_t i = 0; i < raw_.size(); ++i) {
      if (gmsh_dimension(raw_[i].type) != dimension) continue;
      const GmshType* type = gmsh_type(raw_[i].type);
      if (type == nullptr)
        throw InputError(Source{file_, 0, 0},
                         fmt::format("element {} is a {}, which is not known", raw_[i].label, gmsh_name(raw_[i].type)),
                         "use tetrahedra, hexahedra, wedges, triangles or quadrilaterals; second order with "
                         "Mesh.SecondOrderIncomplete = 1");
      by_type[type->type].push_back(i);
    }
    int index = 0;
    for (const auto& [type, list] : by_type) {
      ElementBlock block{type, {}, {}};
      for (std::size_t i : list) {
        const Raw& e = raw_[i];
        for (int k : gmsh_type(e.type)->order) block.connectivity.push_back(e.nodes[at(k)]);
        block.labels.push_back(e.label);
        if (const auto it = physical_.find({e.dimension, e.entity}); it != physical_.end())
          for (int tag : it->second) groups[group_name(e.dimension, tag)].elements.push_back(index);
        ++index;
      }
      mesh_.blocks.push_back(std::move(block));
    }
    for (const Raw& e : raw_) {
      if (gmsh_dimension(e.type) == dimension) continue;
      const auto it = physical_.find({e.dimension, e.entity});
      if (it == physical_.end()) continue;
      for (int tag : it->second) {
        Group& g = groups[group_name(e.dimension, tag)];
        g.nodes.insert(g.nodes.end(), e.nodes.begin(), e.nodes.end());
        // The dimension of the element itself: that of its entity may claim another one.
        if (gmsh_dimension(e.type) == dimension - 1) {
          const GmshType* type = gmsh_type(e.type);
          const int corners =
              type != nullptr ? info(type->type).corners : std::min(2, static_cast<int>(e.nodes.size()));
          std::vector<int> face(e.nodes.begin(), e.nodes.begin() + corners);
          std::sort(face.begin(), face.end());
          g.faces.push_back(std::move(face));
        }
      }
    }
    add_groups(groups, dimension);
    mesh_.file = file_;
    remove_unused_nodes(mesh_);
    return std::move(mesh_);
  }

  void add_groups(std::map<std::string, Group>& groups, int dimension) {
    std::map<std::vector<int>, Face> faces;
    for (const Face& f : skin(mesh_)) {
      const std::vector<int> all = mesh_.face_nodes(f);
      const ElementInfo& e = info(mesh_.element(f.element).type);
      const std::size_t corners = dimension == 2 ? 2 : (e.nodes == e.corners ? all.size() : all.size() / 2);
      std::vector<int> key(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(corners));
      std::sort(key.begin(), key.end());
      faces[key] = f;
    }
    for (auto& [name, g] : groups) {
      std::sort(g.elements.begin(), g.elements.end());
      if (!g.elements.empty()) mesh_.element_sets[name] = g.elements;
      std::sort(g.nodes.begin(), g.nodes.end());
      g.nodes.erase(std::unique(g.nodes.begin(), g.nodes.end()), g.nodes.end());
      if (!g.nodes.empty()) mesh_.node_sets[name] = g.nodes;
      for (const auto& key : g.faces)
        if (const auto it = faces.find(key); it != faces.end()) mesh_.surfaces[name].push_back(it->second);
    }
  }

  struct Raw {
    int type, dimension, entity, label;
    std::vector<int> nodes;
  };
  Stream in_;
  std::string file_;
  double unit_;
  Mesh mesh_;
  std::map<std::pair<int, int>, std::string> names_;
  std::map<std::pair<int, int>, std::vector<int>> physical_;  // of an entity
  std::unordered_map<long, int> node_of_;
  std::vector<Raw> raw_;
};

}  // namespace

Mesh read_gmsh(const std::string& text, const std::string& file, double unit) {
  return GmshReader(text, file, unit).run();
}

}  // namespace clatter::fem
