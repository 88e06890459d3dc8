#pragma once

namespace volvelle {

/// a * b + c, rounded once wherever the sum of the exact product and c fits a double. Unlike
/// std::fma it needs no instruction that a processor may lack, and loops over it become vectors.
inline float fused(float a, float b, float c) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) +
                            static_cast<double>(c));
}

}  // namespace volvelle
