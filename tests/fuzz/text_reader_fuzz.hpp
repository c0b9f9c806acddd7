// Fuzz targets of readers of text: any bytes are understood or an InputError with a message, never a crash, a hang, a
// leak or memory out of proportion to the input (libFuzzer's limits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace clatter::fuzz {

template <class Read>
int read_text(const std::uint8_t* data, std::size_t size, const Read& read) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    read(text);
  } catch (const InputError& e) {
    if (e.diagnostics().empty() || e.what()[0] == '\0') __builtin_trap();
  }
  return 0;
}

}  // namespace clatter::fuzz
