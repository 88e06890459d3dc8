#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Keys per tile of the fused walk. Tiles start at multiples of this, counted from key 0.
inline constexpr int kTileKeys = 128;
/// Upper bound of the queries in a panel on any instruction set.
inline constexpr int kMaxPanel = 64;

/// One panel of queries, or one vector of it, against some keys of one tile. Lanes are queries: row
/// x of a [..][panel] array holds one number per query; for the second vector alone the pointers
/// start at its lanes. T is float or double; all arrays are 64-byte aligned unless
/// noted. Scores are kept in units of 1 / per_nat (base 2 for float).
template <class T>
struct TileStep {
  const T* k = nullptr;  ///< first key's row, elements next to each other; any alignment
  std::int64_t k_stride = 0;
  const T* v = nullptr;
  std::int64_t v_stride = 0;
  int keys = 0;  ///< 1..kTileKeys
  int width = 0, value_width = 0;
  int vectors = 2;  ///< 1 or 2: so many vectors of queries take part
  int across = 2;   ///< 1 or 2: panel = across * vector lanes

  const T* queries = nullptr;  ///< [width][panel], multiplied by scale * per_nat (or scale / cap)
  T* scores = nullptr;         ///< [kTileKeys][panel] scratch
  T* out = nullptr;            ///< [value_width][panel], running
  bool fresh = false;          ///< nothing was added to `out` yet: it is not read
  T* maximum = nullptr;        ///< [panel], running
  T* sum = nullptr;            ///< [panel], running
  T* moment = nullptr;         ///< [panel], running sum of p * (score - maximum); null: not wanted

  T cap = 0;                    ///< per_nat * softcap; 0: none
  const T* diagonal = nullptr;  ///< adds diagonal[query - key]; any alignment
  const T* bias = nullptr;      ///< [keys][panel], added; in nats, not in units
  /// Added to the products, before the cap: of key j at relative + j * relative_stride, [panel],
  /// multiplied as the queries are. A stride of 0: the same for all keys.
  const T* relative = nullptr;
  std::int64_t relative_stride = 0;
  const T* first =
      nullptr;  ///< [panel] with `last`: key x of this step is seen if first <= x < last
  const T* last = nullptr;
  int key_base = 0;                 ///< added to x before it is compared
  int all_first = 0, all_last = 0;  ///< with first, last: keys that they let every query see
  const T* select = nullptr;        ///< [keys][panel]: seen if not 0
  const T* factors = nullptr;       ///< [keys][panel]: weights times these meet the values, while
                                    ///< sums go by the weights; null: all 1
  /// Values that are not finite reach only the queries that see their keys. Without it a weight
  /// of 0 spreads them: `finish` then reports rows that are not finite, to be walked again.
  bool guarded = false;

  const T* next_k = nullptr;  ///< rows to fetch into cache meanwhile, as many as `keys`
  const T* next_v = nullptr;
};

/// Normalises a panel and stores its rows.
template <class T>
struct PanelFinish {
  T* out = nullptr;  ///< [value_width][panel]; changed
  const T* maximum = nullptr;
  const T* sum = nullptr;
  const T* moment = nullptr;
  int value_width = 0;
  int vectors = 2;
  int queries = 0;    ///< rows to store
  T* rows = nullptr;  ///< row q at rows + q * row_stride, elements next to each other
  std::int64_t row_stride = 0;
  T* lse = nullptr;      ///< [panel], natural log; null: not wanted
  T* entropy = nullptr;  ///< [panel], nats; with moment
};

/// The forward kernels of one instruction set.
template <class T>
struct ForwardKernels {
  int lanes;  ///< of one vector
  T per_nat;  ///< unit of the scores: power(per_nat * s) = e^s
  /// to[c][r] = factor * from[r * row_stride + c] for r < rows, 0 up to `panel`.
  void (*transpose)(const T* from, std::int64_t row_stride, int rows, int columns, T factor, T* to,
                    int panel);
  /// to[c][r] = 1 where from[r * row_stride + c] is not 0, else 0 (and for r from `rows` on).
  void (*expand_bytes)(const std::uint8_t* from, std::int64_t row_stride, int rows, int columns,
                       T* to, int panel);
  /// Scores of the keys, softmax update and weighted values.
  void (*tile)(const TileStep<T>& step);
  /// Returns false when something stored is not finite.
  bool (*finish)(const PanelFinish<T>& panel);
  /// sums[key] += sum over the panel of power(score - lse), lse in score units ([panel], +inf for
  /// lanes that take no part). Uses the step's keys, queries and score fields.
  void (*column_sums)(const TileStep<T>& step, const T* lse, double* sums);
  /// scores[row][panel] = the products of the step's keys, which may be any rows and as many as
  /// there are, and its queries, and nothing more.
  void (*products)(const TileStep<T>& step);
};

/// Of the instruction set in use.
const ForwardKernels<float>& forward_kernels_f32();
const ForwardKernels<double>& forward_kernels_f64();

template <class T>
const ForwardKernels<T>& forward_kernels();
template <>
inline const ForwardKernels<float>& forward_kernels<float>() {
  return forward_kernels_f32();
}
template <>
inline const ForwardKernels<double>& forward_kernels<double>() {
  return forward_kernels_f64();
}

}  // namespace volvelle::kernels
