// Files as bytes: the one way in which text of a user's file enters the program.
//
// Only regular files are read: a device or a pipe has no end, or waits for ever. Sizes are bounded before memory is
// taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace clatter {

// Meshes and tables of matrices: the largest that 32-bit numbers of nodes can describe are smaller.
constexpr std::size_t kMostBytesOfData = std::size_t{4} << 30;

// The bytes of a file; nothing when there is none or it cannot be opened. Throws InputError, by the file's name, when
// it is no regular file, larger than `most_bytes`, or cannot be read to its end.
std::optional<std::string> read_regular_file(const std::string& path, std::size_t most_bytes);

}  // namespace clatter
