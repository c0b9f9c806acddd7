// The remainder of the message, as a polynomial over GF(2) with its lowest bits first, by x^32 + x^28 + x^27 + ... + 1
// (0x82F63B78 with the highest power left out, reflected), between two complements.
#include "base/checksum.hpp"

#include <array>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace clatter {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;

// tables[k][b]: what byte b adds when k bytes follow it.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t r = b;
    for (int bit = 0; bit < 8; ++bit) r = (r >> 1U) ^ ((r & 1U) != 0 ? kPolynomial : 0U);
    tables[0][b] = r;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = (tables[k - 1][b] >> 8U) ^ tables[0][tables[k - 1][b] & 0xFFU];
  return tables;
}

}  // namespace

std::uint32_t crc32c_by_table(std::uint32_t before, const void* bytes, std::size_t count) {
  static constexpr auto tables = make_tables();
  const auto* p = static_cast<const unsigned char*>(bytes);
  std::uint32_t r = ~before;
  for (; count >= 8; count -= 8, p += 8) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t b = i < 4 ? p[i] ^ ((r >> (8 * i)) & 0xFFU) : p[i];
      next ^= tables[7 - i][b];
    }
    r = next;
  }
  for (; count > 0; --count) r = (r >> 8U) ^ tables[0][(r ^ *p++) & 0xFFU];
  return ~r;
}

#if defined(__SSE4_2__)

std::uint32_t crc32c(std::uint32_t before, const void* bytes, std::size_t count) {
  const auto* p = static_cast<const unsigned char*>(bytes);
  std::uint64_t r = ~before;
  for (; count >= 8; count -= 8, p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    r = _mm_crc32_u64(r, word);
  }
  auto last = static_cast<std::uint32_t>(r);
  for (; count > 0; --count) last = _mm_crc32_u8(last, *p++);
  return ~last;
}

#else

std::uint32_t crc32c(std::uint32_t before, const void* bytes, std::size_t count) {
  return crc32c_by_table(before, bytes, count);
}

#endif

}  // namespace clatter
