// Repeated factorizations and solutions take no memory. Every allocation of the program, by C++ or by the C libraries,
// passes through the functions replaced here; the address sanitizer brings its own, and the tests are left out there.
#include <gtest/gtest.h>

#include <cstdlib>

#include "solve/contact_solver.hpp"
#include "solve/contact_systems.hpp"
#include "solve/linear_solver.hpp"
#include "solve/random_matrices.hpp"
#include "solve/schur_solver.hpp"

#if !defined(CLATTER_SANITIZED) && defined(__GLIBC__)

namespace {
thread_local long allocations = 0;
}

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) noexcept {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}

namespace clatter {
namespace {

template <class Work>
long allocations_in(Work&& work) {
  const long before = allocations;
  work();
  return allocations - before;
}

TEST(Allocation, IsCountedForCppAndC) {
  EXPECT_GE(allocations_in([] {
              std::vector<double> v(1000);
              EXPECT_EQ(v[999], 0);
            }),
            1);
  EXPECT_GE(allocations_in([] {
              void* volatile p = std::malloc(10);
              std::free(p);
            }),
            1);
}

template <class Scalar>
void expect_no_allocation(LinearMethod method) {
  auto A = test::chain_saddle<Scalar>(12, 3);
  LinearSolver<Scalar> solver(A.pattern_ptr(), method);
  solver.factorize(A);
  std::vector<Scalar> b(A.cols(), Scalar(1));
  EXPECT_EQ(allocations_in([&] {
              for (int step = 0; step < 5; ++step) {
                for (Scalar& a : A.values()) a *= 1.01;
                solver.factorize(A);
                solver.solve(b.data());
                solver.solve_refined(A, b.data());
              }
            }),
            0);
}

TEST(Allocation, NoneInRepeatedDenseSolutions) {
  expect_no_allocation<double>(LinearMethod::dense);
  expect_no_allocation<std::complex<double>>(LinearMethod::dense);
}

TEST(Allocation, NoneInRepeatedSparseSolutions) {
  expect_no_allocation<double>(LinearMethod::sparse);
  expect_no_allocation<std::complex<double>>(LinearMethod::sparse);
}

TEST(Allocation, NoneForConstraintForcesWithRedundantRows) {
  Eigen::MatrixXd G = test::random_matrix<double>(24, 30, 5);
  G.row(20) = G.row(3);
  G.row(23) = G.row(1) + G.row(2);
  const Eigen::MatrixXd S = G * G.transpose();
  auto A = test::to_sparse<double>(S);
  for (SchurMethod method : {SchurMethod::dense, SchurMethod::sparse}) {
    SchurSolver solver(A.pattern_ptr(), method);
    solver.factorize(A);
    ASSERT_EQ(solver.deficiency(), 2);
    std::vector<double> b(24, 1.0);
    EXPECT_EQ(allocations_in([&] {
                for (int step = 0; step < 5; ++step) {
                  for (double& a : A.values()) a *= 1.01;
                  solver.factorize(A);
                  solver.solve(b.data());
                }
              }),
              0);
  }
}

TEST(Allocation, StopsAfterTheFirstContactProblemOfASize) {
  Eigen::VectorXd mu = Eigen::VectorXd::Constant(6, 0.3);
  mu(2) = 0.1;
  ContactProblem first = test::tower(mu, 3).problem(), second = test::tower(mu, 4).problem();
  Eigen::MatrixXd A = first.A;
  Eigen::VectorXd b = first.b, x, y, r;
  LemkeSolver lemke;
  ContactSolver contact;
  lemke.solve(A, b, x, y);
  contact.solve(first, r);
  contact.solve(second, r);
  EXPECT_EQ(allocations_in([&] { lemke.solve(A, b, x, y); }), 0);
  EXPECT_EQ(allocations_in([&] { contact.solve(first, r); }), 0);
  EXPECT_EQ(allocations_in([&] { contact.solve(second, r); }), 0);
}

}  // namespace
}  // namespace clatter

#endif
