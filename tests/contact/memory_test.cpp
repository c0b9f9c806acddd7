// Steps with contacts take no memory from the heap once their arrays have grown, redundant contacts included.
//
// Every allocation of the program passes through the functions replaced here; the address sanitizer brings its own.
#include <gtest/gtest.h>

#include <cstdlib>

#include "contact/allocations.hpp"
#include "contact/models.hpp"
#include "contact/motion.hpp"
#include "model/load.hpp"

namespace clatter::contact {
thread_local long allocations = 0;
}

#if !defined(CLATTER_SANITIZED) && defined(__GLIBC__)

using clatter::contact::allocations;

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

// Blocks in running bond: four points of contact a block where two suffice, more below.
Model small_wall(int courses, int blocks) {
  ModelMaker m(Vec3(0, -10, 0));
  const int floor = m.line(-1);
  std::vector<int> shapes;
  for (int i = 0; i < courses; ++i)
    for (int j = 0; j < blocks; ++j) {
      const Vec3 at(0.201 * (j + 0.25 * (i % 2)), 0.05 + 0.1 * i, 0);
      const int s = m.rectangle(m.planar_body(2, 0.01, at, Vec3::Zero()), 0.2, 0.1);
      m.contact(s, floor, 0, 0.6);
      for (const int other : shapes) m.contact(s, other, 0, 0.6);
      shapes.push_back(s);
    }
  return m.model;
}

template <class Scheme>
void expect_no_allocation(const Model& model, double h, double from, double to) {
  Bench b(model, h, Scheme{});
  b.run(from);
  ASSERT_GT(allocations, 0) << "the count is not alive";
  const long before = allocations;
  b.run(to);
  EXPECT_EQ(allocations - before, 0);
}

TEST(ContactMemory, NoneInStepsOfAWallAtRest) {
  expect_no_allocation<Moreau>(small_wall(4, 4), 2e-3, 0.02, 0.1);
  expect_no_allocation<Alpha>(small_wall(4, 4), 2e-3, 0.02, 0.1);
}

TEST(ContactMemory, NoneWhileABoxSlidesOnFourCornersWithFriction) {
  ModelMaker m(Vec3(0, 0, -10));
  const int box = m.box(m.spatial_body(1, Vec3::Constant(0.01), Vec3(0, 0, 0.1), Vec3(3, 1, 0)), Vec3(0.4, 0.3, 0.2));
  m.contact(box, m.plane(-1), 0, 0.5);
  expect_no_allocation<Moreau>(m.model, 2e-3, 0.02, 0.3);
}

// Search and rows of a beam that slides over another.
TEST(ContactMemory, NoneWhileABeamIsLookedForOnAnother) {
  const auto system = System::compile(load_model_text(R"(clatter: 1
bodies:
  upper: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0], position: [0.2, 0.1],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
contacts: {press: {between: [upper, lower], law: {type: rigid, friction: 0.3}}}
)",
                                                      "beams"));
  Engine engine(system);
  Contacts contacts(ContactSystem::compile(system), engine);
  State s = system->initial;
  Vec column(engine.sizes().nv);
  std::size_t found = 0;
  const auto slide = [&] {
    s.q = system->initial.q;
    for (int i = 0; i < 20; ++i) {
      for (int k = 0; k < s.q.size() / 2; k += 4) s.q[k] += 0.01;  // nodes of the upper one
      contacts.detect(s, 0.02);
      for (const int slot : contacts.near()) {
        contacts.evaluate(slot, true);
        contacts.column(slot, 1, column.data());
        ++found;
      }
    }
  };
  slide();
  const long before = allocations;
  slide();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(found, 400u);
}

