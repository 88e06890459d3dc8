#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Root mean square of the finite elements of a view of rank 4 at most; 0 when there are none.
double root_mean_square_of(const View& view);

}  // namespace volvelle
