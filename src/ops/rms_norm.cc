#include "ops/norm.h"
#include "volvelle/ops/norms.h"

namespace volvelle {

Variable rms_norm(const Variable& x, const Variable& weight, const RmsNormOptions& options) {
  return normalise_rows(x, {.operation = "rms_norm",
                            .weight = weight,
                            .epsilon = options.epsilon,
                            .weight_offset = options.weight_offset,
                            .dtype = options.dtype,
                            .threads = options.threads,
                            .centred = false});
}

}  // namespace volvelle
