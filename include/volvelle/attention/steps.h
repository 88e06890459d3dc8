#pragma once

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Every intermediate of one problem on the composed path, for looking at. All (B,H,T,S) in the
/// computing type (float64 for float64, else float32) unless noted; a step that the problem does
/// not use is absent.
struct AttentionSteps {
  Tensor scores;            ///< q . k (+ q . rk + k . rq with relative vectors)
  Tensor scaled;            ///< times scale
  Tensor capped;            ///< after the soft cap
  Tensor biased;            ///< after all additive biases
  Tensor excluded;          ///< boolean: true where the key is excluded; absent without exclusion
  Tensor exponentials;      ///< exp(score - row maximum), 0 where excluded
  Tensor weights;           ///< exponentials over their row sum (the sink included)
  Tensor dropped;           ///< the weights after dropout; absent without it
  Tensor weights_unscaled;  ///< the weights had scale been 1
  Tensor row_sums;          ///< (B,H,T)
  Tensor column_sums;       ///< (B,H,S)
  Tensor output;            ///< (B,H,T,E)
  Tensor lse;               ///< (B,H,T)
  Tensor entropy;           ///< (B,H,T)
};

/// Shapes, rules and throws are those of `attend`. Throws InvalidArgument, naming the size and the
/// remedy, when the kept matrices together exceed `limit_bytes`.
VOLVELLE_API AttentionSteps attention_steps(const AttentionProblem& problem,
                                            std::size_t limit_bytes = std::size_t{2} << 30);

}  // namespace volvelle
