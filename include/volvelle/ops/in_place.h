#pragma once

#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// to += from, element by element. Any strides; float32 and bfloat16 in any pairing (added in
/// float32, rounded once), float64 to float64. Threads do not change a bit.
/// Throws: InvalidArgument (shapes, dtypes, elements of `to` that meet in memory; `from` that
/// overlaps `to` without being the very same array).
VOLVELLE_API void add_into(const MutableView& to, const View& from, int threads = 0);

/// x *= factor, which is rounded to x's computing type first. float32, bfloat16, float64.
VOLVELLE_API void scale_in_place(const MutableView& x, double factor, int threads = 0);

}  // namespace volvelle
