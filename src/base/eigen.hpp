// Eigen, with its large instances compiled once (base/eigen.cpp) and not in every file that multiplies or factors a
// matrix of doubles. Small products and expressions stay inline where they are written.
#pragma once

#include <Eigen/Dense>

// CLATTER_INSTANCE is `extern template` everywhere but in base/eigen.cpp, where it is `template`.
#ifndef CLATTER_INSTANCE
#define CLATTER_INSTANCE extern template
#endif

namespace Eigen::internal {
CLATTER_INSTANCE struct gebp_kernel<double, double, long, blas_data_mapper<double, long, 0, 0, 1>,
                                    gebp_traits<double, double>::mr, gebp_traits<double, double>::nr, false, false>;
CLATTER_INSTANCE struct general_matrix_matrix_product<long, double, 0, false, double, 0, false, 0, 1>;
CLATTER_INSTANCE struct general_matrix_matrix_product<long, double, 0, false, double, 1, false, 0, 1>;
CLATTER_INSTANCE struct general_matrix_matrix_product<long, double, 1, false, double, 0, false, 0, 1>;
CLATTER_INSTANCE struct general_matrix_matrix_product<long, double, 1, false, double, 1, false, 0, 1>;
CLATTER_INSTANCE struct general_matrix_vector_product<long, double, const_blas_data_mapper<double, long, 0>, 0, false,
                                                      double, const_blas_data_mapper<double, long, 0>, false, 0>;
CLATTER_INSTANCE struct general_matrix_vector_product<long, double, const_blas_data_mapper<double, long, 0>, 0, false,
                                                      double, const_blas_data_mapper<double, long, 1>, false, 0>;
CLATTER_INSTANCE struct general_matrix_vector_product<long, double, const_blas_data_mapper<double, long, 1>, 1, false,
                                                      double, const_blas_data_mapper<double, long, 0>, false, 0>;
CLATTER_INSTANCE struct general_matrix_vector_product<long, double, const_blas_data_mapper<double, long, 1>, 1, false,
                                                      double, const_blas_data_mapper<double, long, 1>, false, 0>;
CLATTER_INSTANCE struct general_matrix_vector_product<long, double, const_blas_data_mapper<double, long, 1>, 1, false,
                                                      double, const_blas_data_mapper<double, long, 1>, false, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 1, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 2, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 5, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 6, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 1, false, 1, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 2, false, 1, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 5, false, 1, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 1, 6, false, 1, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 2, 1, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 2, 2, false, 0, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 2, 1, false, 1, 0, 1>;
CLATTER_INSTANCE struct triangular_solve_matrix<double, long, 2, 2, false, 1, 0, 1>;
}  // namespace Eigen::internal

namespace Eigen {
CLATTER_INSTANCE class SelfAdjointEigenSolver<MatrixXd>;
CLATTER_INSTANCE class PartialPivLU<MatrixXd>;
CLATTER_INSTANCE class LLT<MatrixXd>;
CLATTER_INSTANCE class LDLT<MatrixXd>;
CLATTER_INSTANCE class ColPivHouseholderQR<MatrixXd>;
CLATTER_INSTANCE class HouseholderQR<MatrixXd>;
CLATTER_INSTANCE class CompleteOrthogonalDecomposition<MatrixXd>;
CLATTER_INSTANCE class GeneralizedSelfAdjointEigenSolver<MatrixXd>;
CLATTER_INSTANCE SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&, int);
CLATTER_INSTANCE PartialPivLU<MatrixXd>& PartialPivLU<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
CLATTER_INSTANCE LLT<MatrixXd>& LLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
CLATTER_INSTANCE LDLT<MatrixXd>& LDLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
CLATTER_INSTANCE ColPivHouseholderQR<MatrixXd>& ColPivHouseholderQR<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&);
}  // namespace Eigen
