#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/base/mersenne_twister.h"

namespace volvelle {

/// The random numbers of a PyTorch CPU generator, bit for bit: `TorchGenerator(seed)` is
/// torch.Generator().manual_seed(seed), and what follows torch.manual_seed. Draws are serial; a
/// copy goes on from here on its own.
///
/// Where versions or builds of PyTorch differ, this is 1.13 to 2.6 for x86-64 with AVX2, without
/// MKL:
/// - normals of 16 elements or more: the recipe of machines with AVX2 (others take the C library's
///   functions, and 38% of the values differ in their last bits);
/// - normals of doubles, fewer than 16: log(1 - u), as 1.13 has it; newer ones have log1p(-u),
/// which
///   moves 3% of them by an ulp or two (none of those that are rounded to float);
/// - integers from a range of 2^28 to 2^32 - 1 take one word; PyTorch 2.7 and newer take two;
/// - `permutation` takes one word per place for any length (newer versions, above 2^32 / 20, do
/// not);
/// - `bernoulli` with one probability is that of builds without MKL; `bernoulli_mkl` is the other.
/// Doubles of 16 elements or more depend on the last bit of the C library's log, sin and cos.
class VOLVELLE_API TorchGenerator {
 public:
  /// What a new torch.Generator() starts from.
  static constexpr std::uint64_t kDefaultSeed = 67280421310721u;

  /// The low 32 bits decide the numbers.
  explicit TorchGenerator(std::uint64_t seed = kDefaultSeed) noexcept;
  /// Starts anew, as torch.manual_seed does: a normal that was kept for later is dropped.
  void manual_seed(std::uint64_t seed) noexcept;
  std::uint64_t initial_seed() const noexcept { return seed_; }

  std::uint32_t word32() noexcept { return engine_.next(); }
  std::uint64_t word64() noexcept;  ///< two words, the high half first

  /// tensor.uniform_(low, high), in [low, high) but for rounding: one word a float, two a double.
  /// Throws InvalidArgument unless low <= high, both finite and within the type.
  void uniform(std::span<float> out, double low = 0, double high = 1);
  void uniform(std::span<double> out, double low = 0, double high = 1);

  /// tensor.normal_(mean, deviation) of a contiguous tensor of out.size() elements, whose number
  /// decides how they are drawn: 16 or more in blocks, fewer one by one, in pairs of which the
  /// second waits for the next call. Throws InvalidArgument for a negative deviation.
  void normal(std::span<float> out, double mean = 0, double deviation = 1);
  void normal(std::span<double> out, double mean = 0, double deviation = 1);
  /// The same where the tensor is not contiguous, its elements in the order in which they lie in
  /// memory: one by one, however many.
  void normal_one_by_one(std::span<float> out, double mean = 0, double deviation = 1);
  void normal_one_by_one(std::span<double> out, double mean = 0, double deviation = 1);

  /// torch.randint(low, high): in [low, high), by remainder. Throws InvalidArgument unless low <
  /// high.
  void integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);
  /// torch.randperm(out.size()).
  void permutation(std::span<std::int64_t> out);

  /// torch.bernoulli(probabilities): 1 with the probability of its place, else 0. Throws
  /// InvalidArgument for different lengths, and for probabilities outside [0, 1], before drawing.
  void bernoulli(std::span<std::uint8_t> out, std::span<const float> probabilities);
  void bernoulli(std::span<std::uint8_t> out, std::span<const double> probabilities);
  /// tensor.bernoulli_(probability) in a build without MKL, and the mask of dropout(1 -
  /// probability).
  void bernoulli(std::span<std::uint8_t> out, double probability);
  /// The same in an x86 build with MKL up to about 2.5: one word seeds a generator of its own (read
  /// off one published example, probability one half).
  void bernoulli_mkl(std::span<std::uint8_t> out, double probability);

  /// generator.get_state(): 5056 bytes, little-endian.
  std::vector<std::byte> state() const;
  /// generator.set_state(). Throws InvalidArgument for bytes that are no such state.
  void restore(std::span<const std::byte> state);

 private:
  double unit() noexcept;  ///< a double in [0, 1)
  double next_normal();

  std::uint64_t seed_;
  MersenneTwister engine_;
  std::optional<double> waiting_;  ///< the second normal of a pair
};

}  // namespace volvelle
