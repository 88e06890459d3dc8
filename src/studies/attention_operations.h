#pragma once

#include <cstdint>

namespace volvelle {

/// Operations of a layer of attention, a multiply-add counted as 2.
struct AttentionOperations {
  double projections = 0;  ///< of queries, keys, values and output: 8 B T C^2
  double attention = 0;    ///< scores and weighted values over all heads: 4 B T^2 C
  double rotation = 0;     ///< turning queries and keys: 6 numbers a pair, 6 B T C
  double softmax = 0;      ///< exponentials of all scores: B H T^2
  double ratio() const { return attention / projections; }
};

inline AttentionOperations attention_operations(std::int64_t batch, std::int64_t tokens,
                                                std::int64_t width, std::int64_t heads) {
  const auto b = static_cast<double>(batch), t = static_cast<double>(tokens);
  const auto c = static_cast<double>(width), h = static_cast<double>(heads);
  return {.projections = 8 * b * t * c * c,
          .attention = 4 * b * t * t * c,
          .rotation = 6 * b * t * c,
          .softmax = b * h * t * t};
}

/// Of a whole (B,H,T,T) matrix of scores.
inline double score_bytes(std::int64_t batch, std::int64_t heads, std::int64_t tokens,
                          std::int64_t bytes) {
  return static_cast<double>(batch) * static_cast<double>(heads) * static_cast<double>(tokens) *
         static_cast<double>(tokens) * static_cast<double>(bytes);
}

}  // namespace volvelle
