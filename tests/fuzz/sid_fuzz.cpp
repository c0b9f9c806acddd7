#include "fem/sid.hpp"
#include "text_reader_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return clatter::fuzz::read_text(data, size, [](const std::string& text) {
    const clatter::ReducedBody body = clatter::fem::read_sid(text, "body");
    if (body.M.rows() != body.n || body.K.rows() != body.n || !body.M.allFinite() || !body.K.allFinite())
      __builtin_trap();
  });
}
