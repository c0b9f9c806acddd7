#include "source_root.hpp"

namespace clatter {

std::string source_root() { return CLATTER_ROOT; }

}  // namespace clatter
