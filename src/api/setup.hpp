// From the public Setup to the program's own terms. Not installed.
#pragma once

#include "api/clatter.hpp"
#include "study/changes.hpp"

namespace clatter::api {

study::Changes changes_of(const Setup& setup);
Model load(const Setup& setup);

}  // namespace clatter::api
