// Fuzz targets of binary formats: the input is damage done to bytes that are whole.
//
// Formats with checksums answer random bytes with one and the same refusal. So the input is read as a list of blows,
// five bytes each, to a file that the program wrote: four bytes of place, one that is combined (exclusive or) with the
// byte there. Zero instead cuts the file at that place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace clatter::fuzz {

inline std::string damaged(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i + 5 <= size && !bytes.empty(); i += 5) {
    const std::size_t place = (std::size_t{data[i]} | std::size_t{data[i + 1]} << 8U | std::size_t{data[i + 2]} << 16U |
                               std::size_t{data[i + 3]} << 24U) %
                              bytes.size();
    if (data[i + 4] == 0)
      bytes.resize(place);
    else
      bytes[place] = static_cast<char>(static_cast<unsigned char>(bytes[place]) ^ data[i + 4]);
  }
  return bytes;
}

}  // namespace clatter::fuzz
