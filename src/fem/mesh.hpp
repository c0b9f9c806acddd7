// A mesh as a value: nodes, elements in blocks of one type, named sets of nodes, elements and faces.
//
// Elements are numbered through all blocks in order. Coordinates are metres (readers scale on request). Names of nodes
// and elements in the file a mesh came from are kept for messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fem/element_type.hpp"

namespace clatter::fem {

struct ElementBlock {
  ElementType type = ElementType::hex8;
  std::vector<int> connectivity;  // info(type).nodes an element
  std::vector<int> labels;        // in the file, or empty: numbers from 1 on
  int count() const { return static_cast<int>(connectivity.size()) / info(type).nodes; }
};

struct Face {
  int element = 0;
  int side = 0;  // of info(type).faces
  bool operator==(const Face&) const = default;
  auto operator<=>(const Face&) const = default;
};

struct ElementRef {
  ElementType type;
  const int* nodes;
  int count;
};

struct Mesh {
  std::string file;  // where it came from, for messages; empty for generated ones
  std::vector<Vec3> nodes;
  std::vector<int> node_labels;  // in the file, or empty: numbers from 1 on
  std::vector<ElementBlock> blocks;
  std::map<std::string, std::vector<int>> node_sets;     // ascending
  std::map<std::string, std::vector<int>> element_sets;  // ascending
  std::map<std::string, std::vector<Face>> surfaces;

  int element_count() const;
  ElementRef element(int index) const;
  int node_label(int node) const {
    return node_labels.empty() ? node + 1 : node_labels[static_cast<std::size_t>(node)];
  }
  int element_label(int index) const;
  // Highest dimension of any element: 1 for beams alone, 2 plane, 3 solids.
  int dimension() const;
  NodeCoordinates coordinates(const ElementRef& e) const;
  // Nodes of a named node set, element set or surface; empty when there is none of that name.
  std::vector<int> nodes_of_set(const std::string& name) const;
  std::vector<std::string> set_names() const;
  std::vector<int> face_nodes(const Face& f) const;
  double size() const;  // diagonal of the bounding box
};

// Faces used by one element only, in order of elements (V-4, skin).
std::vector<Face> skin(const Mesh& mesh);
// Triangles of a face (corners and middles), oriented outward.
std::vector<std::array<int, 3>> triangles(const Mesh& mesh, const Face& face);

// Nodes nearer than tolerance are one; sets and elements follow. Deterministic: the first of each cluster stays.
void merge_nodes(Mesh& mesh, double tolerance);
void remove_unused_nodes(Mesh& mesh);
// Elements with middles; `place` moves a middle from the straight line (its two corners are given), or nothing.
Mesh to_quadratic(const Mesh& mesh, Vec3 (*place)(const Vec3& a, const Vec3& b, const Vec3& middle, const void* data),
                  const void* data);
Mesh to_quadratic(const Mesh& mesh);

// What is wrong with a mesh makes an InputError that names file, elements and nodes: nodes out of range, inverted or
// flat elements, duplicate nodes, parts that are not connected, no elements. Unused nodes are no mistake.
void check_mesh(const Mesh& mesh);
// 0 for a mesh of one piece; otherwise the elements of the pieces other than the largest.
std::vector<std::vector<int>> separate_parts(const Mesh& mesh);

struct MeshVolume {
  double volume = 0;
  Vec3 centre = Vec3::Zero();
};
MeshVolume volume_of(const Mesh& mesh);  // solids and plane elements (area)

}  // namespace clatter::fem
