#pragma once

#include <cstdint>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Longest T or S. With it, offsets and extents held at the two bounds below give the same sets as
/// the numbers beyond them would, and sums of them stay far inside 64 bits.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 38;
inline constexpr std::int64_t kLargestOffset = std::int64_t{1} << 40;
/// Windows, prefixes and chunks are held at this.
inline constexpr std::int64_t kLargestExtent = std::int64_t{1} << 42;
/// Positions that biases read stay within +-this.
inline constexpr std::int64_t kLargestPosition = std::int64_t{1} << 30;

/// A view laid out on the four axes of the problem; a broadcast or missing axis has stride 0.
struct Strided4 {
  const void* data = nullptr;
  DType dtype = DType::float32;
  std::int64_t stride[4] = {0, 0, 0, 0};
  bool present = false;

  std::int64_t offset(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const {
    return a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3];
  }
};

/// A view of integers or of a table on two axes.
struct Strided2 {
  const void* data = nullptr;
  DType dtype = DType::float32;
  std::int64_t stride[2] = {0, 0};
  std::int64_t shape[2] = {0, 0};
  bool present = false;

  double value(std::int64_t a, std::int64_t b) const;          ///< any dtype
  std::int64_t integer(std::int64_t a, std::int64_t b) const;  ///< integer dtypes
};

/// Vectors by clamped offset (`relative_keys` and its siblings), on (H, 2M+1, width).
struct RelativeVectors {
  Strided4 rows;           ///< on (B, H, entries, width): stride 0 along B, along H where shared
  std::int64_t reach = 0;  ///< M
  /// Entries [first, first + count) are those that offsets between the problem's positions reach.
  std::int64_t first = 0, count = 0;

  bool present() const { return rows.present; }
  /// Entry clamp(offset, -M, M) + M; one that a pair of the problem meets is a reached one.
  std::int64_t entry(std::int64_t offset) const {
    return (offset < -reach ? -reach : offset > reach ? reach : offset) + reach;
  }
};

struct PagedRows;

/// The tables that turn rows of one kind, queries or keys, on (B,1,P,r/2); absent: they pass as
/// they are.
struct TurnTables {
  Strided4 cosines, sines;
  std::int64_t length = 0;  ///< P
  bool present = false;
};

/// A RotaryTurn laid out. Every position that it meets lies within its tables.
struct ResolvedRotary {
  TurnTables query, key;
  std::int64_t pairs = 0;  ///< r/2
  RotaryPairing pairing = RotaryPairing::split_half;

  bool any() const { return query.present || key.present; }
};

/// A problem after its checks: every rule of the contract holds, every axis has a place. What the
/// oracle, the composed and the fused path read. Owns nothing.
struct ResolvedAttention {
  std::int64_t batch = 1, heads = 1, key_heads = 1, queries = 0, keys = 0;  // B H G T S
  std::int64_t width = 0, value_width = 0;                                  // D E
  int rank = 4;                                                             ///< of q
  DType dtype = DType::float32;
  double scale = 1;
  double softcap = 0;
  double dropout = 0;  ///< in [0, 1)
  std::uint64_t dropout_seed = 0;
  Strided4 q, k, v, bias, keep;
  ResolvedRotary rotary;
  const PagedRows* paged = nullptr;  ///< the pages of a cache instead of k and v (paged_rows.h)
  Strided2 slopes, sinks;            ///< (H, 1)
  Strided2 bias_table;               ///< (H, 2M+1)
  Strided2 bucket_table;             ///< (H, buckets)
  Buckets buckets = Buckets::none;
  std::int64_t max_distance = 128;
  Strided2 query_positions, key_positions;          ///< (B,T), (B,S)
  RelativeVectors relative_keys, relative_queries;  ///< of width D
  RelativeVectors relative_values;                  ///< of width E
  bool causal = false;
  Strided2 query_offset;          ///< (B, 1), absent: fixed_offset
  std::int64_t fixed_offset = 0;  ///< S - T or 0
  std::int64_t window = 0, window_right = 0, prefix = 0, chunk = 0;
  Strided2 key_lengths;  ///< (B, 1)
  Padding padding = Padding::right;
  Strided2 query_segments, key_segments;  ///< (B,T), (B,S)

  std::int64_t key_head(std::int64_t head) const { return head / (heads / key_heads); }
  /// offset_b of the contract, held within +-2^40 so that sums never overflow.
  std::int64_t offset(std::int64_t b) const;
  bool has_exclusion() const {
    return causal || window > 0 || window_right > 0 || chunk > 0 || key_lengths.present ||
           query_segments.present || keep.present;
  }
  bool has_bias() const {
    return bias.present || slopes.present || bias_table.present || bucket_table.present;
  }
  bool has_relative_vectors() const {
    return relative_keys.present() || relative_queries.present() || relative_values.present();
  }
};

/// Checks a problem against the contract and lays it out. Throws InvalidArgument.
ResolvedAttention resolve(const AttentionProblem& problem);

/// The caller's output arrays on the problem's axes: output on (B,H,T,E), the others on (B,H,T)
/// or (B,H,S) with the fourth stride 0. Checked for shape, dtype, rank and overlap.
struct ResolvedOutputs {
  Strided4 output, lse, entropy, column_sums;  ///< data is writable
};
ResolvedOutputs resolve_outputs(const ResolvedAttention& problem, const AttentionProblem& views,
                                const AttentionOutputs& outputs);

}  // namespace volvelle
