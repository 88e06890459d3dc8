#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/figures.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// A causal language model to be trained: pre-LN with a final norm, GELU by tanh, F = 4C, biases,
/// learned positions, the head tied to the embedding and without bias.
struct TrainingShape {
  const char* name;
  std::int64_t width, heads, layers, vocabulary;
  std::int64_t batch, tokens;  ///< of a step
};

/// tiny, small, gpt2-124m.
VOLVELLE_API std::span<const TrainingShape> training_shapes();

struct TrainingCase {
  std::string shape = "tiny";        ///< of training_shapes()
  DType precision = DType::float32;  ///< what products multiply: float32 or bfloat16
};

struct TrainingFigures : Figures {
  TrainingCase shape;
  double tokens_per_second = 0;
  std::size_t peak_bytes = 0;        ///< most memory in use at once, beyond what was before the row
  double loss = 0;                   ///< of the first step
  std::vector<double> first_losses;  ///< of the first steps, the first included
};

/// Useful operations of a step: products of the matrices forward and, twice that, backward; scores
/// and values of the pairs that causality leaves, counted alike; the head.
VOLVELLE_API double training_operations(const TrainingShape& shape);

/// Times whole steps: forward, cross-entropy, backward, clipping, AdamW; always on the same batch,
/// from weights that are a formula. Before, the gradients of a model of the tiny shape are compared
/// with those of its twin in float64, and the first loss with that of an even guess.
/// Throws:  InvalidArgument (an unknown shape, with a suggestion; another precision), InternalError
///          when a check fails, IoError for memory that cannot be had.
VOLVELLE_API TrainingFigures measure_training(const TrainingCase& one,
                                              const MeasureOptions& options = {});

/// Every shape in every precision.
VOLVELLE_API const std::vector<TrainingCase>& training_cases();

}  // namespace volvelle
