#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// Instruction sets that this build holds kernels for and this CPU has, best first. "avx3" is
/// AVX-512; "avx3_amx" and "avx3_bf16" are AVX-512 with bfloat16 multiplied on the matrix unit and
/// by its dot product: they differ for bfloat16 only. The first call that multiplies bfloat16
/// asks the system for the matrix unit; where it is refused, "avx3_amx" does as "avx3".
VOLVELLE_API std::vector<std::string> simd_targets();

/// The one in use.
VOLVELLE_API std::string simd_target();

/// Makes every later call of the process use one of simd_targets(); "best" undoes it. Throws
/// InvalidArgument, listing the choices, for any other name.
VOLVELLE_API void set_simd_target(std::string_view name);

}  // namespace volvelle
