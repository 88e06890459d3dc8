#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// Instruction sets that this build holds kernels for and this CPU has, best first ("avx3" is
/// AVX-512).
VOLVELLE_API std::vector<std::string> simd_targets();

/// The one in use.
VOLVELLE_API std::string simd_target();

/// Makes every later call of the process use one of simd_targets(); "best" undoes it. Throws
/// InvalidArgument, listing the choices, for any other name.
VOLVELLE_API void set_simd_target(std::string_view name);

}  // namespace volvelle
