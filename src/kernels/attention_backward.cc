#include "kernels/attention_backward.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention_gradients-inl.h"
#include "kernels/attention_values-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/product-inl.h"
#include "kernels/product_rows-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {  // other families have functions of the same names

// Calls body(vectors, across) with the step's two counts as constants.
template <class T, class Body>
HWY_INLINE void ForVectors(const BackwardStep<T>& step, Body&& body) {
  if (step.tile.vectors == 2) {
    body(std::integral_constant<int, 2>(), std::integral_constant<int, 2>());
  } else if (step.tile.across == 2) {
    body(std::integral_constant<int, 1>(), std::integral_constant<int, 2>());
  } else {
    body(std::integral_constant<int, 1>(), std::integral_constant<int, 1>());
  }
}

template <class T>
void Weights(const BackwardStep<T>& step) {
  ForVectors(step,
             [&](auto vectors, auto across) HWY_ATTR { WeightsOf<vectors(), across()>(step); });
}

template <class T>
void ScoreGrads(const BackwardStep<T>& step) {
  ForVectors(step,
             [&](auto vectors, auto across) HWY_ATTR { ScoreGradsOf<vectors(), across()>(step); });
}

// to *= by, element by element of a step.
template <class T>
void MultiplyElements(const BackwardStep<T>& step, const T* HWY_RESTRICT by, T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const int panel = step.tile.across * kLanes<T>;
  for (int j = 0; j < step.tile.keys; ++j) {
    for (int v = 0; v < step.tile.vectors; ++v) {
      const int64_t at = static_cast<int64_t>(j) * panel + v * kLanes<T>;
      hn::Store(hn::Mul(hn::Load(d, by + at), hn::Load(d, to + at)), d, to + at);
    }
  }
}

template <class T>
void Drop(const BackwardStep<T>& step) {
  MultiplyElements(step, step.tile.factors, step.tile.scores);
}

template <class T>
void ThroughCap(const BackwardStep<T>& step) {
  MultiplyElements(step, step.cap_slopes, step.score_grads);
}

template <class T>
void QueryGrads(const BackwardStep<T>& step, T* out) {
  const hn::ScalableTag<T> d;
  const TileStep<T>& tile = step.tile;
  HWY_ALIGN T ones[2 * kLanes<T>];
  for (int v = 0; v < 2; ++v) hn::Store(hn::Set(d, T{1}), d, ones + v * kLanes<T>);
  ForVectors(step, [&](auto vectors, auto across) HWY_ATTR {
    constexpr int kVectors = vectors();
    constexpr int kAcross = across();
    ForBlocks<kVectors>(tile.width, [&](auto rows, int first) HWY_ATTR {
      AccumulateBlock<decltype(rows)::value, kVectors, kAcross, false>(
          d, tile.k + first, tile.k_stride, step.score_grads, tile.keys,
          out + first * kAcross * kLanes<T>, ones);
    });
  });
}

// Every lane to the one above; lane 0 becomes 0.
template <class T>
class UpOneLane {
 public:
  using D = hn::ScalableTag<T>;
#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE hn::Vec<D> operator()(hn::Vec<D> /*v*/) const { return hn::Zero(D()); }
#else
  using Index = hn::TFromD<hn::RebindToSigned<D> >;

  HWY_INLINE hn::Vec<D> operator()(hn::Vec<D> v) const {
    HWY_ALIGN Index lanes[kLanes<T>];
    for (int i = 0; i < kLanes<T>; ++i) lanes[i] = static_cast<Index>(i > 0 ? i - 1 : 0);
    const auto up = hn::TableLookupLanes(v, hn::SetTableIndices(D(), lanes));
    return hn::IfThenZeroElse(hn::FirstN(D(), 1), up);
  }
#endif
};

// lines[lane - key] = the sum of the step's gradients of scores on that diagonal. A register holds
// the sums of as many neighbouring diagonals as it has lanes and goes down with the keys: its top
// one is complete then, and stays where it is put while the others are written over.
template <int kVectors, class T>
HWY_NOINLINE void SumDiagonals(const BackwardStep<T>& step, T* HWY_RESTRICT lines) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kL = kLanes<T>;
  const int64_t panel = step.tile.across * kL;
  const int keys = step.tile.keys;
  const T* HWY_RESTRICT grads = step.score_grads;
  const UpOneLane<T> up;
  V sums = hn::Zero(d);
  // A second vector's lanes meet the same diagonals as the first's, as many keys later.
  for (int j = kVectors == 2 ? -kL : 0; j < keys; ++j) {
    V add = j >= 0 ? hn::Load(d, grads + j * panel) : hn::Zero(d);
    if (kVectors == 2 && j + kL < keys) {
      add = hn::Add(add, hn::Load(d, grads + (j + kL) * panel + kL));
    }
    sums = hn::Add(up(sums), add);
    hn::StoreU(sums, d, lines - j);
  }
}

