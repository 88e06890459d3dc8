#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The rows a norm multiplies by and adds, in the arithmetic's dtype: the variables' own numbers
/// where they can serve as they are.
class NormFactors {
 public:
  NormFactors(const Variable& weight, const Variable& bias, double weight_offset, DType arithmetic,
              std::int64_t width);

  const void* factors() const { return factors_.raw(); }
  const void* bias() const { return bias_ ? bias_.raw() : nullptr; }

 private:
  Tensor factors_;
  Tensor bias_;
};

}  // namespace volvelle
