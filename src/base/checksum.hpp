// Checksums against damage: CRC-32C (Castagnoli's polynomial; RFC 3720, appendix B.4), which processors have an
// instruction for. Every change of up to 32 neighbouring bits is found, any other with all but 2^-32 of certainty. Not
// against forgery; that is base/sha256.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clatter {

// Of the bytes that gave `before` (0: none) and those that follow them.
std::uint32_t crc32c(std::uint32_t before, const void* bytes, std::size_t count);

// The same without the instruction.
std::uint32_t crc32c_by_table(std::uint32_t before, const void* bytes, std::size_t count);

}  // namespace clatter
