// Distances of cylinders at any distance, pose and size, against convex_distance.hpp.
//
// The bodies are laid at random, or in one of the poses that are special (axes parallel, perpendicular, on one line, in
// one plane; a cap parallel to a face with its rim just beside an edge, ...), and then moved apart or towards each
// other along the common normal until they are as far apart as asked for. Lengths are log-uniform: distances from 1e-6
// to 10 sizes, sizes from 1 mm to 10 m. No pose is left out.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "convex_distance.hpp"
#include "shapes.hpp"
#include "shapes/cylinder_manifold.hpp"
#include "shapes/pairs.hpp"

namespace clatter::contact {
namespace {

Mat3 about(const Vec3& axis, double angle) { return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(); }

struct Solid {
  const char* kind;
  Vec3 size;  // radius and length, or edges

  Geometry scaled(double scale) const {
    if (kind == std::string("cylinder")) return cylinder(scale * size.x(), scale * size.y());
    if (kind == std::string("capsule")) return capsule(scale * size.x(), scale * size.y());
    if (kind == std::string("box")) return box(scale * size);
    std::vector<Vec3> points = wedge().points;
    for (Vec3& p : points) p = scale * p.cwiseProduct(size);
    return of_points(ContactShape::Kind::polytope, points);
  }
  // Half extents along its axes.
  Vec3 half() const {
    if (kind == std::string("box")) return size / 2;
    if (kind == std::string("wedge")) return 0.6 * size;
    return {size.x(), size.x(), size.y() / 2};
  }
};

struct Pair {
  const char* name;
  Solid first, second;
};

class Poses {
 public:
  explicit Poses(unsigned seed) : gen_(seed) {}
  double between(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(gen_); }
  double log_between(double lo, double hi) { return std::exp(between(std::log(lo), std::log(hi))); }
  int choice(int n) { return std::uniform_int_distribution<int>(0, n - 1)(gen_); }
  Vec3 direction() {
    std::normal_distribution<double> u;
    return Vec3(u(gen_), u(gen_), u(gen_)).normalized();
  }

  // Of the first in the axes of the second, for the size 1.
  Pose<double> next(const Solid& a, const Solid& b) {
    const double right = std::numbers::pi / 2, turn = between(-3, 3);
    Pose<double> out{about(direction(), turn), Vec3::Zero()};
    switch (choice(8)) {
      case 0:  // axes parallel
        out.R = about(Vec3::UnitZ(), turn);
        break;
      case 1:
        out.R = about(Vec3::Unit(choice(2)), 2 * right * choice(2));
        break;
      case 2:  // perpendicular
        out.R = about(Vec3::UnitZ(), choice(2) * turn) * about(Vec3::Unit(choice(2)), right);
        break;
      case 3:  // nearly one of these
        out.R = about(direction(), log_between(1e-9, 0.1)) * about(Vec3::Unit(choice(3)), right * choice(4));
        break;
      case 4:  // in one plane
        out.R = about(Vec3::Unit(choice(3)), turn);
        break;
      default:
        break;
    }
    const Vec3 sum = a.half() + b.half();
    out.p = direction() * sum.norm() * between(0.2, 1.2);
    switch (choice(4)) {
      case 0:  // on an axis, in a plane, ...
        for (int i = 0; i < 3; ++i)
          if (choice(2) == 0) out.p[i] = 0;
        break;
      case 1:  // ... flush with, or just beside something
        for (int i = 0; i < 3; ++i) {
          const double places[] = {
              0, b.half()[i], a.half()[i], a.half()[2 - i], b.half()[i] + a.half()[i], b.half()[i] - a.half()[i]};
          if (choice(3) != 0) out.p[i] = places[choice(6)] * (choice(2) == 0 ? 1 : -1);
        }
        break;
      default:
        break;
    }
    return out;
  }

