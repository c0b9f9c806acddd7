#include "fem/read.hpp"
#include "text_reader_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  clatter::fuzz::read_text(data, size, [](const std::string& text) {
    const auto matrix = clatter::fem::read_matrix_market(text, "matrix");
    if (matrix.rows() < 1 || matrix.cols() < 1) __builtin_trap();
  });
  return clatter::fuzz::read_text(data, size, [](const std::string& text) {
    if (clatter::fem::read_table(text, "table").size() < 1) __builtin_trap();
  });
}
