// Flexible bodies of a model that is being loaded: made by src/fem, with its cache, and shared by bodies that are
// alike.
#pragma once

#include "model/load.hpp"

namespace clatter::app {

void make_flexible_bodies(LoadOptions& options);

}  // namespace clatter::app
