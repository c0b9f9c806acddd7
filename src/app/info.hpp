// The two halves of `clatter info`.
#pragma once

#include <string>

#include "app/commands.hpp"

namespace clatter::app {

int info_model(const std::string& path, const study::Changes& changes, const Console& console);
int info_result(const std::string& path, const Console& console);

}  // namespace clatter::app
