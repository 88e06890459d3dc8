// Per-target code: the register blocks of matrix products. Lanes are columns of the right operand,
// which lies in panels of 32; the left operand is read by broadcast with any strides.
#if defined(VOLVELLE_KERNELS_MATMUL_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_MATMUL_BLOCK_INL_H_
#undef VOLVELLE_KERNELS_MATMUL_BLOCK_INL_H_
#else
#define VOLVELLE_KERNELS_MATMUL_BLOCK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/lanes-inl.h"
#include "kernels/matmul.h"
#include "kernels/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr int kPanelVectors = kPanelColumns / kLanes<T>;

// Where the vectors of one register block lie: kVectors of them next to each other in a panel, or
// in as many neighbouring panels as they fill.
template <class T, int kVectors>
struct VectorPlaces {
  static constexpr int kPanels = kVectors <= kPanelVectors<T> ? 1 : kVectors / kPanelVectors<T>;
  static constexpr int kEach = kVectors / kPanels;
  static constexpr int panel(int v) { return v / kEach; }
  static constexpr int column(int v) { return v % kEach * kLanes<T>; }
};

// Lines to fetch into cache while a block is computed: one row of 32 of the right operand per step
// of depth.
template <class T>
struct Ahead {
  const T* at;
  int64_t stride;
};

// Rows of the left operand that the next block reads, fetched a line per step of depth: the first
// to read them would wait for memory at every line, for rows lie too far apart for the hardware to
// look ahead.
template <class T>
struct LeftAhead {
  const T* at = nullptr;  // null: they are near already
  int64_t row_stride = 0;
  int lines = 0;  // of one row
};

template <class T>
inline constexpr int kLineOf = 64 / sizeof(T);

// Rows of the own panel between what is read and what is fetched, where no other rows read it.
inline constexpr int kAheadRows = 16;

// out[r][c] (+)= sum over i < depth, in order, of left[r * row_stride + i * left_step] *
// right[i][c] for kRows rows and kVectors vectors of columns. The sum has accumulators of its own
// and is added to what `out` held at the end, so its bits do not depend on the block's shape.
template <int kRows, int kVectors, bool kFetchesLeft, class T>
HWY_NOINLINE void MatmulBlock(const BasicMatmulStep<T>& step, const T* HWY_RESTRICT left,
                              const T* HWY_RESTRICT right, T* HWY_RESTRICT out, Ahead<T> ahead,
                              LeftAhead<T> left_ahead) {
  using Places = VectorPlaces<T, kVectors>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  // Four rows share a pointer: base + {0,1,2,3} * stride needs two index registers in all.
  const int64_t row_stride = step.row_stride;
  const int64_t left_step = step.left_step;
  const T* HWY_RESTRICT group[(kRows + 3) / 4];
#pragma GCC unroll 4
  for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] = left + 4 * g * row_stride;
  const T* HWY_RESTRICT panel[Places::kPanels];
#pragma GCC unroll 8
  for (int p = 0; p < Places::kPanels; ++p) panel[p] = right + p * step.right_panel;
  [[maybe_unused]] int line = 0;
  for (int i = 0; i < step.depth; ++i) {
    if constexpr (kFetchesLeft) {
      hwy::Prefetch(left_ahead.at + line * kLineOf<T>);
      if (++line == left_ahead.lines) {
        line = 0;
        left_ahead.at += left_ahead.row_stride;
      }
    }
    hwy::Prefetch(ahead.at);
    hwy::Prefetch(ahead.at + kPanelColumns / 2);
    ahead.at += ahead.stride;
    V b[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      b[v] = hn::Load(d, panel[Places::panel(v)] + Places::column(v));
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V a = hn::Set(d, group[r / 4][(r % 4) * row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(a, b[v], sum[r][v]);
    }
#pragma GCC unroll 8
    for (int p = 0; p < Places::kPanels; ++p) panel[p] += kPanelColumns;
#pragma GCC unroll 4
    for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] += left_step;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      T* HWY_RESTRICT place =
          out + Places::panel(v) * step.out_panel + r * kPanelColumns + Places::column(v);
      hn::Store(step.fresh ? sum[r][v] : hn::Add(hn::Load(d, place), sum[r][v]), d, place);
    }
  }
}

// Few rows leave registers for more columns, which hides the latency of the additions.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 || HWY_ARCH_ARM_A64
inline constexpr int kWideRows = 6;
template <int kRows>
inline constexpr int kWideVectors = kRows <= 2 ? 8 : 4;
#else
inline constexpr int kWideRows = 2;
template <int kRows>
inline constexpr int kWideVectors = kRows == 1 ? 8 : 4;
#endif

// All rows of the step against one panel. While they are at it they fetch the next panel, each
// block of rows its share; a single block has no time for that and fetches its own panel.
template <class T>
HWY_INLINE void OnePanel(const BasicMatmulStep<T>& step, int panel) {
  constexpr int kVectors = kPanelVectors<T> < 2 ? kPanelVectors<T> : 2;
  const T* right = step.right + panel * step.right_panel;
  T* out = step.out + panel * step.out_panel;
  const int blocks = (step.rows + kBlockRows<kVectors> - 1) / kBlockRows<kVectors>;
  Ahead<T> ahead{right + kAheadRows * kPanelColumns, kPanelColumns};
  int64_t share = 0;
  if (blocks > 1 && panel + 1 < step.panels) {
    ahead.at = right + step.right_panel;
    ahead.stride = (kPanelColumns + blocks - 1) / blocks;
    share = ahead.stride * step.depth;
  }
  if (panel == 0 && blocks > 1 && step.left_step == 1) {
    LeftAhead<T> left_ahead{.row_stride = step.row_stride,
                            .lines = (step.depth + kLineOf<T> - 1) / kLineOf<T>};
    ForBlocks<kVectors>(step.rows, [&](auto rows, int first) {
      left_ahead.at = step.left + (first + rows) * step.row_stride;
      for (int c = 0; c < kPanelColumns; c += kVectors * kLanes<T>) {
        MatmulBlock<decltype(rows)::value, kVectors, true>(
            step, step.left + first * step.row_stride, right + c, out + first * kPanelColumns + c,
            ahead, left_ahead);
      }
      ahead.at += share;
    });
    return;
  }
  ForBlocks<kVectors>(step.rows, [&](auto rows, int first) {
    for (int c = 0; c < kPanelColumns; c += kVectors * kLanes<T>) {
      MatmulBlock<decltype(rows)::value, kVectors, false>(
          step, step.left + first * step.row_stride, right + c, out + first * kPanelColumns + c,
          ahead, {});
    }
    ahead.at += share;
  });
}

template <int kRows, class T>
HWY_INLINE void WidePanels(const BasicMatmulStep<T>& step) {
  constexpr int kVectors = kWideVectors<kRows>;
  using Places = VectorPlaces<T, kVectors>;
  int panel = 0;
  for (; panel + Places::kPanels <= step.panels; panel += Places::kPanels) {
    const T* right = step.right + panel * step.right_panel;
    const Ahead<T> ahead{right + kAheadRows * kPanelColumns, kPanelColumns};
    for (int c = 0; c < kPanelColumns; c += Places::kEach * kLanes<T>) {
      MatmulBlock<kRows, kVectors, false>(step, step.left, right + c,
                                          step.out + panel * step.out_panel + c, ahead, {});
    }
  }
  for (; panel < step.panels; ++panel) OnePanel(step, panel);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
