#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "volvelle/base/export.h"
#include "volvelle/base/pcg64.h"

namespace volvelle {

/// The random numbers of numpy.random.default_rng(seed), bit for bit (seen with NumPy 1.24
/// and 2.1). A copy goes on from here on its own. Normals meet exp and log1p of the C library in
/// one draw of a hundred, where their last bit decides only whether a number on an edge is taken.
class VOLVELLE_API NumpyGenerator {
 public:
  explicit NumpyGenerator(std::uint64_t seed = 0);
  /// default_rng([a, b, ...]).
  explicit NumpyGenerator(std::span<const std::uint64_t> seeds);

  std::uint64_t word64() noexcept { return bits_.next(); }
  /// The low half of a 64-bit word; its high half waits for the next call.
  std::uint32_t word32() noexcept;

  /// low + (high - low) * rng.random(n); for floats with rng.random(n, dtype=float32), all in
  /// float32. Throws InvalidArgument unless low <= high, both finite and within the type.
  void uniform(std::span<double> out, double low = 0, double high = 1);
  void uniform(std::span<float> out, double low = 0, double high = 1);
  /// mean + deviation * rng.standard_normal(n); floats are these numbers rounded (not
  /// standard_normal(dtype=float32), which draws others). Throws InvalidArgument for a negative
  /// deviation.
  void normal(std::span<double> out, double mean = 0, double deviation = 1);
  void normal(std::span<float> out, double mean = 0, double deviation = 1);
  /// rng.integers(low, high): in [low, high), without bias. Throws InvalidArgument unless low <
  /// high.
  void integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);

  const Pcg64& bits() const noexcept { return bits_; }

 private:
  double unit() noexcept;
  double standard_normal() noexcept;

  Pcg64 bits_;
  std::optional<std::uint32_t> waiting_;  ///< high half of a 64-bit word
};

}  // namespace volvelle
