// Problem G: n balls above a box, in a grid with a little disorder from a fixed generator. `packed`: as many that lie
// on each other from the start, all in contact, in a cube or `across` by `across` wide.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string>

#include "model/crowd.hpp"

namespace clatter {

inline Model spheres_model(int n, const CrowdModel& settings, bool packed = false, int across = 0) {
  Model model;
  model.title = "spheres";
  model.gravity = Vec3(0, 0, -9.81);
  const double radius = 0.05, pitch = packed ? 0.1 : 0.115, disorder = packed ? 1e-3 : 1;
  const int cube = static_cast<int>(std::lround(std::cbrt(n)));
  const int k = !packed ? (n <= 1000 ? 8 : 14) : across > 0 ? across : cube;
  const double half = 0.5 * (pitch * k + 0.03 * disorder), low = packed ? radius : 0.06;
  std::uint64_t s = 12345;
  const auto u = [&] {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    return disorder * (static_cast<double>(s >> 11) / 9007199254740992.0 - 0.5);
  };
  const auto shape = [&](int body, ContactShape::Kind kind, const Vec3& p, const Vec3& up) {
    ContactShape c;
    c.name = "shape" + std::to_string(model.shapes.size());
    c.at.body = body;
    c.at.placement = {p, Quat::FromTwoVectors(Vec3::UnitZ(), up)};
    c.kind = kind;
    c.radius = radius;
    model.shapes.push_back(c);
  };
  using Kind = ContactShape::Kind;
  shape(-1, Kind::plane, Vec3::Zero(), Vec3::UnitZ());
  for (const double side : {-1.0, 1.0}) {
    shape(-1, Kind::plane, Vec3(side * half, 0, 0), Vec3(-side, 0, 0));
    shape(-1, Kind::plane, Vec3(0, side * half, 0), Vec3(0, -side, 0));
  }
  auto crowd = std::make_shared<CrowdModel>(settings);
  CrowdContact entry;
  entry.name = "pile";
  entry.among = true;
  entry.law.friction.mu = 0.5;
  for (int i = 0; i < 5; ++i) entry.first.push_back(i);
  for (int i = 0; i < n; ++i) {
    Body body;
    body.name = "ball" + std::to_string(i);
    body.mass = 2000 * 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
    body.inertia = Mat3::Identity() * (0.4 * body.mass * radius * radius);
    const double x = -0.5 * (k - 1) * pitch + pitch * (i % k) + 0.01 * u();
    const double y = -0.5 * (k - 1) * pitch + pitch * (i / k % k) + 0.01 * u();
    const double z = low + pitch * (i / (k * k)) + 0.004 * u();
    body.pose = Placement{Vec3(x, y, z), Quat::Identity()};
    model.bodies.push_back(body);
    shape(i, Kind::sphere, Vec3::Zero(), Vec3::UnitZ());
    entry.first.push_back(5 + i);
  }
  entry.second = entry.first;
  crowd->contacts.push_back(entry);
  model.crowd = crowd;
  return model;
}

}  // namespace clatter
