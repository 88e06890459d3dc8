#include "ops/norm.h"
#include "volvelle/ops/norms.h"

namespace volvelle {

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    const LayerNormOptions& options) {
  return normalise_rows(x, {.operation = "layer_norm",
                            .weight = weight,
                            .bias = bias,
                            .epsilon = options.epsilon,
                            .dtype = options.dtype,
                            .threads = options.threads});
}

}  // namespace volvelle
