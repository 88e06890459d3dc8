#include "support/naive_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace volvelle {

std::vector<float> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) {
    number = static_cast<float>(engine()) / 4294967296.0f * 4.0f - 2.0f;
  }
  return numbers;
}

NaiveAttention NaiveAttention::random(std::int64_t batch, std::int64_t heads,
                                      std::int64_t key_heads, std::int64_t queries,
                                      std::int64_t keys, std::int64_t width, unsigned seed) {
  NaiveAttention made;
  made.batch = batch;
  made.heads = heads;
  made.key_heads = key_heads;
  made.queries = queries;
  made.keys = keys;
  made.width = width;
  made.value_width = width;
  made.q = random_numbers(batch * heads * queries * width, seed);
  made.k = random_numbers(batch * key_heads * keys * width, seed + 1);
  made.v = random_numbers(batch * key_heads * keys * width, seed + 2);
  made.scale = 1 / std::sqrt(static_cast<double>(width));
  const std::int64_t group = heads / key_heads;
  made.key_head = [group](std::int64_t h) { return h / group; };
  made.seen = [](auto, auto, auto, auto) { return true; };
  made.bias = [](auto, auto, auto, auto) { return 0.0; };
  return made;
}

AttentionProblem NaiveAttention::problem() const {
  AttentionProblem made;
  made.q = View(q.data(), {batch, heads, queries, width});
  made.k = View(k.data(), {batch, key_heads, keys, width});
  made.v = View(v.data(), {batch, key_heads, keys, value_width});
  return made;
}

std::vector<float> NaiveAttention::output() const {
  std::vector<float> out;
  const auto score = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    double dot = 0;
    for (std::int64_t d = 0; d < width; ++d) {
      const auto at_q = ((b * heads + h) * queries + i) * width + d;
      const auto at_k = ((b * key_heads + key_head(h)) * keys + j) * width + d;
      dot += static_cast<double>(q[static_cast<std::size_t>(at_q)]) *
             static_cast<double>(k[static_cast<std::size_t>(at_k)]);
    }
    if (scale_after_bias) return (dot + bias(b, h, i, j)) * scale;
    double scaled = dot * scale;
    if (cap > 0) scaled = cap * std::tanh(scaled / cap);
    return scaled + bias(b, h, i, j);
  };
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<double> weight(static_cast<std::size_t>(queries * keys), 0.0);
      const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
        return weight[static_cast<std::size_t>(i * keys + j)];
      };
      for (std::int64_t i = 0; i < queries; ++i) {
        for (std::int64_t j = 0; j < keys; ++j) {
          if (mask_after || seen(b, h, i, j)) at(i, j) = std::exp(score(b, h, i, j));
        }
      }
      for (std::int64_t i = 0; i < queries && !over_columns; ++i) {
        double sum = sinks.empty() ? 0 : std::exp(sinks[static_cast<std::size_t>(h)]);
        for (std::int64_t j = 0; j < keys; ++j) sum += at(i, j);
        for (std::int64_t j = 0; j < keys; ++j) at(i, j) = sum == 0 ? 0 : at(i, j) / sum;
      }
      for (std::int64_t j = 0; j < keys && over_columns; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < queries; ++i) sum += at(i, j);
        for (std::int64_t i = 0; i < queries; ++i) at(i, j) = sum == 0 ? 0 : at(i, j) / sum;
      }
      for (std::int64_t i = 0; i < queries; ++i) {
        for (std::int64_t e = 0; e < value_width; ++e) {
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            if (!seen(b, h, i, j)) continue;
            const auto at_v = ((b * key_heads + key_head(h)) * keys + j) * value_width + e;
            sum += at(i, j) * static_cast<double>(v[static_cast<std::size_t>(at_v)]);
          }
          out.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return out;
}

}  // namespace volvelle