 private:
  std::mt19937 gen_;
};

// The least gap of all slots that have a point.
double least_gap(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B) {
  double least = std::numeric_limits<double>::infinity();
  for (int slot = 0; slot < pair_kind(a, b, Contact{}).slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (!touch<double>(a, b, slot, A, B, branch, t)) continue;
    EXPECT_NEAR((t.p1 - t.p2 - t.gap * t.n).norm(), 0, 1e-12 * (a.bound + b.bound + std::abs(t.gap))) << slot;
    least = std::min(least, t.gap);
  }
  return least;
}

class CylinderDistance : public ::testing::TestWithParam<Pair> {};

// Places are known to 1e-16 of the sizes and distances; normals of directions that differ by their square root.
TEST_P(CylinderDistance, IsThatOfTheConvexBodiesAtAnyDistance) {
  const auto& [name, first, second] = GetParam();
  Poses poses(17);
  int measured = 0, wrong = 0, coarse = 0;
  for (int i = 0; i < 4000; ++i) {
    const double scale = poses.log_between(1e-3, 10);
    const Geometry a = first.scaled(scale), b = second.scaled(scale);
    const Pose<double> B = i % 2 == 0 ? Pose<double>{Mat3::Identity(), Vec3::Zero()}
                                      : Pose<double>{about({1, 2, 3}, 0.7), scale * Vec3(0.1, -0.2, 0.3)};
    const Pose<double> local = poses.next(first, second);
    Pose<double> A{B.R * local.R, B.p + scale * (B.R * local.p)};
    const double size = std::min(a.bound, b.bound), all = a.bound + b.bound;
    const double wanted = size * poses.log_between(1e-6, 10);
    // Special places stay special, at whatever distance they are.
    Bracket d = convex_distance(a, A, b, B, 1e-12 * all);
    if (d.upper == 0) {
      A.p += (A.p - B.p).norm() > 0 ? Vec3((A.p - B.p).normalized() * all) : Vec3(B.R.col(2) * all);
      d = convex_distance(a, A, b, B, 1e-12 * all);
    }
    if (poses.choice(3) != 0) {
      A.p += (wanted - d.upper) * d.n;
      d = convex_distance(a, A, b, B, 1e-12 * all);
    }
    if (d.upper == 0) continue;
    coarse += d.upper - d.lower > 1e-9 * (all + d.upper);
    ++measured;
    // A cap that is parallel to a plane within 1e-7 counts as parallel.
    const double tilt = std::min(A.R.col(2).cross(d.n).norm(), B.R.col(2).cross(d.n).norm());
    const double slack = 1e-9 * (all + d.upper) + (tilt < 2e-7 ? 2e-7 * std::max(a.radius, b.radius) : 0);
    const double gap = least_gap(a, A, b, B);
    if (gap >= d.lower - slack && gap <= d.upper + slack) continue;
    if (++wrong > 10) continue;
    ADD_FAILURE() << "pose " << i << ": gap " << gap / scale << ", distance " << d.upper / scale << " along "
                  << (B.R.transpose() * d.n).transpose() << ", axis " << local.R.col(2).transpose() << ", at "
                  << (B.R.transpose() * (A.p - B.p) / scale).transpose();
  }
  EXPECT_EQ(wrong, 0) << "of " << measured;
  EXPECT_GT(measured, 3900);
  EXPECT_LE(coarse, 4) << "bounds of the measure itself";
}

// Coins beside and above an edge, their caps parallel to a face (rim along edge), and above a corner (vertex and rim):
// rates of the point that is nearest, by jets, against differences of the distance itself: central, step 1e-4, so
// h^2 / 12 of the fourth derivative and rounding 1e-15 / h^2, both below 1e-6.
TEST(CylinderRates, OfSharpOnSharpAreThoseOfTheDistance) {
  using Second = Jet<Dual<24>>;
  const Geometry a = cylinder(0.5, 0.1), b = box({1, 1, 1});
  const Vec3 places[] = {{1.2, 0.1, 0.7}, {-0.1, -1.3, -0.65}, {1.1, 1.2, 0.8}};
  const int features[] = {12, 12, 4};
  for (int i = 0; i < 3; ++i) {
    const Motion first{places[i], {0.3, -0.4, 0.2}, {0.5, 0.1, -0.6}, Vec3::Zero(), {0.2, -0.3, 0.6}, {0.3, 0.2, 0.1}};
    const Motion second{Vec3::Zero(), {-0.1, 0.2, 0.1}, Vec3::Zero(), Vec3::Zero(), {0.1, 0.2, -0.2}, Vec3::Zero()};
    const auto gap = [&](double t) { return least_gap(a, first.at(t), b, second.at(t)); };
    const double here = gap(0), h = 1e-4;
    int nearest = 0;
    for (int slot = 0; slot < pair_kind(a, b, Contact{}).slots; ++slot) {
      Branch branch;
      Touch<double> t;
      if (!touch<double>(a, b, slot, first.at(0.0), second.at(0.0), branch, t) || t.gap > here + 1e-12) continue;
      ++nearest;
      EXPECT_EQ(branch.feature, features[i]);
      const Second time{Dual<24>::variable(0.0, 0), Dual<24>(1.0)};
      Touch<Second> jet;
      ASSERT_TRUE(touch<Second>(a, b, slot, first.at(time), second.at(time), branch, jet));
      EXPECT_NEAR(jet.gap.d.v, (gap(h) - gap(-h)) / (2 * h), 1e-7) << i;
      EXPECT_NEAR(jet.gap.d.d[0], (gap(h) - 2 * here + gap(-h)) / (h * h), 1e-5) << i;
    }
    EXPECT_GT(nearest, 0) << i;
  }
}

const Solid coin{"cylinder", {0.5, 0.1, 0}}, log_of_wood{"cylinder", {0.1, 1.2, 0}}, drum{"cylinder", {0.4, 0.5, 0}};
INSTANTIATE_TEST_SUITE_P(, CylinderDistance,
                         ::testing::Values(Pair{"Coins", coin, coin},
                                           Pair{"Logs", log_of_wood, {"cylinder", {0.12, 1.0, 0}}},
                                           Pair{"CoinAndLog", coin, log_of_wood},
                                           Pair{"LargeAndSmall", {"cylinder", {2, 1, 0}}, {"cylinder", {0.05, 0.1, 0}}},
                                           Pair{"LogAndBox", log_of_wood, {"box", {0.3, 0.5, 0.9}}},
                                           Pair{"CoinAndBox", coin, {"box", {0.4, 0.6, 0.3}}},
                                           Pair{"CoinAndTable", coin, {"box", {8, 6, 0.2}}},
                                           Pair{"DrumAndBar", drum, {"box", {0.1, 0.1, 2.0}}},
                                           Pair{"DrumAndWedge", drum, {"wedge", {1, 1, 1}}},
                                           Pair{"CapsuleAndDrum", {"capsule", {0.1, 1.2, 0}}, drum}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace clatter::contact
