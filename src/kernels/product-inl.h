// Per-target code: the register-blocked products that attention is made of. Lanes are columns of
// the right operand (queries); the left operand is read by broadcast, in place, with any row
// stride, so nothing is packed but the right operand.
#if defined(VOLVELLE_KERNELS_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_PRODUCT_INL_H_
#undef VOLVELLE_KERNELS_PRODUCT_INL_H_
#else
#define VOLVELLE_KERNELS_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of the left operand held in registers at once. With two vectors of columns 13 x 2
// accumulators fill 32 registers, 6 x 2 fill 16; one vector leaves room for more rows.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 || HWY_ARCH_ARM_A64
template <int kVectors>
inline constexpr int kBlockRows = kVectors == 2 ? 13 : 16;
#else
template <int kVectors>
inline constexpr int kBlockRows = kVectors == 2 ? 6 : 12;
#endif

// kVectors vectors of columns are computed, out of arrays whose rows hold kAcross.
//
// sum[r][c] = sum over d of left[r * stride + d] * right[d][c], for kRows rows.
template <int kRows, int kVectors, int kAcross, class D, class T = hn::TFromD<D>>
HWY_INLINE void DotSums(D d, const T* HWY_RESTRICT left, int64_t stride,
                        const T* HWY_RESTRICT right, int width,
                        hn::Vec<D> (&sum)[kRows][kVectors]) {
  using V = hn::Vec<D>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kColumns = kLanes * kAcross;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  // Four rows share a pointer: base + {0,1,2,3} * stride needs two index registers in all.
  const T* HWY_RESTRICT group[(kRows + 3) / 4];
#pragma GCC unroll 4
  for (int g = 0; g < (kRows + 3) / 4; ++g) group[g] = left + 4 * g * stride;
  for (int i = 0; i < width; ++i) {
    V b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) b[v] = hn::Load(d, right + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V a = hn::Set(d, group[r / 4][(r % 4) * stride]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(a, b[v], sum[r][v]);
    }
    right += kColumns;
#pragma GCC unroll 4
    for (int g = 0; g < (kRows + 3) / 4; ++g) ++group[g];
  }
}

// What is added to a product's rows: row r of it gets the numbers from at + r * stride on.
template <class T>
struct AddedRows {
  const T* at = nullptr;  // null: nothing
  int64_t stride = 0;
};

// sum[r][c] += at[r * stride + c].
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void AddRowsTo(D d, const AddedRows<T>& added, hn::Vec<D> (&sum)[kRows][kVectors]) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Add(sum[r][v], hn::LoadU(d, added.at + r * added.stride + v * kLanes));
    }
  }
}

// Stores the sums of DotSums, and what is added to them, as rows of `out`.
// kMax: also takes the largest value of each column into `maximum`.
template <int kRows, int kVectors, int kAcross, bool kMax, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void DotBlock(D d, const T* HWY_RESTRICT left, int64_t stride,
                           const T* HWY_RESTRICT right, int width, AddedRows<T> added,
                           T* HWY_RESTRICT out, T* HWY_RESTRICT maximum) {
  using V = hn::Vec<D>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kColumns = kLanes * kAcross;
  V sum[kRows][kVectors];
  DotSums<kRows, kVectors, kAcross>(d, left, stride, right, width, sum);
  if (added.at != nullptr) AddRowsTo<kRows, kVectors>(d, added, sum);
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) hn::Store(sum[r][v], d, out + r * kColumns + v * kLanes);
    if (!kMax) continue;
    // By halving, for a chain of 13 would take longer than the products it delays.
#pragma GCC unroll 4
    for (int level = 0; level < 4; ++level) {
      const int half = 8 >> level;
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) {
        if (r < half && r + half < kRows) sum[r][v] = hn::Max(sum[r][v], sum[r + half][v]);
      }
    }
    hn::Store(hn::Max(sum[0][v], hn::Load(d, maximum + v * kLanes)), d, maximum + v * kLanes);
  }
}

// out[r][c] = factor[c] * out[r][c] + sum over j of left[j * stride + r] * right[j][c]; kFresh:
// what was in `out` counts as 0 and is not read.
template <int kRows, int kVectors, int kAcross, bool kFresh, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void AccumulateBlock(D d, const T* HWY_RESTRICT left, int64_t stride,
                                  const T* HWY_RESTRICT right, int count, T* HWY_RESTRICT out,
                                  const T* HWY_RESTRICT factor) {
  using V = hn::Vec<D>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kColumns = kLanes * kAcross;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = kFresh ? hn::Zero(d)
                         : hn::Mul(hn::Load(d, factor + v * kLanes),
                                   hn::Load(d, out + r * kColumns + v * kLanes));
    }
  }
  for (int j = 0; j < count; ++j) {
    V b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) b[v] = hn::Load(d, right + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V a = hn::Set(d, left[r]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(a, b[v], sum[r][v]);
    }
    right += kColumns;
    left += stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], d, out + r * kColumns + v * kLanes);
    }
  }
}

// Cuts `rows` into blocks of nearly equal height, as many rows as the registers hold, and calls
// block(std::integral_constant<int, height>, first row) for each.
template <class Block, int... kHeights>
HWY_INLINE void ForBlocksOf(int rows, Block&& block, std::integer_sequence<int, kHeights...>) {
  constexpr int kMost = sizeof...(kHeights);
  const int blocks = (rows + kMost - 1) / kMost;
  const int height = rows / blocks;
  const int taller = rows % blocks;  // so many blocks get one row more
  int first = 0;
  for (int b = 0; b < blocks; ++b) {
    const int wanted = height + (b < taller ? 1 : 0);
    (void)((wanted == kHeights + 1 &&
            (block(std::integral_constant<int, kHeights + 1>(), first), true)) ||
           ...);
    first += wanted;
  }
}

template <int kVectors, class Block>
HWY_INLINE void ForBlocks(int rows, Block&& block) {
  if (rows > 0) ForBlocksOf(rows, block, std::make_integer_sequence<int, kBlockRows<kVectors>>());
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
