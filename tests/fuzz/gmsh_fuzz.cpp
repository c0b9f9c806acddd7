#include "fem/read.hpp"
#include "text_reader_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return clatter::fuzz::read_text(data, size, [](const std::string& text) {
    const clatter::fem::Mesh mesh = clatter::fem::read_gmsh(text, "mesh");
    // Whatever is read refers to nodes that are there.
    for (const auto& block : mesh.blocks)
      for (const int node : block.connectivity)
        if (node < 0 || node >= static_cast<int>(mesh.nodes.size())) __builtin_trap();
    for (const clatter::Vec3& x : mesh.nodes)
      if (!x.allFinite()) __builtin_trap();
  });
}
