// The search of a crowd against a look at every pair.
#include <set>

#include "crowd/problems.hpp"

namespace clatter::contact {
namespace {

Model scattered(unsigned seed, int n, double spread, bool mixed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Model model;
  model.gravity = Vec3(0, 0, seed % 2 == 0 ? -10 : 10);
  auto crowd = std::make_shared<CrowdModel>();
  CrowdContact entry;
  entry.name = "all";
  entry.among = true;
  const auto shape = [&](int body, ContactShape::Kind kind, double radius) {
    ContactShape s;
    s.name = "s" + std::to_string(model.shapes.size());
    s.at.body = body;
    s.kind = kind;
    s.radius = radius;
    s.size = Vec3(3, 2, 1);
    entry.first.push_back(static_cast<int>(model.shapes.size()));
    model.shapes.push_back(s);
  };
  shape(-1, ContactShape::Kind::plane, 0);
  for (int i = 0; i < n; ++i) {
    Body b;
    b.name = "b" + std::to_string(i);
    b.mass = 1;
    b.inertia = Mat3::Identity();
    b.pose = Placement{spread * Vec3(u(random), u(random), u(random)), Quat::Identity()};
    model.bodies.push_back(b);
    // Some are much larger than the others.
    if (mixed && i % 40 == 0)
      shape(i, ContactShape::Kind::box, 0);
    else
      shape(i, ContactShape::Kind::sphere, mixed ? 0.05 + 0.04 * u(random) : 0.1);
  }
  entry.second = entry.first;
  crowd->contacts.push_back(entry);
  model.crowd = crowd;
  return model;
}

TEST(CrowdSearch, FindsWhatALookAtEveryPairFinds) {
  int found = 0;
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const double spread : {0.5, 2.0, 200.0}) {
      const auto system = System::compile(scattered(seed, 120, spread, seed > 3));
      const auto contacts = ContactSystem::compile(system);
      Engine engine(system);
      engine.observe(system->initial, nullptr);
      CrowdSearch search(*contacts, *system->model.crowd);
      const double reach = 0.03;
      CrowdCrew crew(2);
      search.find(engine.links().motion, reach, crew);
      std::set<std::pair<int, int>> pairs, expected;
      for (const CrowdPoint& p : search.points()) {
        EXPECT_LE(p.gap, reach);
        EXPECT_NEAR(p.n.dot(p.p1 - p.p2), p.gap, 1e-12);
        EXPECT_TRUE(pairs.insert({std::min(p.shape1, p.shape2), std::max(p.shape1, p.shape2)}).second ||
                    contacts->shapes[static_cast<std::size_t>(p.shape1)].geometry.kind != ContactShape::Kind::sphere ||
                    contacts->shapes[static_cast<std::size_t>(p.shape2)].geometry.kind != ContactShape::Kind::sphere)
            << "a pair of balls was told twice";
      }
      // Kernels alone, pair by pair.
      const auto pose = [&](const ShapeInstance& s) -> Pose<double> {
        if (s.link < 0) return {s.R, s.r};
        const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(s.link)];
        return {m.R * s.R, m.p + m.R * s.r};
      };
      const auto n = static_cast<int>(contacts->shapes.size());
      for (int i = 0; i < n; ++i)
        for (int k = i + 1; k < n; ++k) {
          const ShapeInstance &a = contacts->shapes[static_cast<std::size_t>(i)],
                              &b = contacts->shapes[static_cast<std::size_t>(k)];
          Contact contact;
          for (int slot = 0; slot < pair_kind(a.geometry, b.geometry, contact).slots; ++slot) {
            Branch branch;
            Touch<double> t;
            t.gap = 1e9;
            if (touch<double>(a.geometry, b.geometry, slot, pose(a), pose(b), branch, t) && t.gap <= reach)
              expected.insert({i, k});
          }
        }
      EXPECT_EQ(pairs, expected) << "seed " << seed << ", spread " << spread;
      found += static_cast<int>(pairs.size());
    }
  EXPECT_GT(found, 500) << "hardly anything touched";
}

}  // namespace
}  // namespace clatter::contact
