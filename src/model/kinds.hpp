// Names of kinds as the model language writes them.
#pragma once

#include "model/model.hpp"

namespace clatter {

const char* joint_kind_name(JointKind kind);

}  // namespace clatter
