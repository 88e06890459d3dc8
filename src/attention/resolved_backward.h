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

  bool scores_wanted() const {  ///< whether dS is needed at all
    return grad_q.present || grad_k.present || grad_bias.present || grad_slopes.present ||
           grad_bias_table.present || grad_bucket_table.present;
  }
};

}  // namespace volvelle
