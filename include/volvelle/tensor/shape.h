#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// A short list of 64-bit numbers, one per axis, held in place: a shape, or strides counted in
/// elements (strides may be zero or negative).
class VOLVELLE_API Axes {
 public:
  static constexpr int kMaxRank = 8;

  Axes() = default;
  Axes(std::initializer_list<std::int64_t> values);
  /// `rank` axes that all hold `value`. Throws InvalidArgument above kMaxRank, as all of these do.
  static Axes filled(int rank, std::int64_t value);

  int rank() const noexcept { return rank_; }
  std::int64_t operator[](int axis) const noexcept { return values_[static_cast<unsigned>(axis)]; }
  std::int64_t& operator[](int axis) noexcept { return values_[static_cast<unsigned>(axis)]; }
  const std::int64_t* begin() const noexcept { return values_.data(); }
  const std::int64_t* end() const noexcept { return values_.data() + rank_; }
  void push_back(std::int64_t value);

  friend bool operator==(const Axes& a, const Axes& b) noexcept;

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Axes;
using Strides = Axes;

/// Product of the axes (1 for rank 0). Throws InvalidArgument when an axis is negative or the
/// product leaves 63 bits; `what` names the array in the message.
VOLVELLE_API std::int64_t element_count(const Shape& shape, const char* what = "array");

/// Row-major strides of a shape.
VOLVELLE_API Strides contiguous_strides(const Shape& shape);

/// "(2,12,64,32)"; "(5,)" for rank 1 and "()" for a scalar, as NumPy writes them.
VOLVELLE_API std::string to_string(const Axes& axes);

}  // namespace volvelle
