#pragma once

#include "volvelle/attention/problem.h"
#include "volvelle/measure/attention_case.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The case with every length filled in. Throws InvalidArgument for lengths below 1.
AttentionCase filled_in(AttentionCase shape);

/// Random inputs of a case.
struct AttentionArrays {
  explicit AttentionArrays(const AttentionCase& filled);

  AttentionCase shape;
  Tensor q;  ///< (B,H,T,D)
  Tensor k;  ///< (B,G,S,D)
  Tensor v;
  AttentionProblem problem() const;
};

}  // namespace volvelle
