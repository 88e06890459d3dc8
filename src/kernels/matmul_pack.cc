#include "kernels/matmul_pack.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul_pack.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/lanes-inl.h"
#include "kernels/matmul.h"
#include "kernels/transpose-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void TransposeLines(const float* from, int64_t stride, int rows, int columns, float* to,
                    int64_t to_stride) {
  // Rows a multiple of 2 KiB apart share a few sets of the cache: take few of them at a time.
  if (stride * static_cast<int64_t>(sizeof(float)) % 2048 == 0) {
    TransposeSquares(from, stride, rows, columns, 1.0f, to, to_stride);
  } else {
    TransposeRows(from, stride, rows, columns, 1.0f, to, to_stride);
  }
}

void FromColumns(const float* from, int64_t stride, int columns, int depth, float* panel) {
  TransposeLines(from, stride, columns, depth, panel, kPanelColumns);
  for (int i = 0; columns < kPanelColumns && i < depth; ++i) {
    for (int c = columns; c < kPanelColumns; ++c) panel[i * kPanelColumns + c] = 0;
  }
}

// Rows between what is read and what is fetched into cache.
inline constexpr int kAheadRows = 8;

void FromRows(const float* from, int64_t stride, int columns, int depth, float* panel,
              int64_t pitch) {
  const hn::ScalableTag<float> d;
  const int whole = columns - columns % kPanelColumns;
  const std::size_t rest = static_cast<std::size_t>(columns - whole) * sizeof(float);
  // Row by row over all panels: what lies next to each other is read together.
  for (int i = 0; i < depth; ++i, from += stride, panel += kPanelColumns) {
    float* HWY_RESTRICT to = panel;
    for (int first = 0; first < whole; first += kPanelColumns, to += pitch) {
      hwy::Prefetch(from + kAheadRows * stride + first);
      hwy::Prefetch(from + kAheadRows * stride + first + kPanelColumns / 2);
#pragma GCC unroll 4
      for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
        hn::Store(hn::LoadU(d, from + first + c), d, to + c);
      }
    }
    if (rest != 0) {
      std::memcpy(to, from + whole, rest);
      std::memset(to + (columns - whole), 0, kPanelColumns * sizeof(float) - rest);
    }
  }
}

void NarrowPairs(const float* panel, int depth, uint32_t* to) {
  for (int i = 0; i < depth; i += 2, panel += 2 * kPanelColumns, to += kPanelColumns) {
    for (int c = 0; c < kPanelColumns; ++c) {
      const uint32_t first = to_bfloat16(panel[c]).bits;
      const uint32_t second = i + 1 < depth ? to_bfloat16(panel[kPanelColumns + c]).bits : 0;
      to[c] = first | second << 16;
    }
  }
}

void WidenPairs(const uint32_t* from, int depth, float* panel) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto upper = hn::Set(du, 0xFFFF0000u);
  for (int i = 0; i < depth; i += 2, from += kPanelColumns, panel += 2 * kPanelColumns) {
#pragma GCC unroll 4
    for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
      const auto pair = hn::Load(du, from + c);
      hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(pair)), d, panel + c);
      if (i + 1 < depth) {
        hn::Store(hn::BitCast(d, hn::And(pair, upper)), d, panel + kPanelColumns + c);
      }
    }
  }
}

const PackKernels* PackTable() {
  static constexpr PackKernels kTable{FromColumns, FromRows, TransposeLines, NarrowPairs,
                                      WidenPairs};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(PackTable);

const PackKernels& pack_kernels() { return *HWY_DYNAMIC_DISPATCH(PackTable)(); }

}  // namespace volvelle::kernels
#endif
