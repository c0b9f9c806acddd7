// SHA-256, FIPS 180-4 section 6.2. H: the eight words of the digest, W: the message schedule, K: its constants, the
// first 32 bits of the fractional parts of the cube roots of the first 64 primes. K and the initial H (square roots of
// the first 8 primes) are computed from that definition by exact integer roots instead of being tabulated.
#include "base/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace clatter {
namespace {

using Word = std::uint32_t;
__extension__ using Wide = unsigned __int128;

constexpr std::array<unsigned, 64> first_primes() {
  std::array<unsigned, 64> primes{};
  std::size_t found = 0;
  for (unsigned n = 2; found < primes.size(); ++n) {
    bool prime = true;
    for (std::size_t i = 0; i < found; ++i) prime = prime && n % primes[i] != 0;
    if (prime) primes[found++] = n;
  }
  return primes;
}

// floor(2^32 p^(1/order)) mod 2^32: the largest x with x^order <= p 2^(32 order), by bisection. x < 2^37 for p < 312,
// so that x^3 < 2^111 fits.
constexpr Word root_fraction(unsigned p, int order) {
  const Wide target = static_cast<Wide>(p) << (32 * order);
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 37U;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    Wide power = 1;
    for (int i = 0; i < order; ++i) power *= middle;
    (power <= target ? low : high) = middle;
  }
  return static_cast<Word>(low);
}

struct Constants {
  std::array<Word, 64> K{};
  std::array<Word, 8> H{};
};

Constants make_constants() {
  Constants c;
  const auto primes = first_primes();
  for (std::size_t i = 0; i < 64; ++i) c.K[i] = root_fraction(primes[i], 3);
  for (std::size_t i = 0; i < 8; ++i) c.H[i] = root_fraction(primes[i], 2);
  return c;
}

void absorb(const unsigned char* block, const std::array<Word, 64>& K, std::array<Word, 8>& H) {
  std::array<Word, 64> W{};
  for (std::size_t t = 0; t < 16; ++t) {
    for (std::size_t b = 0; b < 4; ++b) W[t] = (W[t] << 8U) | block[4 * t + b];
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const Word s0 = std::rotr(W[t - 15], 7) ^ std::rotr(W[t - 15], 18) ^ (W[t - 15] >> 3U);
    const Word s1 = std::rotr(W[t - 2], 17) ^ std::rotr(W[t - 2], 19) ^ (W[t - 2] >> 10U);
    W[t] = s1 + W[t - 7] + s0 + W[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = H;
  for (std::size_t t = 0; t < 64; ++t) {
    const Word S1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word T1 = h + S1 + ((e & f) ^ (~e & g)) + K[t] + W[t];
    const Word S0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word T2 = S0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + T1;
    d = c;
    c = b;
    b = a;
    a = T1 + T2;
  }
  const std::array<Word, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) H[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants = make_constants();
  std::array<Word, 8> H = constants.H;
  std::vector<unsigned char> message(bytes.begin(), bytes.end());
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  const std::uint64_t bits = std::uint64_t{8} * bytes.size();
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<unsigned char>(bits >> shift));
  for (std::size_t at = 0; at < message.size(); at += 64) absorb(message.data() + at, constants.K, H);
  std::string digest;
  for (const Word word : H) {
    for (int shift = 28; shift >= 0; shift -= 4) digest.push_back("0123456789abcdef"[(word >> shift) & 0xFU]);
  }
  return digest;
}

}  // namespace clatter
