#include "record/hash.hpp"

namespace clatter::record {

std::string model_hash(std::span<const SourceFile> files) {
  std::string hashes;
  for (const SourceFile& file : files) hashes += sha256(file.text);
  return sha256(hashes);
}

}  // namespace clatter::record
