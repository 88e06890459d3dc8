#include "attention/dropout.h"

#include <cmath>

#include "base/philox.h"

namespace volvelle {

kernels::DropoutStream dropout_stream(const ResolvedAttention& problem, std::int64_t b,
                                      std::int64_t h) {
  return {.seed = problem.dropout_seed,
          .batch = static_cast<std::uint32_t>(b),
          .head = static_cast<std::uint32_t>(h),
          .threshold = static_cast<std::uint64_t>(std::llround(problem.dropout * 0x1p32)),
          .kept = 1 / (1 - problem.dropout)};
}

double dropout_factor(const kernels::DropoutStream& stream, std::int64_t query, std::int64_t key) {
  const auto word = [](std::int64_t value, int shift) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> shift);
  };
  const auto words = philox4x32(
      {word(key, 2), word(query, 0), stream.batch + (word(query, 32) << 24), stream.head},
      {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)});
  return words[static_cast<std::size_t>(key % 4)] < stream.threshold ? 0.0 : stream.kept;
}

}  // namespace volvelle
