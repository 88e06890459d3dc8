#pragma once

#include <cstdint>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// How the pairs of numbers that turn together lie in the r columns of a head that turn. The
/// pairing is a property of the weights: nn/positions/pairing.h converts them.
enum class RotaryPairing : std::uint8_t {
  split_half,   ///< column i with column i + r/2
  interleaved,  ///< column 2i with column 2i + 1
};

/// Turning queries and keys by their positions before they meet; values are not turned. Pair i =
/// (a, b) of a query or key at position p becomes (a c - b s, a s + b c) with c = cosines[p, i] and
/// s = sines[p, i]. Columns r .. D pass as they are. Positions are those of the problem
/// (`query_positions`, `key_positions`; by index where absent) and lie in [0, P).
///
/// Tables are float32 or float64, (P, r/2), or (B, P, r/2) where each row of the batch has its own.
/// They need not be cosines and sines of an angle: a factor on both, or another one for keys than
/// for queries (xPos), is part of them. They must be finite wherever a token stands, padding
/// included.
/// Half-precision rows turn in float32 and are rounded to the problem's dtype once: the answer is
/// that of rows turned and stored before, as a cache of turned keys holds them.
/// Source: Su et al. 2021, arXiv:2104.09864.
struct RotaryTurn {
  View cosines = {};  ///< absent: nothing turns
  View sines = {};
  View key_cosines = {};  ///< with key_sines, for keys; absent: as for queries
  View key_sines = {};
  RotaryPairing pairing = RotaryPairing::split_half;
  /// k was turned before, as most caches keep it: tables serve the queries alone, and the keys' own
  /// say how that was done.
  bool keys_are_turned = false;

  explicit operator bool() const { return static_cast<bool>(cosines); }
};

}  // namespace volvelle
