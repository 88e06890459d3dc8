#pragma once

#include <cstdint>

#include "attention/resolved.h"

namespace volvelle {

/// Which rows of a problem, for what turns them differs.
enum class TurnedRows : std::uint8_t { queries, keys };

/// A pair (a, b) becomes (a c - b s, a s + b c); back, by the transposed table, (a c + b s,
/// b c - a s). `magnitudes`: back, the signless bound of it, |a c| + |b s|.
enum class TurnDirection : std::uint8_t { forward, back, magnitudes };

/// Tokens [first, first + count) of batch row b; their positions say how far they turn.
struct TokenRows {
  TurnedRows which;
  std::int64_t b, first, count;
};

/// Turns one head's rows of some tokens in place, in plain loops: `rows` holds them without gaps, D
/// numbers each. Nothing where those rows do not turn. Forward, what a half-precision problem turns
/// is rounded to its dtype, so that the result is the same as from rows that were turned and stored
/// before.
template <class Real>
void turn_rows(const ResolvedAttention& problem, const TokenRows& tokens, TurnDirection direction,
               Real* rows);

}  // namespace volvelle
