#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/attention/rotary_turn.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Rows that make heads, one behind the other.
struct RotaryHeads {
  std::int64_t heads = 1;       ///< H of a query projection, G of a key projection, 1 of a norm
  std::int64_t head_width = 0;  ///< D
  std::int64_t columns = 0;     ///< r, those of each head that turn; 0: D
};

/// The rows of a packed projection: H heads of queries, G of keys, G of values.
struct PackedHeads {
  std::int64_t heads = 1;       ///< H
  std::int64_t key_heads = 0;   ///< G; 0: as many as heads
  std::int64_t head_width = 0;  ///< D
  std::int64_t columns = 0;     ///< r; 0: D
};

/// Which row of a head becomes row i when its pairing is changed: with D = 4, from interleaved to
/// split_half, 0 2 1 3. Throws InvalidArgument unless columns are even and no more than the head.
VOLVELLE_API std::vector<std::int64_t> pairing_order(RotaryPairing from, RotaryPairing to,
                                                     std::int64_t head_width,
                                                     std::int64_t columns = 0);

/// A query or key projection for the other pairing: a model that turns by `to` with these rows has
/// the scores of one that turns by `from` with those given. Elements only move, so there and back
/// is the same bits.
///
/// Shapes:  rows (H D, ...) of any rank from 1 on: weight (H D, C), bias (H D), or with heads = 1
///          the weight (D) of a norm on queries or keys. Any dtype.
/// Throws:  InvalidArgument.
VOLVELLE_API Tensor with_pairing(const View& rows, RotaryPairing from, RotaryPairing to,
                                 const RotaryHeads& heads);

/// The same for a packed projection, weight ((H + 2 G) D, C) or bias ((H + 2 G) D): queries and
/// keys are converted, values pass as they are.
VOLVELLE_API Tensor packed_with_pairing(const View& rows, RotaryPairing from, RotaryPairing to,
                                        const PackedHeads& heads);

}  // namespace volvelle
