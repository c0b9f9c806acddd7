// AssemblyMetric: how flexible bodies are weighed while a start is found that fits the joints.
//
// The smallest correction in the metric of M bends bodies to close a gap that moving them would close: M knows nothing
// of stiffness. A start is found by one of two others instead (Engine::weigh):
//
//   never         the body moves as if rigid. With its rigid motions r = (velocity of a point, angular velocity) and
//                 dq = T r, the correction is dq = T (T^T M T)^-1 T^T G^T mu; the point is the frame of a body that has
//                 one, T^T M T = (m, J) of the undeformed body, and the mass centre of a cable or beam
//   by_stiffness  where that cannot close the gap (both ends of a body held): W = M + s K + rows, s = 1000/omega_1^2,
//                 so that the deformation is, to a thousandth, the one of least elastic energy. Rows: m g g^T for each
//                 gradient g of a row of the body's own; they make W regular where M is not and change nothing else,
//                 because g dq is given. Corrections of positions also follow the elastic forces f that earlier ones
//                 caused, dq = -s W^-1 f + ..., so that they end at the least energy although rotations are not linear
//
// A cable or beam is weighed by its mass where W is not positive (it is pressed beyond buckling).
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <memory>
#include <vector>

#include "engine/ancf_body.hpp"
#include "engine/engine.hpp"

namespace clatter {

class AssemblyMetric {
 public:
  AssemblyMetric(const System& system, Deforming how);
  // At the state s, whose links are in `work`.
  void prepare(const State& s, const TreeWork& work);
  // Corrections of positions by stiffness: what leads back to the least energy, without regard to constraints. False:
  // nothing does.
  bool relax(Vec& delta) const;
  // Boundary nodes of bodies that are not to be deformed, and the vectors of beams, go along arcs and not along
  // tangents: what makes a correction of positions a rigid motion of finite size.
  void finish(const TreeWork& work, Vec& delta) const;
  // x = W^-1 b of one flexible body's tree; false when the body is weighed by its mass.
  bool solve(int tree, const double* b, double* x) const;

 private:
  struct BodyMetric {
    std::size_t flexible = 0;  // in System::flexible
    int tree = 0, v0 = 0, n = 0;
    double mass = 0, s = 0;
    Mat3 J = Mat3::Zero();
    Mat T;         // n x 6 or n x 3
    Mat6 inverse;  // of T^T M T
    Eigen::LLT<Mat> W;
    Vec force, force_at_start;             // elastic, of the body as it is and as it was met first
    const ancf::AncfBody* beam = nullptr;  // of a cable or beam: its W is a band
    std::unique_ptr<Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>> band;
    bool regular = false;
  };
  void rigid(BodyMetric& b, const TreeWork& work) const;
  void rigid_beam(BodyMetric& b, const State& s) const;
  void stiff(BodyMetric& b, const FlexibleIndex& f, const State& s, const TreeWork& work) const;
  void finish_beam(const BodyMetric& b, Vec& delta) const;

  const System* system_;
  Deforming how_;
  std::vector<BodyMetric> bodies_;
};

}  // namespace clatter
