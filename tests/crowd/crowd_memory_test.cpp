// Steps of a crowd take no memory from the heap once its arrays have grown.
//
// Every allocation of the program passes through the functions replaced here; the address sanitizer brings its own.
#include <cstdlib>

#include "crowd/problems.hpp"

#if !defined(CLATTER_SANITIZED) && defined(__GLIBC__)

namespace {
thread_local long allocations = 0;
}

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}

namespace clatter::contact {
namespace {

void expect_no_allocation(const std::string& solver, const std::string& moments = "") {
  Crowd c(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies:
  grain: {bodies: {b: {shape: {box: [10 cm, 10 cm, 10 cm]}, density: 1000 kg/m^3}}}
  bead: {bodies: {b: {shape: {sphere: 5 cm}, density: 1000 kg/m^3}}}
instances:
  stack: {of: grain, repeat: {k: 3}, at: [0, 0, 5 cm + 10 cm * k]}
  row: {of: bead, repeat: {i: 4}, at: [20 cm + 11 cm * i, 0, 6 cm]}
shapes: {floor: {on: ground, type: plane}}
contacts: {touch: {among: ["stack_*.b", "row_*.b", floor], law: {type: rigid, friction: 0.5)" +
          moments + R"(}}}
simulate: {method: time-stepping, contact_solver: )" +
          solver + ", step: 1 ms, end: 1 s}\n");
  c.run(0.3);
  ASSERT_GT(allocations, 0) << "the count is not alive";
  const long before = allocations;
  c.run(0.5);
  EXPECT_EQ(allocations - before, 0) << solver;
}

TEST(CrowdMemory, SweepsTakeNone) { expect_no_allocation("gauss-seidel"); }
TEST(CrowdMemory, MomentsTakeNone) {
  for (const char* solver : {"gauss-seidel", "apgd"})
    expect_no_allocation(solver, ", rolling_friction: 1 mm, drilling_friction: 1 mm");
}
TEST(CrowdMemory, NewtonTakesNone) { expect_no_allocation("semismooth-newton"); }
TEST(CrowdMemory, GradientsTakeNone) {
  expect_no_allocation("apgd");
  expect_no_allocation("barzilai-borwein");
}

}  // namespace
}  // namespace clatter::contact

#endif
