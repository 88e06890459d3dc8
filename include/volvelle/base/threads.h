#pragma once

#include "volvelle/base/export.h"

namespace volvelle {

/// How many threads a call may use when it does not say; starts as the number of CPUs that the
/// process may run on.
VOLVELLE_API int threads() noexcept;

/// Sets it. Throws InvalidArgument below 1 or above 1024.
VOLVELLE_API void set_threads(int count);

}  // namespace volvelle
