// The folder of the project, for tests that read its models and pages. One small file is compiled with it, so that the
// others do not depend on where the project lies.
#pragma once

#include <string>

namespace clatter {

std::string source_root();

}  // namespace clatter
