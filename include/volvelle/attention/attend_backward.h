#pragma once

#include <string>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// What `attend` gave for the problem; going back needs both again, as they were.
struct AttentionSaved {
  View output;  ///< (B,H,T,E)
  View lse;     ///< (B,H,T)
};

/// Arrays of the caller that are to receive gradients; an absent one is not computed. Each has the
/// shape of the problem's array of that name as the caller gave it (a bias's gradient is summed
/// over the axes along which it was broadcast), and that array's dtype or the computing type:
/// float64 for float64 problems, else float32. Any strides, but each element at a place of its own;
/// none may overlap an input or another gradient. What was there is overwritten.
struct AttentionGradients {
  MutableView q = {};
  MutableView k = {};  ///< summed over the query heads of a group, as v's
  MutableView v = {};
  MutableView bias = {};
  MutableView slopes = {};
  MutableView bias_table = {};
  MutableView bucket_table = {};
  MutableView sinks = {};
  MutableView relative_keys = {};
  MutableView relative_queries = {};
  MutableView relative_values = {};
};

/// What to compute when the library makes the arrays, in the arrays' own dtypes. An array that the
/// problem does not have has no gradient.
struct AttentionGradientRequest {
  bool q = true;
  bool k = true;
  bool v = true;
  bool bias = true;
  bool slopes = true;
  bool bias_table = true;
  bool bucket_table = true;
  bool sinks = true;
  bool relative_keys = true;
  bool relative_queries = true;
  bool relative_values = true;
};

struct AttentionGradientResult {
  Tensor q, k, v, bias, slopes, bias_table, bucket_table, sinks;
  Tensor relative_keys, relative_queries, relative_values;
};

/// The gradients of sum(grad_output * output) by everything that goes into attention, from the
/// saved output and log-sum-exp; no T x S buffer on the fused path. With P the weights before
/// dropout, M the dropout's factors (0 or 1/(1-p); 1 without) and delta_i = grad_output_i .
/// output_i:
///
///     dV   = (M * P)^T grad_output
///     dP   = M * (grad_output V^T)
///     dS   = P * (dP - delta)                         also the gradient of every additive bias
///     dsink = - sum of exp(sink - lse) * delta
///     dQ   = scale * (dS * cap') K,   dK = scale * (dS * cap')^T Q,   cap' = 1 - tanh(s / c)^2
///
/// A row that sees no key gives exactly 0 to everything, a key that no query sees receives exactly
/// 0; what is excluded is never multiplied in. The bits do not depend on the thread count nor, for
/// gradients that have a batch axis, on what else is in the batch.
/// Shapes:  grad_output (B,H,T,E), of rank and any floating dtype; saved as `attend` makes it.
/// Throws:  InvalidArgument (shapes, dtypes, overlap; a log-sum-exp that is not this problem's,
/// seen
///          by a few rows computed anew; a gradient for an array that the problem lacks),
///          Unsupported (a forced path that cannot), IoError (memory that cannot be had). Nothing
///          is written after a throw.
/// Source:  Dao et al. 2022, arXiv:2205.14135.
VOLVELLE_API void attend_backward(const AttentionProblem& problem, const AttentionSaved& saved,
                                  const View& grad_output, const AttentionGradients& gradients,
                                  const AttentionOptions& options = {});

/// The same; the library makes the arrays.
VOLVELLE_API AttentionGradientResult attend_backward(const AttentionProblem& problem,
                                                     const AttentionSaved& saved,
                                                     const View& grad_output,
                                                     const AttentionGradientRequest& request = {},
                                                     const AttentionOptions& options = {});

/// Which path attend_backward takes, and why.
struct AttentionBackwardPlan {
  AttentionPath path = AttentionPath::fused;
  std::string reason;
  std::string simd;  ///< as AttentionPlan's
};

/// Throws what attend_backward would throw for the shapes, dtypes and path.
VOLVELLE_API AttentionBackwardPlan explain_backward(const AttentionProblem& problem,
                                                    const AttentionSaved& saved,
                                                    const View& grad_output,
                                                    const AttentionOptions& options = {});

/// What is known before `attend` ran: its log-sum-exp may still turn out too coarse for the fused
/// path.
VOLVELLE_API AttentionBackwardPlan explain_backward(const AttentionProblem& problem,
                                                    const AttentionOptions& options = {});

}  // namespace volvelle
