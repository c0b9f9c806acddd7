// The search of a crowd against a look at every pair.
#include <set>
#include <tuple>

#include "contact/convex_distance.hpp"
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
      WorkerPool pool(2);
      search.find(engine.links().motion, reach, pool);
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

// Shapes of all kinds with sizes over a factor of `range`, in a cube of half edge `spread`.
Model of_unlike_sizes(unsigned seed, int n, double spread, double range) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Model model;
  model.gravity = Vec3(0, 0, -10);
  auto crowd = std::make_shared<CrowdModel>();
  CrowdContact entry;
  entry.name = "all";
  entry.among = true;
  for (int i = 0; i < n; ++i) {
    Body b;
    b.name = "b" + std::to_string(i);
    b.mass = 1;
    b.inertia = Mat3::Identity();
    b.pose = Placement{spread * Vec3(u(random), u(random), u(random)),
                       Quat(1 + u(random), u(random), u(random), u(random)).normalized()};
    model.bodies.push_back(b);
    ContactShape s;
    s.name = "s" + std::to_string(i);
    s.at.body = i;
    const double size = 0.05 * std::pow(range, 0.5 + 0.5 * u(random));
    using Kind = ContactShape::Kind;
    constexpr Kind kinds[] = {Kind::sphere, Kind::capsule, Kind::cylinder, Kind::box, Kind::sphere};
    s.kind = kinds[i % 5];
    s.radius = size;
    s.length = s.kind == Kind::sphere ? 0 : 2 * size;
    s.size = Vec3(1, 2, 0.7) * size;
    model.shapes.push_back(s);
    entry.first.push_back(i);
  }
  entry.second = entry.first;
  crowd->contacts.push_back(entry);
  model.crowd = crowd;
  return model;
}

struct Found {
  std::vector<CrowdPoint> points;
  std::set<std::pair<int, int>> pairs() const {
    std::set<std::pair<int, int>> out;
    for (const CrowdPoint& p : points) out.insert({std::min(p.shape1, p.shape2), std::max(p.shape1, p.shape2)});
    return out;
  }
  bool operator==(const Found& o) const {
    return std::equal(points.begin(), points.end(), o.points.begin(), o.points.end(),
                      [](const CrowdPoint& a, const CrowdPoint& b) {
                        return a.shape1 == b.shape1 && a.shape2 == b.shape2 && a.gap == b.gap && a.p1 == b.p1;
                      });
  }
};

// Also sorted by the pair, for the comparison of unlike orders.
Found sorted(Found f) {
  std::sort(f.points.begin(), f.points.end(), [](const CrowdPoint& a, const CrowdPoint& b) {
    const auto key = [](const CrowdPoint& p) { return std::tuple(p.shape1, p.shape2, p.gap, p.p1.x(), p.p1.y()); };
    return key(a) < key(b);
  });
  return f;
}

Found found_by(CrowdSearch& search, Engine& engine, const State& s, double reach, int threads) {
  engine.observe(s, nullptr);
  WorkerPool pool(threads);
  search.find(engine.links().motion, reach, pool);
  return {search.points()};
}

TEST(CrowdTree, FindsTheSamePointsAsCells) {
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const double range : {1.0, 10.0, 100.0})
      for (const double spread : {0.0, 1.0, 5.0, 200.0}) {  // all in one place, ..., far apart
        const int n = spread == 0 ? 40 : 300;
        const auto system = System::compile(of_unlike_sizes(seed, n, spread * std::sqrt(range), range));
        const auto contacts = ContactSystem::compile(system);
        Engine engine(system);
        CrowdSearch cells(*contacts, *system->model.crowd, CrowdSearch::Sorting::cells);
        CrowdSearch tree(*contacts, *system->model.crowd, CrowdSearch::Sorting::tree);
        const Found a = found_by(cells, engine, system->initial, 0.02, 1);
        const Found b = found_by(tree, engine, system->initial, 0.02, 1);
        EXPECT_TRUE(sorted(a) == sorted(b))
            << seed << ' ' << range << ' ' << spread << ": " << a.points.size() << " and " << b.points.size();
        found += a.points.size();
      }
  EXPECT_GT(found, 5000U);
}

