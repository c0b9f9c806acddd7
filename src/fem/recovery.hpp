// What a reduced body's mesh looks like for given elastic coordinates: displacements and stress of every node.
#pragma once

#include <memory>

#include "fem/structure.hpp"

namespace clatter::fem {

class Recovery {
 public:
  // Shapes: freedoms x n of the structure. Without stress it takes a third of the memory.
  Recovery(const Structure& structure, const Mat& shapes, bool with_stress = true);

  const Mesh& mesh() const { return mesh_; }
  const Vec3& origin() const { return origin_; }  // of the reference frame in the mesh's coordinates
  int coordinates() const { return static_cast<int>(displacement_.cols()); }
  // 3 rows a node, in the body's reference frame; of one node its 3 x n rows.
  Vec displacements(const Vec& eta) const { return displacement_ * eta; }
  Mat rows(int node) const { return displacement_.middleRows<3>(3 * node); }
  // Stress xx, yy, zz, xy, yz, zx of each node (6 rows each), averaged over its elements; beams have none.
  Vec stress(const Vec& eta) const { return stress_ * eta; }
  Vec von_mises(const Vec& eta) const;  // one a node
  // Of some nodes only: 6 rows each, times eta their stress; and the von Mises stress of such rows times eta.
  Mat stress_rows(const std::vector<int>& nodes) const;
  static void von_mises_of(const Vec& stress, double* out);
  // Largest von Mises stress and its node.
  std::pair<double, int> largest_von_mises(const Vec& eta) const;

 private:
  Mesh mesh_;
  Vec3 origin_;
  Mat displacement_, stress_;
};

}  // namespace clatter::fem
