#include "ops/curve.h"

#include <string>

namespace volvelle {

kernels::Curve curve_of(Activation activation, const OperatorChecks& checks) {
  switch (activation) {
    case Activation::none:
      return kernels::Curve::identity;
    case Activation::relu:
      return kernels::Curve::relu;
    case Activation::gelu:
      return kernels::Curve::gelu;
    case Activation::gelu_tanh:
      return kernels::Curve::gelu_tanh;
    case Activation::silu:
      return kernels::Curve::silu;
  }
  checks.refuse("activation " + std::to_string(static_cast<int>(activation)) +
                " is none of none, relu, gelu, gelu_tanh, silu");
}

}  // namespace volvelle
