// The words of `method:` and `scheme:`, for the loader and for the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace clatter {

const std::vector<std::pair<std::string, Method>>& method_words();

}  // namespace clatter
