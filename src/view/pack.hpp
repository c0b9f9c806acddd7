// Numbers inside a page: bytes of equal weight are put together (which makes smooth columns of numbers compress well),
// deflated (zlib) and written in base64. The page undoes it with what browsers have built in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clatter::view {

// `bytes` holds items of `item` bytes each.
std::string packed(std::string_view bytes, std::size_t item);

}  // namespace clatter::view
