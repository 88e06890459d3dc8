#pragma once

#include <cstddef>
#include <span>

namespace volvelle {

/// Numbers in a block: each of its first half makes two normals with its partner in the second.
inline constexpr std::size_t kNormalBlock = 16;

/// Turns floats in [0, 1), whole blocks of them, into normals, in place: slots j and j + 8 of a
/// block become r cos t and r sin t with r = sqrt(-2 log(1 - slot[j])) and t = 2 pi slot[j + 8],
/// times `deviation`, plus `mean`. The bits are those of PyTorch on a CPU with AVX2, whichever
/// processor computes them.
void normals_from_units(std::span<float> slots, float mean, float deviation);

/// What the above computes in between, for tests: log of a number in [2^-24, 1], sine and cosine of
/// an angle in [0, 2 pi).
float block_log(float number);
void block_sine_cosine(float angle, float& sine, float& cosine);

}  // namespace volvelle
