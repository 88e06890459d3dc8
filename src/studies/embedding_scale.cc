#include "studies/embedding_scale.h"

#include <cmath>

#include "volvelle/base/torch_generator.h"

namespace volvelle {

std::vector<EmbeddingScale> embedding_scales(std::int64_t width, std::uint64_t seed) {
  constexpr std::int64_t kTokens = 1000;
  TorchGenerator random(seed);
  std::vector<double> entries(static_cast<std::size_t>(width));
  double unit_length = 0;  // mean length of a vector of standard normal entries
  for (std::int64_t token = 0; token < kTokens; ++token) {
    random.normal(entries);
    double squares = 0;
    for (const double entry : entries) squares += entry * entry;
    unit_length += std::sqrt(squares) / static_cast<double>(kTokens);
  }
  const double root = std::sqrt(static_cast<double>(width));
  std::vector<EmbeddingScale> scales;
  for (const double deviation : {1 / root, 1.0}) {
    for (const bool factor : {false, true}) {
      EmbeddingScale scale{.deviation = deviation,
                           .factor = factor,
                           .token_length = unit_length * deviation * (factor ? root : 1),
                           .row_length = std::sqrt(static_cast<double>(width) / 2)};
      const double token = scale.token_length * scale.token_length;
      const double row = scale.row_length * scale.row_length;
      scale.position_share = row / (row + token);
      scales.push_back(scale);
    }
  }
  return scales;
}

}  // namespace volvelle
