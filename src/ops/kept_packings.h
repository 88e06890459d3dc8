#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/ops/packed_weights.h"

namespace volvelle {

/// A weight (N,K) packed in a format: as the variable keeps it, or packed now and kept with it
/// until its numbers change; a large one is not kept while its gradient is recorded, since they
/// are about to.
/// Threads that only read the variable may call this at the same time.
PackedWeights packed_once(const Variable& weight, WeightFormat format, int threads);

/// The same of W^T (K,N), so that y W is a product with packed weights too.
PackedWeights transposed_packed_once(const Variable& weight, WeightFormat format, int threads);

/// The same of two weights for a gated product; kept with the gate as long as neither changes.
PackedWeights gated_packed_once(const Variable& gate, const Variable& up, WeightFormat format,
                                int threads);

}  // namespace volvelle