template <class T>
void DiagonalSums(const BackwardStep<T>& step, double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const int keys = step.tile.keys;
  const int past = step.tile.vectors * kLanes<T>;
  HWY_ALIGN T room[kTileKeys + kMaxPanel];
  T* HWY_RESTRICT lines = room + keys - 1;
  if (step.tile.vectors == 2) {
    SumDiagonals<2>(step, lines);
  } else {
    SumDiagonals<1>(step, lines);
  }
  int at = 1 - keys;
  for (; at + kLanes<double> <= past; at += kLanes<double>) {
    auto sum = hn::LoadU(narrow, lines + at);
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(hn::Add(hn::LoadU(d, sums + at), sum), d, sums + at);
    } else {
      hn::StoreU(hn::Add(hn::LoadU(d, sums + at), hn::PromoteTo(d, sum)), d, sums + at);
    }
  }
  for (; at < past; ++at) sums[at] += static_cast<double>(lines[at]);
}

// Rows of a head lie as far apart as tokens do, where the hardware does not look ahead.
constexpr int kRowsAhead = 8;

template <class T>
HWY_INLINE void FetchRow(const T* row, int width) {
  for (int i = 0; i < width; i += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(row + i);
}

template <class T>
HWY_INLINE void FetchRowToWrite(const T* row, int width) {
  for (int i = 0; i < width; i += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(row + i, 1);
}

template <class T>
void RowDots(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int rows, int width,
             T* to) {
  const hn::ScalableTag<T> d;
  constexpr int kStep = 2 * kLanes<T>;
  for (int r = 0; r < rows; ++r, a += a_stride, b += b_stride) {
    if (r + kRowsAhead < rows) {
      FetchRow(a + kRowsAhead * a_stride, width);
      FetchRow(b + kRowsAhead * b_stride, width);
    }
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    int i = 0;
    for (; i + kStep <= width; i += kStep) {
      even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
      odd = hn::MulAdd(hn::LoadU(d, a + i + kLanes<T>), hn::LoadU(d, b + i + kLanes<T>), odd);
    }
    if (i + kLanes<T> <= width) {  // heads of one vector are common
      even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
      i += kLanes<T>;
    }
    T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    for (; i < width; ++i) sum += a[i] * b[i];
    to[r] = sum;
  }
}

template <class T>
void CopyRows(const T* from, int64_t stride, int rows, int width, T factor, T* to,
              int64_t to_stride, int to_width) {
  const hn::ScalableTag<T> d;
  const auto f = hn::Set(d, factor);
  for (int r = 0; r < rows; ++r, from += stride, to += to_stride) {
    if (r + kRowsAhead < rows) {
      FetchRow(from + kRowsAhead * stride, width);
      FetchRowToWrite(to + kRowsAhead * to_stride, to_width);
    }
    int i = 0;
    for (; i + kLanes<T> <= width; i += kLanes<T>) {
      hn::StoreU(hn::Mul(f, hn::LoadU(d, from + i)), d, to + i);
    }
    // Zeros first, in vectors, over what is left of the row too.
    int j = i;
    for (; j + kLanes<T> <= to_width; j += kLanes<T>) hn::StoreU(hn::Zero(d), d, to + j);
    for (; i < width; ++i) to[i] = factor * from[i];
    for (i = i > j ? i : j; i < to_width; ++i) to[i] = 0;
  }
}

template <class T>
void ToRows(const T* from, int64_t stride, int rows, int columns, T factor, T* to,
            int64_t to_stride) {
  for (int c = 0; c < columns; ++c) FetchRowToWrite(to + c * to_stride, rows);
  TransposeRows(from, stride, rows, columns, factor, to, to_stride);
}

template <class T>
bool RowsFinite(const T* rows, int64_t stride, int count, int width) {
  return AllFinite(rows, stride, count, width);
}

template <class T>
const BackwardKernels<T>& BackwardTable() {
  static constexpr BackwardKernels<T> kTable{
      Weights<T>,      ScoreGrads<T>, Drop<T>,     ThroughCap<T>, QueryGrads<T>, AddRows<T>,
      DiagonalSums<T>, RowDots<T>,    CopyRows<T>, ToRows<T>,     RowsFinite<T>};
  return kTable;
}

}  // namespace

const BackwardKernels<float>* BackwardTableF32() { return &BackwardTable<float>(); }
const BackwardKernels<double>* BackwardTableF64() { return &BackwardTable<double>(); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(BackwardTableF32);
HWY_EXPORT(BackwardTableF64);

const BackwardKernels<float>& backward_kernels_f32() {
  return *HWY_DYNAMIC_DISPATCH(BackwardTableF32)();
}
const BackwardKernels<double>& backward_kernels_f64() {
  return *HWY_DYNAMIC_DISPATCH(BackwardTableF64)();
}

}  // namespace volvelle::kernels
#endif
