#include "attention/composed_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tensor/convert.h"

namespace volvelle {
template <class Real>
void gather_rows(const Strided4& array, std::int64_t b, std::int64_t h, std::int64_t rows,
                 std::int64_t width, Real* out) {
  visit_dtype(array.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* row = static_cast<const T*>(array.data) + array.offset(b, h, i, 0);
      for (std::int64_t d = 0; d < width; ++d) *out++ = widened<Real>(row[d * array.stride[3]]);
    }
  });
}

template <class Real>
void scatter_rows(const Strided4& array, std::int64_t b, std::int64_t h, std::int64_t rows,
                  std::int64_t width, const Real* from) {
  if (!array.present) return;
  visit_dtype(array.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < rows; ++i) {
      T* row = static_cast<T*>(const_cast<void*>(array.data)) + array.offset(b, h, i, 0);
      for (std::int64_t e = 0; e < width; ++e) {
        const Real value = *from++;
        if constexpr (std::is_same_v<T, Float16>) {
          row[e * array.stride[3]] = to_float16(value);
        } else if constexpr (std::is_same_v<T, BFloat16>) {
          row[e * array.stride[3]] = to_bfloat16(value);
        } else {
          row[e * array.stride[3]] = static_cast<T>(value);
        }
      }
    }
  });
}

template void gather_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          float*);
template void gather_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          double*);
template void scatter_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           const float*);
template void scatter_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           const double*);

}  // namespace volvelle
