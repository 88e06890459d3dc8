#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Half-precision storage to float32 and back, `count` elements next to each other at any
/// alignment. Widening is exact; narrowing rounds to nearest, ties to even, NaN stays NaN.
struct ConvertKernels {
  void (*widen_float16)(const std::uint16_t* from, std::int64_t count, float* to);
  void (*widen_bfloat16)(const std::uint16_t* from, std::int64_t count, float* to);
  void (*narrow_float16)(const float* from, std::int64_t count, std::uint16_t* to);
  void (*narrow_bfloat16)(const float* from, std::int64_t count, std::uint16_t* to);
};

/// Of the instruction set in use.
const ConvertKernels& convert_kernels();

}  // namespace volvelle::kernels
