#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Whether no byte belongs to both views. Proven by their byte ranges, or, where those interleave
/// (slices of one buffer), by where their runs of bytes fall between the larger strides. False
/// also where that proof fails.
bool provably_disjoint(const View& a, const View& b);

/// Whether no two elements of the view share a byte; false also where axes interleave so that
/// sorting them by stride does not show it.
bool provably_injective(const View& view);

}  // namespace volvelle
