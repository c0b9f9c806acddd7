// Who is near in a crowd of unlike sizes: balls with radii log-uniform over 1 : spread, spread over a cube of which
// they fill 30 % (overlaps are as good as contacts here), searched again and again while they move by a hundredth of
// the smallest radius a step. Time of a search by cells and by the tree, and the exponent with which each grows with n.
//
// Usage: search_bench [--n 500] [--to 16000] [--spread 50] [--large 0] [--repeat 10]
// --large K: instead, n balls of one size and K that are `spread` times as large.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <numbers>
#include <random>
#include <string>

#include "contact/crowd_search.hpp"
#include "engine/engine.hpp"

namespace clatter::contact {
namespace {

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Model balls(int n, double spread, int large) {
  std::mt19937 gen(1);
  std::uniform_real_distribution<double> u(0, 1);
  Model model;
  model.gravity = Vec3(0, 0, -9.81);
  auto crowd = std::make_shared<CrowdModel>();
  CrowdContact entry;
  entry.name = "all";
  entry.among = true;
  double volume = 0;
  for (int i = 0; i < n + large; ++i) {
    ContactShape s;
    s.name = "s" + std::to_string(i);
    s.at.body = i;
    s.kind = ContactShape::Kind::sphere;
    s.radius = large > 0 ? (i < n ? 0.01 : 0.01 * spread) : 0.01 * std::pow(spread, u(gen));
    volume += 4.0 / 3.0 * std::numbers::pi * std::pow(s.radius, 3);
    model.shapes.push_back(s);
    entry.first.push_back(i);
  }
  const double edge = std::cbrt(volume / 0.3);
  for (int i = 0; i < n + large; ++i) {
    Body b;
    b.name = "b" + std::to_string(i);
    b.mass = 1;
    b.inertia = Mat3::Identity();
    b.pose = Placement{edge * Vec3(u(gen), u(gen), u(gen)), Quat::Identity()};
    model.bodies.push_back(b);
  }
  entry.second = entry.first;
  crowd->contacts.push_back(entry);
  model.crowd = crowd;
  return model;
}

struct Times {
  double cells = 0, tree = 0;
};

Times run(int n, double spread, int large, int repeat) {
  const auto system = System::compile(balls(n, spread, large));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  engine.observe(system->initial, nullptr);
  Times out;
  std::size_t points = 0;
  WorkerPool pool(1);
  for (const auto sorting : {CrowdSearch::Sorting::cells, CrowdSearch::Sorting::tree}) {
    std::vector<LinkMotion> links = engine.links().motion;
    std::mt19937 gen(2);
    std::uniform_real_distribution<double> u(-1e-4, 1e-4);
    CrowdSearch search(*contacts, *system->model.crowd, sorting);
    search.find(links, 1e-3, pool);
    double& spent = sorting == CrowdSearch::Sorting::cells ? out.cells : out.tree;
    for (int k = 0; k < repeat; ++k) {
      for (LinkMotion& m : links) m.p += Vec3(u(gen), u(gen), u(gen));
      const double begin = cpu_now();
      search.find(links, 1e-3, pool);
      spent += (cpu_now() - begin) / repeat;
    }
    points = search.points().size();
  }
  const bool chosen = CrowdSearch(*contacts, *system->model.crowd).has_tree();
  std::printf("bench=search n=%d spread=%g large=%d points=%zu cells_us=%.4g tree_us=%.4g ratio=%.3g chosen=%s\n", n,
              spread, large, points, 1e6 * out.cells, 1e6 * out.tree, out.cells / out.tree, chosen ? "tree" : "cells");
  std::fflush(stdout);
  return out;
}

}  // namespace
}  // namespace clatter::contact

int main(int argc, char** argv) {
  int n = 500, to = 16000, large = 0, repeat = 10;
  double spread = 50;
  for (int i = 1; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--n")) n = static_cast<int>(value);
    if (is("--to")) to = static_cast<int>(value);
    if (is("--large")) large = static_cast<int>(value);
    if (is("--repeat")) repeat = static_cast<int>(value);
    if (is("--spread")) spread = value;
  }
  try {
    clatter::contact::Times first;
    for (int k = n; k <= std::max(n, to); k *= 2) {
      const clatter::contact::Times t = clatter::contact::run(k, spread, large * k / n, repeat);
      if (k == n) first = t;
      if (k != n && 2 * k > to)
        std::printf("bench=search_growth from=%d to=%d cells=%.2f tree=%.2f\n", n, k,
                    std::log(t.cells / first.cells) / std::log(1.0 * k / n),
                    std::log(t.tree / first.tree) / std::log(1.0 * k / n));
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
