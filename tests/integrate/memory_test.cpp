// What a run remembers: continued runs repeat the digits, and steps take no memory from the heap.
#include <gtest/gtest.h>

#include <cstdlib>

#include "integrate/studies.hpp"

// Eigen asks malloc, everything else operator new, which asks malloc: counting there sees all of it. The sanitizers
// bring their own malloc; under them the test only shows that the steps run.
namespace {
long allocations = 0;
}
#if defined(__GLIBC__) && !defined(CLATTER_SANITIZED)
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
}
#endif

namespace clatter::test {
namespace {

struct Case {
  const char* name;
  Scheme scheme;
  double step;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AllSchemes : public ::testing::TestWithParam<Case> {
 protected:
  IntegratorSettings settings() const {
    IntegratorSettings s;
    s.scheme = GetParam().scheme;
    s.step = GetParam().step;
    s.relative_tolerance = 1e-7;
    return s;
  }
};

template <class Problem>
void expect_same_digits_after_restart(const IntegratorSettings& settings) {
  Problem problem;
  auto whole = make_integrator(settings, problem);
  whole->start(Problem::initial());
  for (int i = 0; i < 17; ++i) whole->step(1e3);
  whole->refresh();
  std::vector<double> memory(whole->memory_size());
  whole->save(memory);
  for (int i = 0; i < 25; ++i) whole->step(1e3);

  Problem again;
  auto rest = make_integrator(settings, again);
  rest->start(Problem::initial());
  rest->restore(memory);
  rest->refresh();
  for (int i = 0; i < 25; ++i) rest->step(1e3);
  EXPECT_EQ(whole->state().t, rest->state().t);
  EXPECT_EQ(whole->state().q, rest->state().q);
  EXPECT_EQ(whole->state().v, rest->state().v);
  EXPECT_EQ(whole->state().z, rest->state().z);
  EXPECT_EQ(whole->work(), rest->work());
  EXPECT_EQ(whole->lambda(), rest->lambda());
  EXPECT_EQ(whole->acceleration(), rest->acceleration());
}

TEST_P(AllSchemes, AContinuedRunRepeatsTheDigitsOfTheUninterruptedOne) {
  expect_same_digits_after_restart<Oscillator>(settings());
  expect_same_digits_after_restart<HeavyTop>(settings());
  expect_same_digits_after_restart<DrivenMass>(settings());
  expect_same_digits_after_restart<LaggedForce>(settings());
  expect_same_digits_after_restart<KnifeEdge>(settings());
}

TEST_P(AllSchemes, StepsTakeNoMemoryFromTheHeap) {
  HeavyTop top;
  auto integrator = make_integrator(settings(), top);
  integrator->start(HeavyTop::initial());
  for (int i = 0; i < 5; ++i) integrator->step(1e3);
  State s = integrator->state();
#if defined(__GLIBC__) && !defined(CLATTER_SANITIZED)
  ASSERT_GT(allocations, 0) << "the counter does not see the heap";
#endif
  const long before = allocations;
  for (int i = 0; i < 200; ++i) {
    integrator->step(1e3);
    integrator->interpolate(0.5 * (integrator->step_begin() + integrator->state().t), s);
  }
  EXPECT_EQ(allocations, before);
}

INSTANTIATE_TEST_SUITE_P(
    Memory, AllSchemes,
    ::testing::Values(Case{"euler", Scheme::euler, 1e-4}, Case{"symplectic_euler", Scheme::symplectic_euler, 1e-3},
                      Case{"verlet", Scheme::verlet, 1e-3}, Case{"rk4", Scheme::rk4, 1e-3},
                      Case{"dopri5", Scheme::dopri5, 0}, Case{"generalized_alpha", Scheme::generalized_alpha, 1e-3},
                      Case{"radau5", Scheme::radau5, 0}, Case{"bdf", Scheme::bdf, 0}, Case{"adams", Scheme::adams, 0}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace clatter::test
