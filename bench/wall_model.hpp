// A wall of blocks in running bond, every other course shifted by a quarter of a block, with open joints of 1 mm; and a
// ball for it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace clatter {

struct Wall {
  int courses = 10, blocks = 10;
  double width = 0.2, height = 0.1, joint = 1e-3, mass = 2, friction = 0.6;
  double ball_speed = 0;  // 0: no ball
};

inline Model wall_model(const Wall& wall) {
  Model model;
  model.title = "wall";
  model.gravity = Vec3(0, -9.81, 0);
  const auto shape_at = [&](int body, ContactShape::Kind kind) -> ContactShape& {
    ContactShape s;
    s.name = "shape" + std::to_string(model.shapes.size());
    s.at.body = body;
    s.kind = kind;
    model.shapes.push_back(s);
    return model.shapes.back();
  };
  const auto touch = [&](int first, int second, double restitution) {
    Contact c;
    c.name = "contact" + std::to_string(model.contacts.size());
    c.group = "wall";
    c.first = first;
    c.second = second;
    RigidContact law;
    law.restitution = restitution;
    law.friction.mu = wall.friction;
    c.law = law;
    model.contacts.push_back(c);
  };
  shape_at(-1, ContactShape::Kind::line);
  const double a = wall.width / 2, b = wall.height / 2, pitch = wall.width + wall.joint;
  std::vector<Vec3> place;
  for (int i = 0; i < wall.courses; ++i) {
    for (int j = 0; j < wall.blocks; ++j) {
      Body body;
      body.name = "block" + std::to_string(model.bodies.size());
      body.kind = BodyKind::planar;
      body.mass = wall.mass;
      body.inertia(2, 2) = wall.mass * (wall.width * wall.width + wall.height * wall.height) / 12;
      body.pose = Placement{Vec3(pitch * (j + 0.25 * (i % 2)), wall.height * (i + 0.5), 0), Quat::Identity()};
      place.push_back(body.pose->position);
      model.bodies.push_back(body);
      shape_at(static_cast<int>(model.bodies.size()) - 1, ContactShape::Kind::polygon).points = {
          {-a, -b, 0}, {a, -b, 0}, {a, b, 0}, {-a, b, 0}};
      if (i == 0) touch(static_cast<int>(model.shapes.size()) - 1, 0, 0);
    }
  }
  const int n = static_cast<int>(place.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const Vec3 d = place[static_cast<std::size_t>(i)] - place[static_cast<std::size_t>(j)];
      // A ball may throw any block on any other; a wall at rest touches its neighbours only.
      if (wall.ball_speed != 0 || (std::abs(d.y()) < 1.5 * wall.height && std::abs(d.x()) < 1.5 * wall.width))
        touch(i + 1, j + 1, 0);
    }
  if (wall.ball_speed != 0) {
    for (int i = wall.blocks; i < n; ++i) touch(i + 1, 0, 0);
    Body ball;
    ball.name = "ball";
    ball.kind = BodyKind::planar;
    ball.mass = 10 * wall.mass;
    ball.inertia(2, 2) = 0.5 * ball.mass * 0.01;
    ball.pose = Placement{Vec3(-0.5, 0.6 * wall.courses * wall.height, 0), Quat::Identity()};
    ball.velocity = Vec3(wall.ball_speed, 0, 0);
    model.bodies.push_back(ball);
    shape_at(n, ContactShape::Kind::circle).radius = 0.1;
    for (int i = 0; i <= n; ++i) touch(n + 1, i, 0.2);
  }
  return model;
}

}  // namespace clatter
