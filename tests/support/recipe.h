#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <vector>

#include "support/arrays.h"
#include "volvelle/attention/problem.h"

namespace volvelle::testing {

/// How a dense array spans (B,H,T,S).
enum class Span { none, full, per_head, per_batch, plane, keys, scalar, queries };

/// A random attention problem in a few numbers, so that a failing one can be printed and shrunk.
/// The defaults set no option.
struct Recipe {
  std::uint64_t seed = 1;
  DType dtype = DType::float32;
  int rank = 4;
  std::int64_t batch = 1, key_heads = 1, group = 1, queries = 4, keys = 4;
  std::int64_t width = 4, value_width = 4;
  Layout layout = Layout::contiguous;

  double scale = std::numeric_limits<double>::quiet_NaN();  ///< NaN: the default
  double softcap = 0;
  Span bias = Span::none;
  DType bias_dtype = DType::float32;
  bool bias_minus_infinity = false;  ///< some entries of the bias are -inf
  bool slopes = false;
  std::int64_t table_reach = -1;  ///< M of bias_table; -1: none
  Buckets buckets = Buckets::none;
  std::int64_t bucket_count = 8;
  std::int64_t max_distance = 20;
  bool query_positions = false, key_positions = false;
  std::int64_t turned = 0;  ///< r: columns that turn; 0: none
  RotaryPairing pairing = RotaryPairing::split_half;
  DType turn_dtype = DType::float32;
  bool turn_by_row = false;      ///< each batch row has tables of its own
  bool turn_keys_apart = false;  ///< keys have tables of their own
  bool keys_are_turned = false;
  bool sinks = false;
  /// M of the relative vectors; -1: none.
  std::int64_t relative_keys = -1, relative_queries = -1, relative_values = -1;
  bool relative_shared = true;  ///< by all heads
  DType relative_dtype = DType::float32;

  bool causal = false;
  Alignment alignment = Alignment::bottom_right;
  bool query_offset = false;
  std::int64_t window = 0, window_right = 0, prefix = 0, chunk = 0;
  bool key_lengths = false;
  Padding padding = Padding::right;
  std::int64_t segments = 0;  ///< how many ids; 0: none
  Span keep = Span::none;
  DType keep_dtype = DType::boolean;
  double kept = 0.7;
  double dropout = 0;
  bool poison = false;  ///< NaN and infinity wherever no query looks
};

std::ostream& operator<<(std::ostream& out, const Recipe& recipe);

/// A problem and the memory that its views look at.
struct Made {
  AttentionProblem problem;
  View grad_output;  ///< something to go back with, of q's dtype and layout
  std::vector<Tensor> memory;
};
Made make(const Recipe& recipe);

}  // namespace volvelle::testing
