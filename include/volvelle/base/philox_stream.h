#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "volvelle/base/export.h"

namespace volvelle {

/// Random numbers for all that has no reference to agree with: Philox4x32-10 keyed by the seed,
/// whose counter is the place in the stream and the stream's number. Any two streams of a seed are
/// independent, so that tasks draw without waiting for each other; the first n of a draw are the
/// same whatever n is, and the same on every machine (doubles of `normal` up to the C library's
/// last bit). A copy goes on from here on its own. Source: Salmon, Moraes, Dror and Shaw 2011,
/// doi:10.1145/2063384.2063405.
class VOLVELLE_API PhiloxStream {
 public:
  explicit PhiloxStream(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  std::uint32_t word32() noexcept { return take(1)[0]; }
  std::uint64_t word64() noexcept;  ///< two words, the low half first

  /// In [low, high): floats of 24 bits from one word, doubles of 53 bits from two. Throws
  /// InvalidArgument unless low <= high, both finite and within the type.
  void uniform(std::span<float> out, double low = 0, double high = 1);
  void uniform(std::span<double> out, double low = 0, double high = 1);
  /// By Box and Muller's transform, blocks of 16 at a time. Throws InvalidArgument for a negative
  /// deviation.
  void normal(std::span<float> out, double mean = 0, double deviation = 1);
  void normal(std::span<double> out, double mean = 0, double deviation = 1);
  /// In [low, high), without bias. Throws InvalidArgument unless low < high.
  void integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);
  std::int64_t below(std::int64_t count);  ///< one integer of [0, count)
  /// The numbers below out.size(), in an order drawn at random.
  void permutation(std::span<std::int64_t> out);
  /// 1 with this probability, else 0. Throws InvalidArgument outside [0, 1].
  void bernoulli(std::span<std::uint8_t> out, double probability);

 private:
  static constexpr std::size_t kWords = 64;

  std::span<const std::uint32_t> take(std::size_t most) noexcept;
  void refill() noexcept;

  std::uint64_t seed_, stream_;
  std::uint64_t next_counter_ = 0;
  std::array<std::uint32_t, kWords> words_{};
  std::size_t used_ = kWords;
};

}  // namespace volvelle
