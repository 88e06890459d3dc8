// Per-target code: rows of queries to lanes and back.
#if defined(VOLVELLE_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_TRANSPOSE_INL_H_
#undef VOLVELLE_KERNELS_TRANSPOSE_INL_H_
#else
#define VOLVELLE_KERNELS_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Square blocks that one transposition in registers moves: as many elements as 128 bits hold.
#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr int kSquare = 1;
#else
template <class T>
inline constexpr int kSquare = 16 / sizeof(T);
#endif

// Numbers are multiplied by a factor on the way; words are moved as they are.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Scaled(V factor, V v) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return hn::Mul(factor, v);
  } else {
    return v;
  }
}

// to[c * to_stride + r] = factor * from[r * from_stride + c] over one square block.
template <class T>
HWY_INLINE void TransposeSquare(const T* HWY_RESTRICT from, int64_t from_stride, T factor,
                                T* HWY_RESTRICT to, int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  (void)from_stride;
  (void)to_stride;
  to[0] = factor * from[0];
#else
  const hn::FixedTag<T, kSquare<T>> d;
  const auto f = hn::Set(d, factor);
  if constexpr (kSquare<T> == 4) {
    const hn::FixedTag<double, 2> d2;
    using D = decltype(d);
    const auto a = Scaled<D>(f, hn::LoadU(d, from));
    const auto b = Scaled<D>(f, hn::LoadU(d, from + from_stride));
    const auto c = Scaled<D>(f, hn::LoadU(d, from + 2 * from_stride));
    const auto e = Scaled<D>(f, hn::LoadU(d, from + 3 * from_stride));
    const auto ab_low = hn::BitCast(d2, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(d2, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(d2, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(d2, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, ab_low, ce_low)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, ab_low, ce_low)), d, to + to_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, ab_high, ce_high)), d, to + 2 * to_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, ab_high, ce_high)), d, to + 3 * to_stride);
  } else {
    const auto a = hn::Mul(f, hn::LoadU(d, from));
    const auto b = hn::Mul(f, hn::LoadU(d, from + from_stride));
    hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_stride);
  }
#endif
}

// to[c * to_stride + r] = factor * from[r * from_stride + c] for r < rows, c < columns: by squares
// of 128-bit vectors, element by element at the edges.
template <class T>
HWY_INLINE void TransposeSquares(const T* HWY_RESTRICT from, int64_t from_stride, int rows,
                                 int columns, T factor, T* HWY_RESTRICT to, int64_t to_stride) {
  constexpr int kSide = kSquare<T>;
  const int whole_rows = rows - rows % kSide;
  const int whole_columns = columns - columns % kSide;
  for (int r = 0; r < whole_rows; r += kSide) {
    for (int c = 0; c < whole_columns; c += kSide) {
      TransposeSquare(from + r * from_stride + c, from_stride, factor, to + c * to_stride + r,
                      to_stride);
    }
    for (int i = r; i < r + kSide; ++i) {
      for (int c = whole_columns; c < columns; ++c) {
        to[c * to_stride + i] = factor * from[i * from_stride + c];
      }
    }
  }
  for (int r = whole_rows; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) to[c * to_stride + r] = factor * from[r * from_stride + c];
  }
}

// A vector of 128-bit blocks that lie `stride` elements apart.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const T* HWY_RESTRICT from, int64_t stride) {
#if HWY_TARGET == HWY_SCALAR
  (void)stride;
  return hn::LoadU(d, from);
#else
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kBlocks = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(T) / 16);
    return hn::Combine(d, LoadBlocks(half, from + kBlocks / 2 * stride, stride),
                       LoadBlocks(half, from, stride));
  }
#endif
}

template <class D, class T>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, T* HWY_RESTRICT to, int64_t stride) {
#if HWY_TARGET == HWY_SCALAR
  (void)stride;
  hn::StoreU(v, d, to);
#else
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kBlocks = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(T) / 16);
    StoreBlocks(half, hn::LowerHalf(half, v), to, stride);
    StoreBlocks(half, hn::UpperHalf(half, v), to + kBlocks / 2 * stride, stride);
  }
#endif
}

// Transposes the squares that lie at the same place of each vector's 128-bit blocks.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void TransposeInBlocks(D d, V* HWY_RESTRICT a) {
#if HWY_TARGET != HWY_SCALAR
  using T = hn::TFromD<D>;
  if constexpr (kSquare<T> == 4) {
    const hn::Repartition<double, D> d2;
    const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, a[0], a[1]));
    const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, a[0], a[1]));
    const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, a[2], a[3]));
    const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, a[2], a[3]));
    a[0] = hn::BitCast(d, hn::InterleaveLower(d2, low01, low23));
    a[1] = hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23));
    a[2] = hn::BitCast(d, hn::InterleaveLower(d2, high01, high23));
    a[3] = hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23));
  } else {
    const V low = hn::InterleaveLower(d, a[0], a[1]);
    a[1] = hn::InterleaveUpper(d, a[0], a[1]);
    a[0] = low;
  }
#else
  (void)d;
  (void)a;
#endif
}

// TransposeSquares for many rows: a vector's worth of rows at a time.
template <class T>
HWY_INLINE void TransposeRows(const T* HWY_RESTRICT from, int64_t from_stride, int rows,
                              int columns, T factor, T* HWY_RESTRICT to, int64_t to_stride) {
  const hn::ScalableTag<T> d;
  constexpr int kRows = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr int kSide = kSquare<T>;
  const auto f = hn::Set(d, factor);
  const int whole_columns = columns - columns % kSide;
  int row = 0;
  for (; row + kRows <= rows; row += kRows) {
    const T* HWY_RESTRICT start = from + row * from_stride;
    for (int c = 0; c < whole_columns; c += kSide) {
      hn::Vec<decltype(d)> a[kSide];
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) {
        a[i] =
            Scaled<decltype(d)>(f, LoadBlocks(d, start + i * from_stride + c, kSide * from_stride));
      }
      TransposeInBlocks(d, a);
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) hn::StoreU(a[i], d, to + (c + i) * to_stride + row);
    }
    for (int c = whole_columns; c < columns; ++c) {
      for (int i = 0; i < kRows; ++i) {
        to[c * to_stride + row + i] = factor * start[i * from_stride + c];
      }
    }
  }
  TransposeSquares(from + row * from_stride, from_stride, rows - row, columns, factor, to + row,
                   to_stride);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