// Tangents of beams that press on each other grow when two elements meet for the first time, and not again.
TEST(ContactMemory, NoneWhileABeamPressesOnAnotherByPenalty) {
  Model model = load_model_text(R"(clatter: 1
gravity: [0, -10, 0]
bodies:
  upper: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0], position: [0.23, 0.0999],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
joints: {hold: {type: fixed, between: [ground, lower.start]}}
contacts: {press: {between: [upper, lower], law: {type: linear, stiffness: 1e7, friction: 0.3}}}
)",
                                "beams");
  model.simulate.method = Method::smooth;
  model.simulate.scheme = Method::generalized_alpha;
  const Simulate simulate = model.simulate;
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  IntegratorSettings settings;
  settings.scheme = Scheme::generalized_alpha;
  settings.step = 1e-4;
  Motion motion(system, engine, simulate, settings);
  Stepper& stepper = motion.stepper();
  stepper.start(system->initial);
  while (stepper.state().t < 0.01) stepper.step(0.02);
  const long before = allocations;
  while (stepper.state().t < 0.02 - 1e-9) stepper.step(0.02);
  EXPECT_EQ(allocations - before, 0);
}

// Rigid contact by dense methods, with ever other numbers of contacts: a beam falls on another askew, rocks and lies
// down. Once every number of contacts has been met, steps take no memory, those with impacts included.
TEST(ContactMemory, NoneWhenTheNumberOfContactsOfBeamsChanges) {
  Model model = load_model_text(R"(clatter: 1
gravity: [0, -10, 0]
bodies:
  upper: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0.05], position: [0.1, 0.101],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
  lower: {type: beam, planar: true, element: ancf-beam, elements: 4, to: [1, 0],
          section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2e7, poisson: 0.3}}
joints: {hold: {type: fixed, between: [ground, lower.start]}}
contacts: {press: {between: [upper, lower], law: {type: rigid, friction: 0.3}}}
)",
                                "beams");
  model.simulate.method = Method::time_stepping;
  const Simulate simulate = model.simulate;
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  IntegratorSettings settings;
  settings.step = 5e-5;
  Motion motion(system, engine, simulate, settings);
  Stepper& stepper = motion.stepper();
  long taken[2];
  for (long& count : taken) {
    stepper.start(system->initial);
    const long before = allocations;
    while (stepper.state().t < 0.1) stepper.step(0.2);
    count = allocations - before;
  }
  EXPECT_GT(taken[0], 0);
  EXPECT_EQ(taken[1], 0);
  EXPECT_GT(motion.counts().closes, 5);
}

TEST(ContactMemory, NoneInAccelerationsWithContactsThatDependOnEachOther) {
  // Four corners that stick: normal forces and friction are not unique, and shared by weights.
  ModelMaker m(Vec3(0, 0, -10));
  const int box = m.box(m.spatial_body(1, Vec3::Constant(0.01), Vec3(0, 0, 0.1), Vec3::Zero()), Vec3(0.4, 0.3, 0.2));
  m.contact(box, m.plane(-1), 0, 0.5);
  const auto system = System::compile(m.model);
  Engine engine(system);
  ContactDynamics dynamics(ContactSystem::compile(system), engine);
  std::vector<ActiveContact> active;
  dynamics.contacts().detect(system->initial, 0);
  for (const int slot : dynamics.contacts().near()) {
    if (std::abs(dynamics.contacts()[slot].gap) > 1e-9) continue;
    ActiveContact c;
    c.slot = slot;
    c.mode = Mode::stick;
    active.push_back(c);
  }
  ASSERT_EQ(active.size(), 4u);
  dynamics.set_active(active, system->initial);
  Vec a = Vec::Zero(dynamics.sizes().nv), lambda = Vec::Zero(dynamics.sizes().nc()), zdot;
  dynamics.accelerations(system->initial, a, lambda, zdot);
  const long before = allocations;
  for (int i = 0; i < 10; ++i) dynamics.accelerations(system->initial, a, lambda, zdot);
  EXPECT_EQ(allocations - before, 0);
  EXPECT_LT(a.norm(), 1e-12);
}

}  // namespace
}  // namespace clatter::contact

#endif
