#pragma once

#include <cstdint>
#include <optional>

#include "volvelle/attention/rotary_turn.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Which query position faces which key when the lengths differ.
enum class Alignment : std::uint8_t {
  bottom_right,  ///< the last query stands at the last key: query i at i + (S - T)
  top_left,      ///< the first query stands at the first key: query i at i
};

/// On which side of a row its padding lies when `key_lengths` are given.
enum class Padding : std::uint8_t { right, left };

/// How an offset between key and query is sorted into the buckets of `bucket_table` (T5).
enum class Buckets : std::uint8_t { none, one_way, two_way };

/// One attention problem: views over the caller's memory, filled with designated initialisers.
///
///     q, k    = turned by their positions            if `rotary` is set
///     scores  = scale * q . k                        per query head h and its key head h/(H/G)
///     scores += scale * (q . rk + k . rq)            relative vectors of the offset j - p
///     scores  = softcap * tanh(scores / softcap)     if softcap > 0
///     scores += bias + slopes + tables               additive, plain arithmetic
///     excluded keys are taken out                    a set, never a number
///     weights = softmax over the keys that are left  the sink is one more column
///     weights = drop(weights)                        with probability `dropout`, if it is not 0
///     output  = weights * (v + rv)
///
/// Shapes: q (B,H,T,D), k (B,G,S,D), v (B,G,S,E) of one dtype: float32, float64, float16 or
/// bfloat16; H a multiple of G. Rank 3 is (H,T,D), rank 2 is (T,D); missing axes are 1. Strides
/// are honoured, those of axes of length 1 ignored. T = 0, S = 0 and any D, E >= 1 work.
///
/// Positions: query i of row b stands at p = i + offset, key j at j. The offset is S - T
/// (bottom_right), 0 (top_left) or `query_offset`. Exclusion goes by these indices always;
/// turns, relative vectors and additive biases use `query_positions` and `key_positions` where
/// given. Arrays on (B,T) or (B,S) may lack the B axis or have 1 there: then they serve every batch
/// row.
///
/// A key is seen when everything that is set lets it through. A query that sees no key gets
/// output 0 and log-sum-exp -inf (with a sink: the sink's logit). What is excluded is never
/// multiplied in: NaN or infinity behind the mask does not leak.
struct AttentionProblem {
  View q = {};
  View k = {};  ///< with v absent over a KeyValueCache, and only there
  View v = {};

  std::optional<double> scale = {};  ///< default 1/sqrt(D)
  RotaryTurn rotary = {};            ///< turns q and k; absent: none
  /// One vector for each offset clamp(j - p, -M, M) + M: (2M+1, D) for all heads, or (H, 2M+1, D).
  View relative_keys = {};     ///< adds scale * q . entry, with q as it was turned
  View relative_queries = {};  ///< adds scale * k . entry, with k as it was turned
  View relative_values = {};   ///< (2M+1, E) or (H, 2M+1, E): added to v in the weighted sum
  double softcap = 0;          ///< c in c * tanh(s / c); 0: none

  View bias = {};          ///< floating, broadcast to (B,H,T,S) as NumPy does; added to the scores
  View slopes = {};        ///< (H): ALiBi, adds -slope * |p - j|
  View bias_table = {};    ///< (H, 2M+1): adds entry clamp(j - p, -M, M) + M
  View bucket_table = {};  ///< (H, buckets): adds the entry of the bucket of j - p (T5)
  Buckets buckets = Buckets::none;  ///< needed with bucket_table
  std::int64_t max_distance = 128;  ///< from here on all offsets share the last bucket
  View query_positions = {};        ///< (B,T) integers: p for turns, vectors and biases
  View key_positions = {};          ///< (B,S) integers: j for turns, vectors and biases
  View sinks = {};                  ///< (H): a logit that takes weight and has no value; finite or
                                    ///< -inf (none)

  bool causal = false;  ///< j <= p
  Alignment alignment = Alignment::bottom_right;
  View query_offset = {};         ///< (B) or (1) integers: the offset, instead of the alignment's
  std::int64_t window = 0;        ///< j > p - window: that many keys up to p itself; 0: no limit
  std::int64_t window_right = 0;  ///< j < p + window_right: that many from p on; 0: no limit
  std::int64_t prefix = 0;        ///< j < prefix is exempt from causality
  std::int64_t chunk = 0;         ///< floor(j / chunk) = floor(p / chunk); 0: none
  View key_lengths = {};          ///< (B) integers: real keys of each row
  Padding padding = Padding::right;  ///< right: j < length is real; left: j >= S - length
  View query_segments = {};  ///< (B,T) integers, with key_segments: equal ids see each other
  View key_segments = {};    ///< (B,S)
  View keep = {};  ///< bool or integers 0 and 1, broadcast to (B,H,T,S): 1 sees, 0 is excluded

  /// Training only: each weight is dropped (made 0) with this probability in [0, 1), the others are
  /// divided by 1 - dropout. Which ones depends on the seed and the cell's (b, h, i, j) alone, so
  /// every path, thread count and pass drops the same; 0 draws nothing. B and H up to 2^24, T and
  /// S up to 2^34. Log-sum-exp, entropy and column sums are those of the weights before.
  double dropout = 0;
  std::uint64_t dropout_seed = 0;
};

}  // namespace volvelle
