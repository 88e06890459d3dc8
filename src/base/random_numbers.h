#pragma once

#include <cstdint>

namespace volvelle {

/// The same numbers for the same seed on every machine (splitmix64).
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In [-1, 1).
  double unit() { return 2 * uniform() - 1; }
  /// Mean 0, variance 1, bell-shaped, within 6.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(count));
  }
  /// True in one of `of` cases.
  bool one_in(std::int64_t of) { return below(of) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace volvelle