// Boxes alone, pair by pair.
TEST(ShapeTree, TellsEveryOverlapOnce) {
  std::mt19937 gen(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (const double range : {1.0, 1000.0})
    for (const int n : {1, 2, 5, 300}) {
      std::vector<double> sizes(static_cast<std::size_t>(n));
      std::vector<Vec3> centres(sizes.size());
      for (double& s : sizes) s = 0.1 * std::pow(range, -0.5 - 0.5 * u(gen));
      if (n > 2) sizes[1] = 0;  // a point
      for (Vec3& c : centres) c = Vec3(u(gen), u(gen), u(gen));
      ShapeTree tree;
      tree.set_sizes(sizes);
      for (int move = 0; move < 20; ++move) {
        std::vector<WorldBox> boxes;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          centres[i] += 0.05 * Vec3(u(gen), u(gen), u(gen));
          const Vec3 half = Vec3::Constant(sizes[i]);
          boxes.push_back({centres[i] - half, centres[i] + half});
        }
        tree.place(boxes);
        std::set<std::pair<int, int>> told, expected;
        for (int i = 0; i < n; ++i)
          tree.overlapping(i, [&](int k) {
            ASSERT_GE(tree.level(k), tree.level(i));
            if (tree.level(k) > tree.level(i) || k > i) {
              EXPECT_TRUE(told.insert({std::min(i, k), std::max(i, k)}).second) << "told twice";
            }
          });
        for (int i = 0; i < n; ++i)
          for (int k = i + 1; k < n; ++k)
            if (boxes[static_cast<std::size_t>(i)].overlaps(boxes[static_cast<std::size_t>(k)]))
              expected.insert({i, k});
        EXPECT_EQ(told, expected);
      }
    }
}

// What is found is a function of the positions, not of the way there or the number of threads, and comes from below
// upwards.
TEST(CrowdTree, FindsAFunctionOfThePositionsFromBelowUpwards) {
  const auto system = System::compile(of_unlike_sizes(4, 3000, 6, 50));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  CrowdSearch fresh(*contacts, *system->model.crowd), travelled(*contacts, *system->model.crowd);
  ASSERT_TRUE(fresh.has_tree()) << "chosen by the sizes";
  State s = system->initial;
  std::mt19937 gen(8);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int k = 0; k < 5; ++k) {
    for (int i = 0; i < 3000; ++i)
      for (int x = 0; x < 3; ++x) s.q[7 * i + x] += 0.3 * u(gen);
    found_by(travelled, engine, s, 0.01, 1);
  }
  const Found a = found_by(fresh, engine, system->initial, 0.01, 2),
              b = found_by(travelled, engine, system->initial, 0.01, 1);
  EXPECT_TRUE(a == b) << a.points.size() << " and " << b.points.size();
  EXPECT_GT(a.points.size(), 1000U);
  const auto height = [&](int shape) {
    return engine.links()
        .motion[static_cast<std::size_t>(contacts->shapes[static_cast<std::size_t>(shape)].link)]
        .p.z();
  };
  // The shape that looked: the smaller one, or the lower one of a level; its height never falls from point to point by
  // more than the order within one pair of levels leaves open.
  double last = -1e30;
  for (const CrowdPoint& p : a.points) {
    const double low = std::min(height(p.shape1), height(p.shape2)),
                 high = std::max(height(p.shape1), height(p.shape2));
    EXPECT_LE(last, high + 1e-12);
    last = std::max(last, low);
  }
}

