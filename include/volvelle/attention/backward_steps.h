#pragma once

#include <cstddef>

#include "volvelle/attention/problem.h"
#include "volvelle/attention/steps.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// The way back through the softmax of one problem, for looking at. All (B,H,T,S) in the computing
/// type (float64 for float64, else float32) unless noted; 0 where the key is excluded and in rows
/// that see no key.
struct AttentionBackwardSteps {
  Tensor grad_weights;   ///< by the weights: grad_output . v, times dropout's factor where there
                         ///< is dropout
  Tensor delta;          ///< (B,H,T): the sum of weight * grad_weights along a row, which is also
                         ///< grad_output . output
  Tensor grad_scores;    ///< by the scores the softmax reads: weight * (grad_weights - delta)
  Tensor grad_products;  ///< by q . k and its relative terms: grad_scores * scale, and
                         ///< * (1 - tanh(s/c)^2) with a soft cap
};

/// `forward` is what attention_steps gave for the same problem; grad_output as attend_backward
/// takes it. Sums are made in double.
/// Throws:  InvalidArgument for a `forward` or grad_output of another shape and, naming the size
///          and the remedy, when the kept matrices exceed `limit_bytes`.
VOLVELLE_API AttentionBackwardSteps
attention_backward_steps(const AttentionProblem& problem, const AttentionSteps& forward,
                         const View& grad_output, std::size_t limit_bytes = std::size_t{2} << 30);

}  // namespace volvelle
