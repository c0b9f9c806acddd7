// Writes a result of a bending plate: a body that falls and turns while two modes of its skin swing. For tests of
// whoever shows results; the numbers are formulas, so that any frame can be checked.
//   surface_result FILE [CELLS]    a skin of CELLS x CELLS x 2 triangles
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numbers>

#include "model/model.hpp"
#include "record/writer.hpp"
#include "view/scene.hpp"

int main(int argc, char** argv) {
  using namespace clatter;
  if (argc < 2) {
    std::cerr << "surface_result FILE [CELLS]\n";
    return 2;
  }
  const std::uint32_t cells = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 12;
  record::Surface skin;
  skin.name = "plate";
  const std::uint32_t side = cells + 1;
  const double pi = std::numbers::pi;
  for (std::uint32_t j = 0; j < side; ++j)
    for (std::uint32_t i = 0; i < side; ++i)
      for (const double x : {static_cast<double>(i) / cells - 0.5, static_cast<double>(j) / cells - 0.5, 0.0})
        skin.vertices.push_back(static_cast<float>(x));
  for (std::uint32_t j = 0; j < cells; ++j)
    for (std::uint32_t i = 0; i < cells; ++i) {
      const std::uint32_t a = j * side + i, b = a + 1, c = a + side, d = c + 1;
      for (const std::uint32_t v : {a, b, d, a, d, c}) skin.triangles.push_back(v);
    }
  for (int mode = 1; mode <= 2; ++mode)
    for (std::uint32_t v = 0; v < side * side; ++v) {
      const double x = skin.vertices[3 * v], y = skin.vertices[3 * v + 1];
      skin.modes.insert(skin.modes.end(), {0.0F, 0.0F, static_cast<float>(std::cos(mode * pi * x) * std::cos(pi * y))});
    }

  Model model;
  model.title = "Bending plate";
  model.gravity = Vec3(0, 0, -9.81);
  Body body;
  body.name = "plate";
  body.mass = 1;
  model.bodies.push_back(body);
  record::RunInfo info;
  info.model_name = "plate.yaml";
  info.version = "0";
  info.scene = view::scene_json(model, {{"plate", 0, "plate.modes"}});
  info.surfaces.push_back(std::move(skin));
  const std::vector<record::Channel> channels = {
      {"bodies/plate/position", "m", 3, {"x", "y", "z"}, "place of the plate"},
      {"bodies/plate/orientation", "1", 4, {"w", "x", "y", "z"}, "turning of the plate"},
      {"bodies/plate/modes", "m", 2, {"1", "2"}, "elastic coordinates"}};
  record::Writer writer = record::Writer::create(argv[1], info, channels, {{"stored", "J", 1, {}, ""}});
  for (int i = 0; i <= 200; ++i) {
    const double t = 0.01 * i, turn = 0.25 * t;
    const double row[] = {0,
                          0,
                          1 - 0.1 * t,
                          std::cos(turn / 2),
                          std::sin(turn / 2),
                          0,
                          0,
                          0.1 * std::sin(2 * pi * t),
                          0.05 * std::cos(3 * pi * t)};
    writer.append(t, row);
    const double stored = 1;
    writer.append_ledger(t, {&stored, 1});
  }
  writer.finish(record::Status::kFinished, "", "");
  return 0;
}
