// Content hashes: SHA-256 (FIPS 180-4), used to tell whether a result belongs to a model.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "record/format.hpp"

namespace clatter::record {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

// Hash of a model with its includes: of the concatenation of the files' own hashes, in order. The paths do not enter,
// so that a model moved to another folder keeps its hash.
std::string model_hash(std::span<const SourceFile> files);

}  // namespace clatter::record
