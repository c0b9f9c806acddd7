#define CLATTER_INSTANCE template
#include "base/eigen.hpp"
