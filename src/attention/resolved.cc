#include "attention/resolved.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "tensor/convert.h"

namespace volvelle {
namespace {

// Booleans are read as bytes: what a file stores as 2 is still true.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

}  // namespace

double Strided2::value(std::int64_t a, std::int64_t b) const {
  return visit_dtype(dtype, [&](auto zero) -> double {
    using T = Stored<decltype(zero)>;
    const T element = static_cast<const T*>(data)[a * stride[0] + b * stride[1]];
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return static_cast<double>(to_float(element));
    } else {
      return static_cast<double>(element);
    }
  });
}

std::int64_t Strided2::integer(std::int64_t a, std::int64_t b) const {
  return visit_dtype(dtype, [&](auto zero) -> std::int64_t {
    using T = Stored<decltype(zero)>;
    if constexpr (std::is_integral_v<T>) {
      const T element = static_cast<const T*>(data)[a * stride[0] + b * stride[1]];
      if constexpr (std::is_same_v<T, std::uint64_t>) {
        constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
        return static_cast<std::int64_t>(std::min(element, static_cast<std::uint64_t>(kLargest)));
      } else {
        return static_cast<std::int64_t>(element);
      }
    } else {
      return 0;  // resolve() lets no floating array through to here
    }
  });
}

std::int64_t ResolvedAttention::offset(std::int64_t b) const {
  if (!query_offset.present) return fixed_offset;
  return std::clamp(query_offset.integer(b, 0), -kLargestOffset, kLargestOffset);
}

}  // namespace volvelle
