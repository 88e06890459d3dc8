#pragma once

#include <cstdint>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Numbers of about unit variance, the same on every machine for the same seed.
Tensor random_array(DType dtype, const Shape& shape, std::uint64_t seed);

}  // namespace volvelle
