#include "kernels/sums.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sums.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class T>
double Sum(const T* x, int64_t count) {
  return ElementSum(x, count);
}

template <class T>
double Products(const T* x, const T* y, int64_t count) {
  return ProductSum(x, y, count);
}

// Sums of a few columns stay in registers while all rows pass.
template <class T>
void AddRowsTo(const T* x, int64_t rows, int64_t stride, int64_t columns, double* sums) {
  const hn::ScalableTag<double> d;
  constexpr int kVectors = 4;
  constexpr int64_t kWide = kVectors * kLanes<double>;
  int64_t c = 0;
  for (; c + kWide <= columns; c += kWide) {
    hn::Vec<decltype(d)> of[kVectors];
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) of[k] = hn::LoadU(d, sums + c + k * kLanes<double>);
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = x + r * stride + c;
#pragma GCC unroll 4
      for (int k = 0; k < kVectors; ++k) {
        of[k] = hn::Add(of[k], LoadWide(d, row + k * kLanes<double>));
      }
    }
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) hn::StoreU(of[k], d, sums + c + k * kLanes<double>);
  }
  for (; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) sums[c] += Widened(x[r * stride + c]);
  }
}

// What is not finite has every bit of the exponent set. A plain loop that compilers vectorise.
template <class T, class Word, Word kExponent>
bool AllFiniteOf(const T* x, int64_t count) {
  Word full = 0;
  for (int64_t i = 0; i < count; ++i) {
    Word bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    full = static_cast<Word>(full | ((bits & kExponent) == kExponent ? 1 : 0));
  }
  return full == 0;
}

}  // namespace

const SumKernels* SumTable() {
  static constexpr SumKernels kTable{
      {Sum<float>, Sum<BFloat16>, Sum<double>},
      {Products<float>, Products<BFloat16>, Products<double>},
      {AddRowsTo<float>, AddRowsTo<BFloat16>, AddRowsTo<double>},
      {AllFiniteOf<float, uint32_t, 0x7F800000>, AllFiniteOf<BFloat16, uint16_t, 0x7F80>,
       AllFiniteOf<double, uint64_t, uint64_t{0x7FF} << 52>}};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(SumTable);

const SumKernels& sum_kernels() { return *HWY_DYNAMIC_DISPATCH(SumTable)(); }

}  // namespace volvelle::kernels
#endif
