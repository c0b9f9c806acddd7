// Detection with a broad phase finds what looking at every pair finds.
#include "contact/broad_phase.hpp"

#include <gtest/gtest.h>

#include <random>

#include "contact/models.hpp"

namespace clatter::contact {
namespace {

// 40 bodies with shapes of every kind of one dimension, and a floor; every pair is a contact.
Model crowd(bool planar, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  ModelMaker m(Vec3(0, -10, 0));
  std::vector<int> shapes{planar ? m.line(-1) : m.plane(-1)};
  for (int i = 0; i < 40; ++i) {
    const Vec3 at(2 * u(random), 1 + u(random), planar ? 0 : 2 * u(random));
    const int body = planar ? m.planar_body(1, 0.1, at, Vec3::Zero(), 3 * u(random))
                            : m.spatial_body(1, Vec3::Constant(0.1), at, Vec3::Zero(), Vec3::Zero(),
                                             Quat(1, u(random), u(random), u(random)).normalized());
    const double size = 0.1 + 0.05 * u(random);
    int shape = 0;
    if (planar) {
      shape = i % 2 == 0 ? m.rectangle(body, 3 * size, size) : m.circle(body, size);
    } else {
      shape = i % 2 == 0 ? m.box(body, Vec3(3 * size, size, 2 * size)) : m.sphere(body, size);
    }
    for (const int other : shapes) m.contact(shape, other, 0, 0.3);
    shapes.push_back(shape);
  }
  return m.model;
}

TEST(BroadPhase, FindsEveryPairThatIsNear) {
  for (const bool planar : {true, false})
    for (unsigned seed = 0; seed < 5; ++seed) {
      const auto system = System::compile(crowd(planar, seed));
      const auto contacts = ContactSystem::compile(system);
      Engine engine(system);
      Contacts all(contacts, engine), near(contacts, engine);
      BroadPhase broad(*contacts);
      for (const double reach : {0.0, 0.05, 0.5}) {
        all.detect(system->initial, std::numeric_limits<double>::infinity());
        near.detect(system->initial, reach);
        std::vector<int> pairs;
        broad.find(engine, reach, pairs);
        EXPECT_LT(pairs.size(), contacts->pairs.size());
        EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
        int found = 0;
        for (const int slot : all.near()) {
          if (all[slot].gap > reach) continue;
          ++found;
          EXPECT_TRUE(near[slot].present) << contacts->slot_name(slot);
          EXPECT_EQ(near[slot].gap, all[slot].gap);
          EXPECT_LE(broad.distance_bound(engine, contacts->pair_of_slot[static_cast<std::size_t>(slot)]),
                    all[slot].gap + 1e-12);
        }
        EXPECT_GT(found, 0);
      }
    }
}

TEST(BroadPhase, ForgetsWhatIsNoLongerNear) {
  const auto system = System::compile(crowd(true, 7));
  Engine engine(system);
  Contacts contacts(ContactSystem::compile(system), engine);
  contacts.detect(system->initial, std::numeric_limits<double>::infinity());
  State away = system->initial;
  for (int i = 0; i < 40; ++i) away.q[3 * i] += 10.0 * i;
  contacts.evaluate(0, false);  // a slot looked at from outside, too
  for (Eigen::Index i = 0; i < 40; ++i) away.q[3 * i + 1] += 5;
  contacts.detect(away, 0);
  EXPECT_TRUE(contacts.near().empty());
  for (int slot = 0; slot < contacts.slots(); ++slot) EXPECT_FALSE(contacts[slot].present);
}

}  // namespace
}  // namespace clatter::contact
