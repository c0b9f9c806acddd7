#include "view/pack.hpp"

#include <zlib.h>

#include <new>

namespace clatter::view {
namespace {

std::string base64(const unsigned char* data, std::size_t size) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    const unsigned a = data[i], b = i + 1 < size ? data[i + 1] : 0U, c = i + 2 < size ? data[i + 2] : 0U;
    const unsigned bits = a << 16U | b << 8U | c;
    out += kLetters[bits >> 18U & 63U];
    out += kLetters[bits >> 12U & 63U];
    out += i + 1 < size ? kLetters[bits >> 6U & 63U] : '=';
    out += i + 2 < size ? kLetters[bits & 63U] : '=';
  }
  return out;
}

}  // namespace

std::string packed(std::string_view bytes, std::size_t item) {
  const std::size_t items = bytes.size() / item;
  std::string planes(bytes.size(), '\0');
  for (std::size_t i = 0; i < items; ++i)
    for (std::size_t k = 0; k < item; ++k) planes[k * items + i] = bytes[i * item + k];
  uLongf size = compressBound(planes.size());
  std::string deflated(size, '\0');
  constexpr int kLevel = 6;
  if (compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(planes.data()),
                planes.size(), kLevel) != Z_OK)
    throw std::bad_alloc();
  return base64(reinterpret_cast<const unsigned char*>(deflated.data()), size);
}

}  // namespace clatter::view
