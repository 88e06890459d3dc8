#pragma once

#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// The standard ALiBi slopes of `heads` heads, steepest first: 2^(-8i/p), i = 1..p, for the largest
/// power of two p <= heads; the heads beyond p take every other slope of the 2p sequence.
/// Throws InvalidArgument for heads < 1.
/// Source: Press et al. 2021, arXiv:2108.12409.
VOLVELLE_API std::vector<double> alibi_slopes(int heads);

}  // namespace volvelle
