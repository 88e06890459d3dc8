// Per-target code: sums of weighted rows, the weights read by broadcast along their rows. Lanes
// are columns of the result.
#if defined(VOLVELLE_KERNELS_PRODUCT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_PRODUCT_ROWS_INL_H_
#undef VOLVELLE_KERNELS_PRODUCT_ROWS_INL_H_
#else
#define VOLVELLE_KERNELS_PRODUCT_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention_backward.h"
#include "kernels/lanes-inl.h"
#include "kernels/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kRows rows from `row` on of a band, kVectors vectors wide. The block of the result stays in
// registers over all parts.
template <int kRows, int kVectors, class T>
HWY_NOINLINE void AddRowsBlock(const RowProduct<T>& product, int row, int band) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kBand = 2 * kLanes<T>;
  T* HWY_RESTRICT out = product.out + band * product.out_band + row * kBand;
  const int64_t stride = product.left_stride;

  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Load(d, out + r * kBand + v * kLanes<T>);
    }
  }
  for (int p = 0; p < product.count; ++p) {
    const T* HWY_RESTRICT left = product.parts[p].left + row * stride;
    const T* HWY_RESTRICT right = product.parts[p].right + band * product.right_band;
    const int depth = product.parts[p].depth;
    const T* HWY_RESTRICT group[(kRows + 3) / 4];
#pragma GCC unroll 4
    for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] = left + 4 * g * stride;
    for (int i = 0; i < depth; ++i) {
      V b[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) b[v] = hn::Load(d, right + v * kLanes<T>);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const V a = hn::Set(d, group[r / 4][(r % 4) * stride]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(a, b[v], sum[r][v]);
      }
      right += kBand;
#pragma GCC unroll 4
      for (int g = 0; g < (kRows + 3) / 4; ++g) ++group[g];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], d, out + r * kBand + v * kLanes<T>);
    }
  }
}

// Band by band, so that the right rows of one stay in the nearest cache.
template <class T>
void AddRows(const RowProduct<T>& product) {
  const int vectors = product.columns / kLanes<T>;
  for (int band = 0; band < vectors / 2; ++band) {
    ForBlocks<2>(product.rows, [&](auto rows, int row) HWY_ATTR {
      AddRowsBlock<decltype(rows)::value, 2>(product, row, band);
    });
  }
  if (vectors % 2 == 0) return;
  ForBlocks<1>(product.rows, [&](auto rows, int row) HWY_ATTR {
    AddRowsBlock<decltype(rows)::value, 1>(product, row, vectors / 2);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
