#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/measure/training_bench.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A model of a shape and the one batch it is trained on. Weights and tokens are formulas that
/// another program can follow (benchmarks/comparison/training.py): matrix number n, counted from 0
/// in the order of the parameters, has 0.02 * sqrt(3) * u with u the numbers of RandomNumbers(n) in
/// [-1, 1); factors of norms are 1, biases 0; tokens are those of RandomNumbers(1000) below V.
struct TrainingModel {
  explicit TrainingModel(const TrainingShape& shape, DType dtype = DType::float32);

  /// Mean cross-entropy of the next tokens.
  Variable loss(const ForwardOptions& how) const;

  LanguageModel model;
  Tensor ids, labels;  ///< (B,T), labels one token ahead
};

}  // namespace volvelle
