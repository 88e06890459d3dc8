#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace volvelle {

/// The numbers of one sequence of a task, counted by seed, batch and row (Philox4x32-10): whatever
/// was drawn before, and in whatever order batches are asked for, they are the same.
class RowDraws {
 public:
  RowDraws(std::uint64_t seed, std::int64_t batch, std::int64_t row)
      : key_{low(seed), low(seed >> 32)},
        counter_{0, low(static_cast<std::uint64_t>(row)), low(static_cast<std::uint64_t>(batch)),
                 low(static_cast<std::uint64_t>(batch) >> 32)} {}

  /// In [0, count), for counts far below 2^32.
  std::int64_t below(std::int64_t count) {
    if (used_ == words_.size()) {
      words_ = philox4x32(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    const std::uint64_t product =
        std::uint64_t{words_[used_++]} * static_cast<std::uint64_t>(count);
    return static_cast<std::int64_t>(product >> 32);
  }

  /// `taken` different numbers below `count`, in random order (Fisher and Yates).
  std::vector<std::int64_t> different(std::int64_t count, std::int64_t taken) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t i = 0; i < taken; ++i) {
      std::swap(all[static_cast<std::size_t>(i)],
                all[static_cast<std::size_t>(i + below(count - i))]);
    }
    all.resize(static_cast<std::size_t>(taken));
    return all;
  }

 private:
  static std::uint32_t low(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = words_.size();
};

}  // namespace volvelle
