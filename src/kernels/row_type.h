#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// How the rows that a kernel reads or writes are stored. Arithmetic is float32 for the first two.
enum class RowType : std::uint8_t { float32, bfloat16, float64 };

}  // namespace volvelle::kernels
