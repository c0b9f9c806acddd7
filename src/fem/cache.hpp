// Reduced bodies kept on disk, by the hash of everything they were made from.
//
// A file holds a version, the key, and the values as they are in memory (little-endian); it is written under another
// name and then renamed, so that no reader ever sees half of one; a checksum stands at its end. A file that does not
// fit is taken as absent: the body is made anew and the file replaced.
#pragma once

#include <optional>
#include <string>

#include "fem/make.hpp"

namespace clatter::fem {

class Cache {
 public:
  // Folder as in MakeOptions.
  explicit Cache(const std::string& folder);
  bool enabled() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }

  std::optional<FlexibleModel> load(const std::string& key) const;
  void store(const std::string& key, const FlexibleModel& model) const;  // failure to write is no error

 private:
  std::string path(const std::string& key) const;
  std::string folder_;
};

// The bytes of a reduced body, and back; nothing for bytes that are no body of this version.
std::string to_bytes(const FlexibleModel& model);
std::optional<FlexibleModel> from_bytes(const std::string& bytes);

}  // namespace clatter::fem
