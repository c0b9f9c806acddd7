// Content hashes, used to tell whether a result belongs to a model.
#pragma once

#include <span>
#include <string>

#include "base/sha256.hpp"
#include "record/format.hpp"

namespace clatter::record {

using clatter::sha256;

// Hash of a model with its includes: of the concatenation of the files' own hashes, in order. The paths do not enter,
// so that a model moved to another folder keeps its hash.
std::string model_hash(std::span<const SourceFile> files);

}  // namespace clatter::record
