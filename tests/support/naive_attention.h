#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "volvelle/attention/problem.h"

namespace volvelle {

/// A second attention in plain loops, apart from the library's, in which each thing that can go
/// wrong is a member to be set wrong. All arrays are contiguous (B,H,T,X).
struct NaiveAttention {
  std::int64_t batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, width = 1,
               value_width = 1;
  std::vector<float> q, k, v;
  double scale = 1;
  double cap = 0;
  bool scale_after_bias = false;
  bool over_columns = false;
  bool mask_after = false;
  std::vector<double> sinks;  ///< (H) or empty
  std::function<std::int64_t(std::int64_t h)> key_head;
  std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> seen;
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> bias;

  /// Shapes as given, numbers drawn from `seed`.
  static NaiveAttention random(std::int64_t batch, std::int64_t heads, std::int64_t key_heads,
                               std::int64_t queries, std::int64_t keys, std::int64_t width,
                               unsigned seed);
  /// q, k, v and the scale as a problem over this object's memory.
  AttentionProblem problem() const;
  /// (B,H,T,E).
  std::vector<float> output() const;
};

/// Numbers between -2 and 2.
std::vector<float> random_numbers(std::int64_t count, unsigned seed);

}  // namespace volvelle
