#pragma once

#include <cstdint>
#include <string_view>

#include "volvelle/base/export.h"

namespace volvelle {

/// What a linear layer does to each element of X W^T + b before it adds the residual.
enum class Activation : std::uint8_t {
  none,
  relu,       ///< max(x, 0); NaN stays NaN
  gelu,       ///< x * (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel 2016, arXiv:1606.08415)
  gelu_tanh,  ///< x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2, of the same paper
  silu,       ///< x / (1 + e^-x)
};

/// "none", "relu", "gelu", "gelu_tanh", "silu".
VOLVELLE_API std::string_view name_of(Activation activation) noexcept;

}  // namespace volvelle
