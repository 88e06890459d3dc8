#pragma once

#include <cstdint>

#include "volvelle/nn/token_places.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

class CacheStep;

/// How a module is run, passed down to everything in it.
struct ForwardOptions {
  bool training = false;  ///< dropout acts
  /// What products multiply where parameters are float32: float32, or bfloat16 with float32 sums
  /// (activations between products are then bfloat16; the residual stream, norms, softmax and loss
  /// stay float32). Parameters in float64 make everything float64.
  DType compute = DType::float32;
  std::uint64_t dropout_seed =
      0;            ///< another for each step; every place of dropout derives its own
  int threads = 0;  ///< at most this many; 0: the process's setting (set_threads)
  /// Of the batch that the model is given: which tokens are real and where they stand. The arrays
  /// must outlive the call, and where gradients are wanted the way back.
  TokenPlaces tokens = {};
  /// Attention reads and appends to a cache instead of seeing its own tokens only (ModelCache).
  CacheStep* cache = nullptr;
};

}  // namespace volvelle
