#pragma once

#include <cstdint>
#include <span>

#include "attention/resolved.h"

namespace volvelle {

/// The known ways to get attention wrong inside its loops, one at a time; `none` is the oracle.
/// Used to diagnose a foreign result and as the controls that checks must fail.
enum class AttentionFault : unsigned char {
  none,
  softmax_over_columns,  ///< weights normalised down the keys' columns
  strict_diagonal,       ///< j < p instead of j <= p
  mask_after_softmax,    ///< excluded weights dropped after normalising
  mask_inverted,         ///< keep read as hide
  key_heads_tiled,       ///< head h reads key head h mod G
  cap_dropped,
  bias_before_scaling,  ///< (q.k + bias) * scale
  slope_sign,           ///< +slope * |p - j|
  sink_dropped,
  relative_shifted,   ///< relative vectors of the offset beside
  relative_sign,      ///< of offset p - j instead of j - p
  relative_unscaled,  ///< scale * q.k + q.rk + k.rq
};

/// Plain loops in double, written from the formula; results are rounded once, on storing.
/// Memory: one row of scores (with softmax_over_columns: one head's matrix).
void attend_oracle(const ResolvedAttention& problem, const ResolvedOutputs& outputs,
                   AttentionFault fault = AttentionFault::none);

/// One query row: which batch row, query head and query.
struct QueryRow {
  std::int64_t batch = 0, head = 0, query = 0;
};

/// The oracle on some query rows only, for checking samples of a problem too large for all of it.
/// `output` receives rows x E doubles, not rounded to the problem's dtype; `lse` and `entropy` one
/// per row. What is null is not computed.
void attend_oracle_rows(const ResolvedAttention& problem, std::span<const QueryRow> rows,
                        double* output, double* lse = nullptr, double* entropy = nullptr);

}  // namespace volvelle
