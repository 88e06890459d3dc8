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

void TransposeWords(const uint32_t* from, int64_t stride, int rows, int columns, uint32_t* to,
                    int64_t to_stride) {
  TransposeRows(from, stride, rows, columns, uint32_t{1}, to, to_stride);
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

// The bits of a float rounded to bfloat16, ties to even, in the lower half of each word.
template <class D, class V>
HWY_INLINE V Narrowed(D du, V bits) {
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFu)), odd));
  const hn::RebindToSigned<D> di;
  const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, 0x7FFFFFFFu)));
  const auto is_nan = hn::Gt(magnitude, hn::Set(di, 0x7F800000));
  const auto nan = hn::Or(upper, hn::Set(du, 0x40u));
  return hn::BitCast(du, hn::IfThenElse(is_nan, hn::BitCast(di, nan), hn::BitCast(di, rounded)));
}

void NarrowPairs(const float* panel, int depth, uint32_t* to) {
  const hn::ScalableTag<uint32_t> du;
  const hn::RebindToFloat<decltype(du)> d;
  for (int i = 0; i < depth; i += 2, panel += 2 * kPanelColumns, to += kPanelColumns) {
#pragma GCC unroll 2
    for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
      auto pair = Narrowed(du, hn::BitCast(du, hn::Load(d, panel + c)));
      if (i + 1 < depth) {
        const auto second = hn::BitCast(du, hn::Load(d, panel + kPanelColumns + c));
        pair = hn::Or(pair, hn::ShiftLeft<16>(Narrowed(du, second)));
      }
      hn::Store(pair, du, to + c);
    }
  }
}

void WidenPairs(const uint32_t* from, int64_t from_pitch, int panels, int depth, float* to,
                int64_t to_pitch) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto upper = hn::Set(du, 0xFFFF0000u);
  // All panels by turns: with few rows to multiply with, this is where weights come from memory,
  // and several streams are read faster than one.
  for (int i = 0; i < depth; i += 2, from += kPanelColumns, to += 2 * kPanelColumns) {
    for (int p = 0; p < panels; ++p) {
      const uint32_t* HWY_RESTRICT pairs = from + p * from_pitch;
      float* HWY_RESTRICT panel = to + p * to_pitch;
#pragma GCC unroll 4
      for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
        const auto pair = hn::Load(du, pairs + c);
        hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(pair)), d, panel + c);
        if (i + 1 < depth) {
          hn::Store(hn::BitCast(d, hn::And(pair, upper)), d, panel + kPanelColumns + c);
        }
      }
    }
  }
}

void PairsFromRows(const uint16_t* from, int64_t stride, int columns, int depth, uint32_t* to,
                   int64_t pitch) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<uint16_t, decltype(du)> dh;
  const int whole = columns - columns % kPanelColumns;
  for (int i = 0; i < depth; i += 2, from += 2 * stride, to += kPanelColumns) {
    const bool lone = i + 1 == depth;
    uint32_t* HWY_RESTRICT place = to;
    for (int first = 0; first < whole; first += kPanelColumns, place += pitch) {
      hwy::Prefetch(from + kAheadRows * stride + first);
      hwy::Prefetch(from + (kAheadRows + 1) * stride + first);
#pragma GCC unroll 2
      for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
        auto pair = hn::PromoteTo(du, hn::LoadU(dh, from + first + c));
        if (!lone) {
          const auto second = hn::PromoteTo(du, hn::LoadU(dh, from + stride + first + c));
          pair = hn::Or(pair, hn::ShiftLeft<16>(second));
        }
        hn::Store(pair, du, place + c);
      }
    }
    for (int c = whole; c < columns; ++c) {
      place[c - whole] = from[c] | (lone ? 0u : uint32_t{from[stride + c]} << 16);
    }
    for (int c = columns - whole; whole < columns && c < kPanelColumns; ++c) place[c] = 0;
  }
}

const PackKernels* PackTable() {
  static constexpr PackKernels kTable{FromColumns, FromRows,   TransposeLines, TransposeWords,
                                      NarrowPairs, WidenPairs, PairsFromRows};
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
