#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// `theirs` on the axes of `ours`, where both agree on all axes longer than 1 in order; absent
/// where they do not.
View on_axes_of(const View& ours, const View& theirs);

}  // namespace volvelle
