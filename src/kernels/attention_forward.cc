#include "kernels/attention_forward.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_forward.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/attention_finish-inl.h"
#include "kernels/attention_scores-inl.h"
#include "kernels/attention_values-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kVectors, int kAcross, class T>
HWY_INLINE void TileOf(const TileStep<T>& step) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T raised[kVectors * kLanes<T>];
  HWY_ALIGN T factor[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) {
    hn::Store(hn::Load(d, step.maximum + v * kLanes<T>), d, raised + v * kLanes<T>);
  }
  FinalScores<kVectors, kAcross>(step, raised);
  if (step.moment != nullptr) {
    Exponentials<kVectors, kAcross, true>(step, raised, factor);
  } else {
    Exponentials<kVectors, kAcross, false>(step, raised, factor);
  }
  if (step.factors != nullptr) DropWeights<kVectors, kAcross>(step);
  if (step.guarded) {
    AccumulateGuarded<kVectors, kAcross>(step, factor);
  } else {
    Accumulate<kVectors, kAcross>(step, 0, step.keys, factor, step.fresh);
  }
}

template <class T>
void Tile(const TileStep<T>& step) {
  if (step.vectors == 2) {
    TileOf<2, 2>(step);
  } else if (step.across == 2) {
    TileOf<1, 2>(step);
  } else {
    TileOf<1, 1>(step);
  }
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void ColumnSumsOf(const TileStep<T>& step, const T* lse, double* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  HWY_ALIGN T unused[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) hn::Store(hn::Zero(d), d, unused + v * kLanes<T>);
  FinalScores<kVectors, kAcross>(step, unused);
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int j = 0; j < step.keys; ++j) {
    V total = hn::Zero(d);
    for (int v = 0; v < kVectors; ++v) {
      const V score = hn::Load(d, step.scores + j * kPanel + v * kLanes<T>);
      const V weight = Power(d, hn::Sub(score, hn::Load(d, lse + v * kLanes<T>)));
      total = hn::Add(total, hn::IfThenZeroElse(hn::Eq(score, none), weight));
    }
    sums[j] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
  }
}

template <class T>
void ColumnSums(const TileStep<T>& step, const T* lse, double* sums) {
  if (step.vectors == 2) {
    ColumnSumsOf<2, 2>(step, lse, sums);
  } else if (step.across == 2) {
    ColumnSumsOf<1, 2>(step, lse, sums);
  } else {
    ColumnSumsOf<1, 1>(step, lse, sums);
  }
}

template <class T>
void Products(const TileStep<T>& step) {
  T* const none = nullptr;
  if (step.vectors == 2) {
    Scores<2, 2, false>(step, 0, step.keys, none);
  } else if (step.across == 2) {
    Scores<1, 2, false>(step, 0, step.keys, none);
  } else {
    Scores<1, 1, false>(step, 0, step.keys, none);
  }
}

template <class T>
void Transpose(const T* from, int64_t row_stride, int rows, int columns, T factor, T* to,
               int panel) {
  // Rows a multiple of 2 KiB apart share a few sets of the cache: take few of them at a time.
  if (row_stride * static_cast<int64_t>(sizeof(T)) % 2048 == 0) {
    TransposeSquares(from, row_stride, rows, columns, factor, to, panel);
  } else {
    TransposeRows(from, row_stride, rows, columns, factor, to, panel);
  }
  for (int c = 0; rows < panel && c < columns; ++c) {
    for (int r = rows; r < panel; ++r) to[static_cast<int64_t>(c) * panel + r] = 0;
  }
}

// to[c][r] = 1 where from[r * row_stride + c] is not 0, else 0; 0 for r from `rows` up to `panel`.
template <class T>
void ExpandBytes(const uint8_t* from, int64_t row_stride, int rows, int columns, T* to, int panel) {
  int row = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d8;
  for (; row + 16 <= rows; row += 16) {
    const uint8_t* start = from + row * row_stride;
    for (int c = 0; c + 16 <= columns; c += 16) {
      hn::Vec<decltype(d8)> a[16], b[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) a[i] = hn::LoadU(d8, start + i * row_stride + c);
      // Four rounds of interleaving row i with row i + 8 turn 16 rows into 16 columns.
#pragma GCC unroll 2
      for (int round = 0; round < 2; ++round) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          b[2 * i] = hn::InterleaveLower(d8, a[i], a[i + 8]);
          b[2 * i + 1] = hn::InterleaveUpper(d8, a[i], a[i + 8]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          a[2 * i] = hn::InterleaveLower(d8, b[i], b[i + 8]);
          a[2 * i + 1] = hn::InterleaveUpper(d8, b[i], b[i + 8]);
        }
      }
      HWY_ALIGN uint8_t column[16];
      for (int i = 0; i < 16; ++i) {
        hn::Store(a[i], d8, column);
        T* HWY_RESTRICT place = to + static_cast<int64_t>(c + i) * panel + row;
        for (int r = 0; r < 16; ++r) place[r] = column[r] != 0 ? T{1} : T{0};
      }
    }
    for (int c = columns - columns % 16; c < columns; ++c) {
      for (int i = 0; i < 16; ++i) {
        to[static_cast<int64_t>(c) * panel + row + i] =
            start[i * row_stride + c] != 0 ? T{1} : T{0};
      }
    }
  }
#endif
  for (; row < rows; ++row) {
    for (int c = 0; c < columns; ++c) {
      to[static_cast<int64_t>(c) * panel + row] = from[row * row_stride + c] != 0 ? T{1} : T{0};
    }
  }
  for (; row < panel; ++row) {
    for (int c = 0; c < columns; ++c) to[static_cast<int64_t>(c) * panel + row] = 0;
  }
}

template <class T>
const ForwardKernels<T>& Table() {
  static constexpr ForwardKernels<T> kTable{kLanes<T>, kPerNat<T>, Transpose<T>,  ExpandBytes<T>,
                                            Tile<T>,   Finish<T>,  ColumnSums<T>, Products<T>};
  return kTable;
}

const ForwardKernels<float>* TableF32() { return &Table<float>(); }
const ForwardKernels<double>* TableF64() { return &Table<double>(); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(TableF32);
HWY_EXPORT(TableF64);

const ForwardKernels<float>& forward_kernels_f32() { return *HWY_DYNAMIC_DISPATCH(TableF32)(); }
const ForwardKernels<double>& forward_kernels_f64() { return *HWY_DYNAMIC_DISPATCH(TableF64)(); }

}  // namespace volvelle::kernels
#endif
