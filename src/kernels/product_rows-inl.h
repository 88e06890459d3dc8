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

// kRows rows from `row` on and kVectors vectors of columns from `column` on. The block of the
// result stays in registers over all parts.
template <int kRows, int kVectors, class T>
HWY_NOINLINE void AddRowsBlock(const RowProduct<T>& product, int row, int column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  T* HWY_RESTRICT out = product.out + row * product.out_stride + column;
  const int64_t out_stride = product.out_stride;
  const int64_t stride = product.left_stride;
  const int64_t right_stride = product.right_stride;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Load(d, out + r * out_stride + v * kLanes<T>);
    }
  }
  for (int p = 0; p < product.count; ++p) {
    const T* HWY_RESTRICT left = product.parts[p].left + row * stride;
    const T* HWY_RESTRICT right = product.parts[p].right + column;
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
      right += right_stride;
#pragma GCC unroll 4
      for (int g = 0; g < (kRows + 3) / 4; ++g) ++group[g];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], d, out + r * out_stride + v * kLanes<T>);
    }
  }
}

// Column by column of blocks, so that the right rows of one stay in the nearest cache.
template <class T>
void AddRows(const RowProduct<T>& product) {
  int column = 0;
  for (; column + 2 * kLanes<T> <= product.columns; column += 2 * kLanes<T>) {
    ForBlocks<2>(product.rows, [&](auto rows, int row) HWY_ATTR {
      AddRowsBlock<decltype(rows)::value, 2>(product, row, column);
    });
  }
  if (column < product.columns) {
    ForBlocks<1>(product.rows, [&](auto rows, int row) HWY_ATTR {
      AddRowsBlock<decltype(rows)::value, 1>(product, row, column);
    });
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
