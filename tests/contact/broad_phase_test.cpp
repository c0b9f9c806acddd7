// Detection with a broad phase finds what looking at every pair finds: all that is no farther away than asked for.
//
// Distances are those of the shapes. The gap of a slot may be smaller, where it is the separation along the normal of a
// face of something that lies beside that face.
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

// The point of a shape that is nearest to x.
Vec3 nearest_point(const ContactSystem& contacts, const Engine& engine, int shape, const Vec3& x) {
  const ShapeInstance& s = contacts.shapes[static_cast<std::size_t>(shape)];
  Mat3 R = s.R;
  Vec3 p = s.r;
  if (s.link >= 0) {
    const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(s.link)];
    p = m.p + m.R * p;
    R = m.R * R;
  }
  Vec3 local = R.transpose() * (x - p);
  switch (s.geometry.kind) {
    case ContactShape::Kind::line:
      local.y() = std::min(local.y(), 0.0);
      break;
    case ContactShape::Kind::plane:
      local.z() = std::min(local.z(), 0.0);
      break;
    case ContactShape::Kind::circle:
    case ContactShape::Kind::sphere:
      local *= std::min(1.0, s.geometry.bound / local.norm());
      break;
    default: {  // rectangles and boxes about their centre
      Vec3 half = Vec3::Zero();
      for (const Vec3& corner : s.geometry.points) half = half.cwiseMax(corner);
      local = local.cwiseMax(-half).cwiseMin(half);
    }
  }
  return p + R * local;
}

// No smaller than the distance of two convex shapes and, but for the end of its convergence, equal to it: points of
// both that are nearest to each other in turn (Cheney and Goldstein 1959).
double distance(const ContactSystem& contacts, const Engine& engine, const PairInstance& pair) {
  Vec3 on1 = nearest_point(contacts, engine, pair.shape1, Vec3::Zero()), on2 = on1;
  for (int k = 0; k < 100; ++k) {
    on2 = nearest_point(contacts, engine, pair.shape2, on1);
    on1 = nearest_point(contacts, engine, pair.shape1, on2);
  }
  return (on1 - on2).norm();
}

TEST(BroadPhase, FindsEveryPairThatIsNear) {
  for (const bool planar : {true, false})
    for (unsigned seed = 0; seed < 5; ++seed) {
      const auto system = System::compile(crowd(planar, seed));
      const auto contacts = ContactSystem::compile(system);
      Engine engine(system);
      Contacts all(contacts, engine), near(contacts, engine);
      BroadPhase broad(*contacts);
      std::vector<double> distances;
      for (const double reach : {0.0, 0.05, 0.5}) {
        all.detect(system->initial, std::numeric_limits<double>::infinity());
        near.detect(system->initial, reach);
        if (distances.empty())
          for (const PairInstance& pair : contacts->pairs) distances.push_back(distance(*contacts, engine, pair));
        std::vector<int> pairs;
        broad.find(engine, reach, pairs);
        EXPECT_LT(pairs.size(), contacts->pairs.size());
        EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
        int found = 0;
        for (std::size_t p = 0; p < contacts->pairs.size(); ++p) {
          const PairInstance& pair = contacts->pairs[p];
          EXPECT_LE(broad.distance_bound(engine, static_cast<int>(p)), distances[p] + 1e-12);
          if (distances[p] > reach) continue;
          EXPECT_TRUE(std::binary_search(pairs.begin(), pairs.end(), static_cast<int>(p)));
          // What a pair that is found tells does not depend on how it was found.
          for (int slot = pair.slot0; slot < pair.slot0 + pair.slots; ++slot) {
            EXPECT_EQ(near[slot].present, all[slot].present) << contacts->slot_name(slot);
            if (!all[slot].present) continue;
            EXPECT_EQ(near[slot].gap, all[slot].gap) << contacts->slot_name(slot);
            ++found;
          }
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
