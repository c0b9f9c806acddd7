// Inertia integrals of shapes (V-10, E-6): with the scalar mass m_ab of solids and the samples of beams,
//   N_l = sum m_ab Phi_b,l     E0_l = sum m_ab X_a Phi_b,l^T     E_kl = sum m_ab Phi_a,k Phi_b,l^T.
// M is taken from the mass matrix itself: it adds the rotatory inertia of beams. The antisymmetric part of E0 is chosen
// so that the angular momentum of each shape is the one the mass matrix gives, R_r^T M Phi: for solids it is that
// already, for beams it then holds their rotatory inertia, for matrices of other programs whatever they contain.
#include "fem/reduce.hpp"

namespace clatter::fem {

void add_integrals(const Structure& s, const Mat& Phi, ReducedBody& body) {
  const long n = Phi.cols();
  const long nodes = s.node_count();
  body.planar = s.planar();
  body.origin = s.centre();
  body.mass = s.mass();
  body.J0 = s.inertia();
  body.E00 = s.second_moments();
  body.n = static_cast<int>(n);
  body.N = Mat::Zero(3, n);
  for (Mat& e : body.E0) e = Mat::Zero(3, n);
  for (Mat& e : body.E) e = Mat::Zero(n, n);
  constexpr int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
  {
    const Mat U = s.nodal(Phi);
    Mat X(nodes, 3);
    for (long i = 0; i < nodes; ++i) X.row(i) = s.mesh().nodes[static_cast<std::size_t>(i)] - s.centre();
    const auto m = s.scalar_mass().selfadjointView<Eigen::Lower>();
    const Mat mX = m * X;
    const Vec m1 = m * Vec::Ones(nodes);
    std::array<Mat, 3> component;
    for (int a = 0; a < 3; ++a) component[static_cast<std::size_t>(a)] = U(Eigen::seqN(a, nodes, 3), Eigen::all);
    for (int b = 0; b < (s.planar() ? 2 : 3); ++b) {
      const Mat& Ub = component[static_cast<std::size_t>(b)];
      body.N.row(b) += m1.transpose() * Ub;
      for (int a = 0; a < 3; ++a) body.E0[static_cast<std::size_t>(a)].row(b) += mX.col(a).transpose() * Ub;
      const Mat mU = m * Ub;
      for (std::size_t k = 0; k < 6; ++k)
        if (second[k] == b) body.E[k].noalias() += component[static_cast<std::size_t>(first[k])].transpose() * mU;
    }
  }
  if (!s.samples().empty()) {
    const Mat U = s.sampled(Phi);
    const long count = static_cast<long>(s.samples().size());
    std::array<Mat, 3> component;
    for (int a = 0; a < 3; ++a) component[static_cast<std::size_t>(a)] = U(Eigen::seqN(a, count, 3), Eigen::all);
    Vec w(count);
    Mat X(count, 3);
    for (long i = 0; i < count; ++i) {
      w[i] = s.samples()[static_cast<std::size_t>(i)].weight;
      X.row(i) = s.samples()[static_cast<std::size_t>(i)].X - s.centre();
    }
    for (int b = 0; b < 3; ++b) {
      const Mat wU = w.asDiagonal() * component[static_cast<std::size_t>(b)];
      body.N.row(b) += wU.colwise().sum();
      for (int a = 0; a < 3; ++a) body.E0[static_cast<std::size_t>(a)].row(b) += X.col(a).transpose() * wU;
      for (std::size_t k = 0; k < 6; ++k)
        if (second[k] == b) body.E[k].noalias() += component[static_cast<std::size_t>(first[k])].transpose() * wU;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) body.E[k] = 0.5 * (body.E[k] + body.E[k].transpose()).eval();
  const Mat MPhi = s.mass_times(Phi);
  const Mat M = Phi.transpose() * MPhi;
  body.M = 0.5 * (M + M.transpose());
  const Mat P = s.rigid_motions().transpose() * MPhi;
  if (s.planar()) {
    body.N.topRows(2) = P.topRows(2);
  } else {
    body.N = P.topRows(3);
    for (int k = 0; k < 3; ++k) {
      // epsilon_kab E0_ab = H_k: half of the difference to each of the two entries.
      const auto a = static_cast<std::size_t>((k + 1) % 3), b = static_cast<std::size_t>((k + 2) % 3);
      const Mat now = body.E0[a].row(static_cast<long>(b)) - body.E0[b].row(static_cast<long>(a));
      const Mat difference = 0.5 * (P.row(3 + k) - now);
      body.E0[a].row(static_cast<long>(b)) += difference;
      body.E0[b].row(static_cast<long>(a)) -= difference;
    }
  }
}

}  // namespace clatter::fem
