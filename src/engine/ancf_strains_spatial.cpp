#include "engine/ancf_strains_spatial.hpp"

namespace clatter::ancf {

void Shear3::hessian(const X& x, const Strain& sigma, Hessian& H) {
  using T = Dual<variables>;
  Eigen::Matrix<T, variables, 1> xt;
  for (int i = 0; i < variables; ++i) xt[i] = T::variable(x[i], i);
  Eigen::Matrix<T, 6, 1> s;
  Eigen::Matrix<T, 6, variables> G;
  evaluate<T>(xt, s, &G);
  for (int j = 0; j < variables; ++j) {
    T::Derivatives row = T::Derivatives::Zero();
    for (int i = 0; i < 6; ++i) row += sigma[i] * G(i, j).d;
    H.row(j) = row.matrix().transpose();
  }
}

}  // namespace clatter::ancf
