#pragma once

#include "attention/resolved.h"
#include "volvelle/attention/attend_backward.h"

namespace volvelle {

/// The arrays of a backward call on the problem's axes, checked. A gradient that was not asked for
/// is absent; what is to be written is writable though the pointer says const.
struct ResolvedBackward {
  Strided4 output, grad_output;  ///< (B,H,T,E); output in q's dtype, grad_output any floating one
  Strided4 lse;                  ///< (B,H,T), fourth stride 0
  Strided4 grad_q, grad_k, grad_v;
  Strided4 grad_bias;                ///< on (B,H,T,S); stride 0 along each axis that is summed over
  Strided2 grad_slopes, grad_sinks;  ///< (H, 1)
  Strided2 grad_bias_table;          ///< (H, 2M+1)
  Strided2 grad_bucket_table;        ///< (H, buckets)
  /// On (B, H, 2M+1, width): stride 0 along the axes that are summed over.
  Strided4 grad_relative_keys, grad_relative_queries, grad_relative_values;

  bool any_wanted() const {
    return scores_wanted() || grad_v.present || grad_relative_values.present || grad_sinks.present;
  }
  bool scores_wanted() const {  ///< whether dS is needed at all
    return grad_q.present || grad_k.present || grad_bias.present || grad_slopes.present ||
           grad_bias_table.present || grad_bucket_table.present || grad_relative_keys.present ||
           grad_relative_queries.present;
  }
};

/// Checks the arrays of a backward call against its problem, as resolve_outputs does those of a
/// forward call. Throws InvalidArgument.
ResolvedBackward resolve_backward(const ResolvedAttention& problem, const AttentionProblem& views,
                                  const AttentionSaved& saved, const View& grad_output,
                                  const AttentionGradients& gradients);

/// Computes the log-sum-exp of a few query rows anew and compares it with the saved one: that of
/// another problem fits by its shape and would give plausible numbers. Throws InvalidArgument,
/// naming the row. Looks at one row in 16384, at least one and at most 8.
void check_saved(const ResolvedAttention& problem, const ResolvedBackward& backward);

}  // namespace volvelle
