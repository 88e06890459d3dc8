#pragma once

#include "volvelle/measure/training_bench.h"

namespace volvelle {

/// Gradients of a model of the tiny shape on a short batch beside those of its twin in float64:
/// the largest difference of a parameter's, as a share of that gradient's norm. Throws
/// InternalError beyond what `precision` explains.
double check_training_gradients(DType precision, int threads);

/// Throws InternalError for a first loss that is not near that of an even guess, log V.
void check_first_loss(const TrainingShape& shape, double loss);

}  // namespace volvelle
