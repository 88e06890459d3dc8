#pragma once

#include <array>
#include <cstdint>

namespace volvelle {

/// Axes that several arrays share, outermost first, each array with a stride of its own.
/// Neighbours that every array walks as one become one axis; axes of length 1 vanish.
template <int kArrays>
class JointAxes {
 public:
  using Offsets = std::array<std::int64_t, kArrays>;

  struct Axis {
    std::int64_t length = 1;
    Offsets strides{};
  };

  /// Appends an axis within those there are.
  void add(std::int64_t length, const Offsets& strides) {
    count_ *= length;
    if (length == 1) return;
    if (rank_ > 0) {
      Axis& outer = axes_[static_cast<std::size_t>(rank_ - 1)];
      bool as_one = true;
      for (std::size_t a = 0; a < kArrays; ++a) {
        std::int64_t reach = 0;
        as_one = as_one && !__builtin_mul_overflow(strides[a], length, &reach) &&
                 outer.strides[a] == reach;
      }
      if (as_one) {
        outer = {outer.length * length, strides};
        return;
      }
    }
    axes_[static_cast<std::size_t>(rank_++)] = {length, strides};
  }

  /// Length 1 when there is none.
  Axis innermost() const {
    return rank_ == 0 ? Axis() : axes_[static_cast<std::size_t>(rank_ - 1)];
  }

  /// Takes the innermost axis away; length 1 when there is none.
  Axis take_innermost() {
    if (rank_ == 0) return {};
    const Axis axis = axes_[static_cast<std::size_t>(--rank_)];
    count_ = 1;
    for (int i = 0; i < rank_; ++i) count_ *= axes_[static_cast<std::size_t>(i)].length;
    return axis;
  }

  std::int64_t count() const { return count_; }  ///< places: the product of the lengths

  /// Of the place `index`, counted in row-major order.
  Offsets offsets(std::int64_t index) const {
    Offsets sum{};
    for (int i = rank_ - 1; i >= 0; --i) {
      const Axis& axis = axes_[static_cast<std::size_t>(i)];
      const std::int64_t at = index % axis.length;
      index /= axis.length;
      for (std::size_t a = 0; a < kArrays; ++a) sum[a] += at * axis.strides[a];
    }
    return sum;
  }

 private:
  std::array<Axis, 8> axes_{};
  int rank_ = 0;
  std::int64_t count_ = 1;
};

}  // namespace volvelle
