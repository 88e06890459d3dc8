#pragma once

#include <cstddef>
#include <cstdint>

namespace volvelle::kernels {

/// `rounds` rounds of independent multiply-adds on registers, on the instruction set in use.
/// Returns how many operations that were; `sink` takes a result, so that nothing is optimised out.
double fma_rounds_f32(std::int64_t rounds, float* sink);
double fma_rounds_f64(std::int64_t rounds, double* sink);

/// Reads `count` floats at a 64-byte boundary once; `count` is a multiple of 1024. Returns a sum.
float read_once(const float* data, std::size_t count);

}  // namespace volvelle::kernels
