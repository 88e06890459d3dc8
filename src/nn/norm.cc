#include "volvelle/nn/norm.h"

#include <cmath>
#include <string>

#include "nn/parameter.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/norms.h"

namespace volvelle {
namespace {

void check_norm(const char* module, std::int64_t width, double epsilon) {
  check_size(module, "width", width);
  if (std::isfinite(epsilon) && epsilon >= 0) return;
  throw InvalidArgument("[" + std::string(module) + "] epsilon " + std::to_string(epsilon) +
                        " must be finite and not negative");
}

}  // namespace

std::string_view name_of(NormKind kind) noexcept { return kind == NormKind::rms ? "rms" : "layer"; }

LayerNorm::LayerNorm(std::int64_t width, double epsilon, DType dtype) : epsilon_(epsilon) {
  check_norm("layer norm", width, epsilon);
  weight_ = make_parameter("layer norm", dtype, {width}, 1);
  bias_ = make_parameter("layer norm", dtype, {width});
  add_parameter("weight", weight_);
  add_parameter("bias", bias_);
}

Variable LayerNorm::forward(const Variable& x, const ForwardOptions& how,
                            std::optional<DType> dtype) const {
  return layer_norm(x, weight_, bias_,
                    {.epsilon = epsilon_, .dtype = dtype, .threads = how.threads});
}

RmsNorm::RmsNorm(std::int64_t width, double epsilon, DType dtype) : epsilon_(epsilon) {
  check_norm("RMS norm", width, epsilon);
  weight_ = make_parameter("RMS norm", dtype, {width}, 1);
  add_parameter("weight", weight_);
}

Variable RmsNorm::forward(const Variable& x, const ForwardOptions& how,
                          std::optional<DType> dtype) const {
  return rms_norm(
      x, weight_,
      {.epsilon = epsilon_, .weight_offset = 0, .dtype = dtype, .threads = how.threads});
}

std::unique_ptr<Norm> make_norm(NormKind kind, std::int64_t width, double epsilon, DType dtype) {
  if (kind == NormKind::rms) {
    return std::make_unique<RmsNorm>(width, epsilon == 0 ? 1e-6 : epsilon, dtype);
  }
  return std::make_unique<LayerNorm>(width, epsilon == 0 ? 1e-5 : epsilon, dtype);
}

}  // namespace volvelle
