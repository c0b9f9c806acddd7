// A pendulum from C++: how far down is its tip after a second?
#include <clatter/api/clatter.hpp>
#include <cstdio>

int main(int, char** argv) try {
  clatter::api::Simulation pendulum({.file = argv[1]});
  pendulum.advance(1.0);
  std::printf("%.9f %.9f\n", pendulum.time(), pendulum.value("rod.tip.position.y")[0]);
} catch (const clatter::InputError& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 2;
}
