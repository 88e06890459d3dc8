#pragma once

#include "tensor/slice.h"

namespace volvelle::testing {

using volvelle::slice;

}  // namespace volvelle::testing
