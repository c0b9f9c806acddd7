// What a terminal shows of flexible bodies while and after they are made.
#pragma once

#include <string>

#include "study/flexible.hpp"

namespace clatter::app {

// With a bar on stderr while bodies are reduced, unless `quiet`.
study::BodyMaking making_shown(bool quiet);

// "body `rod`: 2 583 degrees of freedom reduced to 12 elastic coordinates in 1.2 s" or "..., from the cache".
std::string made_text(const study::MadeBody& made);

}  // namespace clatter::app
