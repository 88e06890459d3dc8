#include "volvelle/ops/activation.h"

namespace volvelle {

std::string_view name_of(Activation activation) noexcept {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::silu:
      return "silu";
    case Activation::none:
      break;
  }
  return "none";
}

}  // namespace volvelle
