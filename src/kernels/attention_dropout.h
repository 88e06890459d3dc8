#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// The stream of dropped weights of one head. The cell of query i and key j takes word j % 4 of
/// Philox4x32-10 at
///
///     key      = (low, high word of the seed)
///     counter  = (j / 4, low word of i, b + 2^24 * (i / 2^32), h)
///
/// so no two cells share a word while B, H <= 2^24 and T, S <= 2^34; the upper 8 bits of the last
/// word are 0 here and free for other streams under the same seed.
struct DropoutStream {
  std::uint64_t seed = 0;
  std::uint32_t batch = 0, head = 0;
  std::uint64_t threshold = 0;  ///< a word below it drops the weight; round(p * 2^32)
  double kept = 1;              ///< factor of what is kept, 1 / (1 - p)
};

template <class T>
struct DropoutKernels {
  /// factors[j * panel + x] = 0 where the weight of query `query` + x and key `key` + j is dropped,
  /// else `kept`; for x < panel, j < keys. `factors` is 64-byte aligned, panel a multiple of the
  /// forward kernels' lanes.
  void (*factors)(const DropoutStream& stream, std::int64_t query, std::int64_t key, int keys,
                  int panel, T* factors);
};

/// Of the instruction set in use.
const DropoutKernels<float>& dropout_kernels_f32();
const DropoutKernels<double>& dropout_kernels_f64();

template <class T>
const DropoutKernels<T>& dropout_kernels();
template <>
inline const DropoutKernels<float>& dropout_kernels<float>() {
  return dropout_kernels_f32();
}
template <>
inline const DropoutKernels<double>& dropout_kernels<double>() {
  return dropout_kernels_f64();
}

}  // namespace volvelle::kernels