// Shapes that are apart: the nearest point told is as far as they are, whichever features are nearest, at any distance
// (two corners of polytopes, a corner and an edge have no slot among the kernels). Nothing within reach is missed: what
// is not seen at the begin of a step is not looked at where it ends. Balls and capsules are points and rods with a
// skin.
TEST(CrowdSearch, TellsTheDistanceOfShapesThatAreApart) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> u(-1, 1);
  int apart = 0, corners = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const double size = std::pow(10.0, 2 * u(random) - 1);
    Model model;
    model.gravity = Vec3(0, 0, -10);
    auto crowd = std::make_shared<CrowdModel>();
    CrowdContact entry;
    entry.name = "both";
    entry.among = true;
    for (int i = 0; i < 2; ++i) {
      Body b;
      b.name = i == 0 ? "a" : "b";
      b.mass = 1;
      b.inertia = Mat3::Identity();
      // Turned at random, or by right angles: faces and edges exactly parallel.
      const Quat turned = trial % 5 == 0 ? Quat(Eigen::AngleAxisd(M_PI / 2 * (i + trial % 3), Vec3::UnitX()))
                                         : Quat(u(random), u(random), u(random), u(random)).normalized();
      const double far = 1.2 + std::pow(10.0, 2 * u(random) - 2);
      b.pose = Placement{i == 0 ? Vec3::Zero() : Vec3(far * size * Vec3(u(random), u(random), u(random)).normalized()),
                         turned};
      model.bodies.push_back(b);
      ContactShape s;
      s.name = b.name + "_skin";
      s.at.body = i;
      using Kind = ContactShape::Kind;
      constexpr Kind kinds[] = {Kind::box,      Kind::polytope, Kind::polytope, Kind::capsule,
                                Kind::cylinder, Kind::polytope, Kind::sphere};
      s.kind = kinds[random() % 7];
      s.radius = 0.2 * size;
      s.length = s.kind == Kind::capsule || s.kind == Kind::cylinder ? 0.7 * size : 0;
      s.size = size * Vec3(1, 0.7, 0.4);
      for (int k = 0; k < 3; ++k)
        for (const double sign : {-1.0, 1.0}) s.points.push_back(sign * size * (0.5 + 0.1 * k) * Vec3::Unit(k));
      if (trial % 2 == 0) s.points.emplace_back(size * Vec3(0.3, 0.3, 0.35));
      entry.first.push_back(i);
      model.shapes.push_back(s);
    }
    entry.second = entry.first;
    crowd->contacts.push_back(entry);
    model.crowd = crowd;
    const auto system = System::compile(model);
    const auto contacts = ContactSystem::compile(system);
    Engine engine(system);
    engine.observe(system->initial, nullptr);
    const auto pose = [&](const ShapeInstance& s) -> Pose<double> {
      const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(s.link)];
      return {m.R * s.R, m.p + m.R * s.r};
    };
    const ShapeInstance &first = contacts->shapes[0], &second = contacts->shapes[1];
    const double slack = 1e-6 * size;
    const Bracket distance = convex_distance(first.geometry, pose(first), second.geometry, pose(second), 0.1 * slack);
    if (!(distance.lower > slack)) continue;
    ++apart;
    CrowdSearch search(*contacts, *system->model.crowd);
    WorkerPool pool(1);
    search.find(engine.links().motion, distance.upper + slack, pool);
    double least = 1e300;
    for (const CrowdPoint& p : search.points()) {
      EXPECT_NEAR(p.n.dot(p.p1 - p.p2), p.gap, 1e-9 * size) << trial;
      EXPECT_NEAR(p.n.norm(), 1, 1e-12) << trial;
      least = std::min(least, p.gap);
    }
    EXPECT_GE(least, distance.lower - slack) << trial;
    EXPECT_LE(least, distance.upper + slack) << trial << ": missed";
    if (first.geometry.points.empty() || second.geometry.points.empty()) continue;
    PolytopeManifold manifold;
    manifold.find(first.geometry, second.geometry, Frame3<double>(pose(first)), Frame3<double>(pose(second)));
    corners += manifold.separation() < distance.lower - slack ? 1 : 0;
  }
  EXPECT_GT(apart, 2000);
  EXPECT_GT(corners, 300) << "hardly any pair was nearest at corners";
}

TEST(CrowdSearch, SortsLikeSizesIntoCells) {
  const auto system = System::compile(of_unlike_sizes(4, 600, 6, 1.5));
  const auto contacts = ContactSystem::compile(system);
  EXPECT_FALSE(CrowdSearch(*contacts, *system->model.crowd).has_tree());
}

}  // namespace
}  // namespace clatter::contact
