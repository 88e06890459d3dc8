#include "kernels/elementwise.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class Stored>
using TagOf = hn::ScalableTag<std::conditional_t<std::is_same_v<Stored, double>, double, float>>;

template <class A, class B>
void Add(const A* a, const B* b, int64_t count, A* out) {
  const TagOf<A> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StoreStored(hn::Add(LoadStored(d, a + i), LoadStored(d, b + i)), d, out + i);
  }
  const int rest = static_cast<int>(count - i);
  if (rest == 0) return;
  const auto sum = hn::Add(LoadStoredPart(d, a + i, rest), LoadStoredPart(d, b + i, rest));
  StoreStoredPart(sum, d, out + i, rest);
}

template <class T>
void Scale(const T* x, double factor, int64_t count, T* out) {
  const TagOf<T> d;
  const auto by = hn::Set(d, static_cast<hn::TFromD<TagOf<T>>>(factor));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StoreStored(hn::Mul(LoadStored(d, x + i), by), d, out + i);
  }
  const int rest = static_cast<int>(count - i);
  if (rest == 0) return;
  StoreStoredPart(hn::Mul(LoadStoredPart(d, x + i, rest), by), d, out + i, rest);
}

}  // namespace

const ElementwiseKernels* ElementwiseTable() {
  static constexpr ElementwiseKernels kTable{
      {Add<float, float>, Add<float, BFloat16>, Add<BFloat16, float>, Add<BFloat16, BFloat16>,
       Add<double, double>},
      {Scale<float>, Scale<BFloat16>, Scale<double>}};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(ElementwiseTable);

const ElementwiseKernels& elementwise_kernels() {
  return *HWY_DYNAMIC_DISPATCH(ElementwiseTable)();
}

}  // namespace volvelle::kernels
#endif
