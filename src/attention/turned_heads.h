#pragma once

#include "volvelle/attention/rotary_turn.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Queries or keys as attention turns them on the way, bit for bit: what a cache keeps, and what is
/// shown. heads (B,H,n,D) of any floating dtype, elements of a row next to each other; positions
/// (B,n) or (n) int64, contiguous, each a row of the tables: (P,r/2), or (B,P,r/2). Result: a
/// contiguous copy in the dtype of heads.
Tensor turned_heads(const View& heads, const Tensor& cosines, const Tensor& sines,
                    RotaryPairing pairing, const Tensor& positions, int threads);

}  // namespace volvelle
