#include "app/beam_skin.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/ancf_body.hpp"

namespace clatter::app {

namespace {

constexpr std::size_t kMostNumbers = 8'000'000;  // of the shapes

}  // namespace

record::Surface beam_skin(const Body& body) {
  record::Surface out;
  out.name = body.name;
  if (!body.beam) return out;
  const ancf::AncfBody b(body.beam, Placement{});
  const BeamSource& s = *body.beam;
  const bool cable = s.element == BeamSource::Element::cable;
  const double extent = std::accumulate(s.lengths.begin(), s.lengths.end(), 0.0);
  const double y = 0.5 * (s.size_y > 0 ? s.size_y : 0.01 * extent), z = 0.5 * (s.size_z > 0 ? s.size_z : 0.01 * extent);
  const bool ribbons = cable && !s.planar;
  const int corners = ribbons ? 6 : 4;
  int stations = std::min(8 * b.elements, std::max(2 * b.elements, 64)) + 1;
  const auto numbers = [&](int n) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(corners * 3) * static_cast<std::size_t>(b.nv);
  };
  if (numbers(stations) > kMostNumbers) stations = b.elements + 1;
  if (numbers(stations) > kMostNumbers) return out;

  // Vertex = sum over vectors of (a coefficient matrix) q_i, and a constant.
  Mat shapes = Mat::Zero(stations * corners * 3, b.nv);
  Vec rest = Vec::Zero(stations * corners * 3);
  for (int k = 0; k < stations; ++k) {
    const double at = static_cast<double>(k) / (stations - 1);
    int first = 0;
    const std::vector<double> N = b.weights(at, 0, 0, first);
    for (int corner = 0; corner < corners; ++corner) {
      const int row = 3 * (k * corners + corner);
      const auto add = [&](const std::vector<double>& weights, double factor, bool turned) {
        for (std::size_t i = 0; i < weights.size(); ++i)
          for (int c = 0; c < b.dim; ++c) {
            const int column = (first + static_cast<int>(i)) * b.dim + c;
            if (!turned)
              shapes(row + c, column) += factor * weights[i];
            else  // (x, y) -> (-y, x)
              shapes(row + 1 - c, column) += (c == 0 ? factor : -factor) * weights[i];
          }
      };
      add(N, 1, false);
      if (ribbons) {
        rest[row + corner / 2] = corner % 2 == 0 ? y : -y;
        continue;
      }
      constexpr std::array<double, 4> sign_y{1, -1, -1, 1}, sign_z{1, 1, -1, -1};
      const double dy = sign_y[static_cast<std::size_t>(corner)] * y, dz = sign_z[static_cast<std::size_t>(corner)] * z;
      if (s.planar) {
        add(cable ? b.weights(at, 0, 1, first) : b.weights(at, 1, 0, first), dy, cable);
        rest[row + 2] = dz;
      } else {
        add(b.weights(at, 1, 0, first), dy, false);
        add(b.weights(at, 2, 0, first), dz, false);
      }
    }
  }
  rest += shapes * b.q0;
  for (const double x : rest) out.vertices.push_back(static_cast<float>(x));
  for (long c = 0; c < shapes.cols(); ++c)
    for (long r = 0; r < shapes.rows(); ++r) out.modes.push_back(static_cast<float>(shapes(r, c)));
  const auto quad = [&](int a, int e, int f, int g) {
    for (const int v : {a, e, f, a, f, g}) out.triangles.push_back(static_cast<std::uint32_t>(v));
  };
  for (int k = 0; k + 1 < stations; ++k) {
    const int at = k * corners, next = at + corners;
    if (ribbons) {
      for (int r = 0; r < 6; r += 2) {
        quad(at + r, at + r + 1, next + r + 1, next + r);
        quad(at + r, next + r, next + r + 1, at + r + 1);
      }
    } else {
      for (int c = 0; c < 4; ++c) quad(at + c, next + c, next + (c + 1) % 4, at + (c + 1) % 4);
    }
  }
  if (!ribbons) {
    const int last = (stations - 1) * corners;
    quad(0, 1, 2, 3);
    quad(last + 3, last + 2, last + 1, last);
  }
  return out;
}

}  // namespace clatter::app
