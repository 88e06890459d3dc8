#pragma once

#include <cstdint>
#include <span>

#include "attention/oracle.h"
#include "attention/resolved_backward.h"

namespace volvelle {

/// The known ways to get gradients wrong, one at a time; `none` is the oracle. Used to diagnose a
/// foreign result and as the controls that checks must fail.
enum class BackwardFault : unsigned char {
  none,
  scale_missing,         ///< dQ and dK without the factor `scale`
  delta_missing,         ///< dS = P * dP
  cap_slope_missing,     ///< the soft cap taken for the identity
  bias_not_summed,       ///< only the first slice of each axis that the bias was broadcast on
  key_heads_not_summed,  ///< only the first query head of each group reaches dK and dV
  sink_missing,          ///< weights normalised without the sink
  dropout_unscaled,      ///< what is kept is not divided by 1 - p
  turn_back_missing,     ///< dQ and dK of the rows as they were turned
  q_halved,              ///< one gradient, half of it
  k_halved,
  v_halved,
  bias_halved,
  slopes_halved,
  bias_table_halved,
  bucket_table_halved,
  sinks_halved,
  relative_keys_halved,
  relative_queries_halved,
  relative_values_halved,
  q_dropped,  ///< one gradient, none of it
  k_dropped,
  v_dropped,
  bias_dropped,
  slopes_dropped,
  bias_table_dropped,
  bucket_table_dropped,
  sinks_dropped,
  relative_keys_dropped,
  relative_queries_dropped,
  relative_values_dropped,
};
inline constexpr int kBackwardFaults = static_cast<int>(BackwardFault::relative_values_dropped) + 1;

/// Whether sums are taken over the terms or over their magnitudes: what rounding errors of the
/// terms may add up to, element by element.
enum class GradientSum : unsigned char { terms, magnitudes };

/// Plain loops in double from the formulas in attend_backward.h; results are rounded once, on
/// storing. Softmax is computed anew: saved output and log-sum-exp are not read. Memory: a few rows
/// of scores and a double for each element asked for.
void attend_backward_oracle(const ResolvedAttention& problem, const ResolvedBackward& backward,
                            BackwardFault fault = BackwardFault::none,
                            GradientSum sum = GradientSum::terms);

/// The gradient of q at some query rows only, for checking samples of a problem too large for all
/// of it: rows x D doubles, not rounded.
void attend_backward_oracle_queries(const ResolvedAttention& problem,
                                    const ResolvedBackward& backward,
                                    std::span<const QueryRow> rows, double* grad_q,
                                    BackwardFault fault = BackwardFault::none);

/// One key row: which batch row, key head and key.
struct KeyRow {
  std::int64_t batch = 0, key_head = 0, key = 0;
};

/// Where the log-sum-exp and delta of the query rows come from: computed anew, O(T S (D + E)) for
/// each query head that reads a key head asked for; or the saved ones, O(T (D + E)) for each row,
/// which hide what a fault (sink_missing, dropout_unscaled) does to them.
enum class RowStatistics : unsigned char { recomputed, saved };

/// The gradients of k and v at some key rows only: rows x D and rows x E doubles, not rounded;
/// nothing where null.
void attend_backward_oracle_keys(const ResolvedAttention& problem, const ResolvedBackward& backward,
                                 std::span<const KeyRow> rows, double* grad_k, double* grad_v,
                                 RowStatistics statistics = RowStatistics::recomputed,
                                 BackwardFault fault = BackwardFault::none);

}  // namespace volvelle
