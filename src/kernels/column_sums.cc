#include "kernels/column_sums.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/column_sums.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kRows rows on top of what `sums` holds, or on top of nothing. Rows are walked along memory, a few
// at a time so that sums are read and written more seldom than numbers.
template <int kRows, class S, class T>
HWY_INLINE void AddRows(const S* HWY_RESTRICT from, int64_t stride, int64_t columns, bool fresh,
                        T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  int64_t c = 0;
  for (; c + kLanes<T> <= columns; c += kLanes<T>) {
    auto sum = fresh ? hn::Zero(d) : hn::LoadU(d, sums + c);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sum = hn::Add(sum, LoadStored(d, from + r * stride + c));
    hn::StoreU(sum, d, sums + c);
  }
  const int rest = static_cast<int>(columns - c);
  if (rest == 0) return;
  auto sum = fresh ? hn::Zero(d) : LoadStoredPart(d, sums + c, rest);
  for (int r = 0; r < kRows; ++r) {
    sum = hn::Add(sum, LoadStoredPart(d, from + r * stride + c, rest));
  }
  StoreStoredPart(sum, d, sums + c, rest);
}

template <class S, class T>
void AddUp(const S* from, int64_t stride, int64_t rows, int64_t columns, T* sums) {
  if (rows == 0) return std::fill(sums, sums + columns, T{0});
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) AddRows<4>(from + r * stride, stride, columns, r == 0, sums);
  for (; r < rows; ++r) AddRows<1>(from + r * stride, stride, columns, r == 0, sums);
}

const ColumnKernels* ColumnTable() {
  static constexpr ColumnKernels kTable{
      {AddUp<float, float>, AddUp<BFloat16, float>, AddUp<double, double>}};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(ColumnTable);

const ColumnKernels& column_kernels() { return *HWY_DYNAMIC_DISPATCH(ColumnTable)(); }

}  // namespace volvelle::kernels
#endif
