#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "base/aligned_memory.h"
#include "kernels/attention_forward.h"

namespace volvelle {

/// The relative vectors that a panel of queries meets in some keys of a tile: reached rows
/// [first, first + count).
struct MetVectors {
  std::int64_t first = 0, count = 0;
  bool in_order = false;  ///< positions of queries and of keys run on by one
  std::int64_t base = 0;  ///< then the offset of query 0 and key 0
};

/// Relative keys of one call in the tiles of a walk. What query i adds to the raw score of key j is
/// its product with the vector of their offset: the products of a panel and all vectors that it
/// meets in a tile are taken as those of keys are, then laid where pairs have those offsets. Where
/// all are clamped to one end of the table, as in most tiles, one vector gives a number per query.
/// Built once before the walk; read by all threads. Memory: the reached vectors of each head, and
/// eight bytes per token where positions are explicit; never a T x S array.
/// Source: Shaw, Uszkoreit and Vaswani 2018, arXiv:1803.02155; the products by offset of Huang et
/// al. 2018, arXiv:1809.04281.
template <class T>
class RelativeKeys {
 public:
  /// Vectors whose products are taken at once.
  static constexpr std::int64_t kMost = kernels::kTileKeys + kernels::kMaxPanel;

  RelativeKeys(const ResolvedAttention& problem, Workspace& workspace);

  bool present() const { return rows_ != nullptr; }
  /// Reached vector `row` of head h; the next one follows at row_stride().
  const T* row(std::int64_t h, std::int64_t row) const {
    return rows_ + ((shared_ ? 0 : h) * problem_.relative_keys.count + row) * problem_.width;
  }
  std::int64_t row_stride() const { return problem_.width; }
  /// The reached row that query i and key j of batch row b meet.
  std::int64_t met(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return row_of(key_position(b, j) - query_position(b, i));
  }

  /// Of queries [query, query + count) and keys [key, key + keys).
  MetVectors met(std::int64_t b, std::int64_t query, int count, std::int64_t key, int keys) const;

  /// Fills in `relative` and `relative_stride` of a step that has its keys and queries. `products`
  /// has room for kMost rows of a panel, `rows` for kTileKeys.
  void fill(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t key,
            int panel, T* products, T* rows, kernels::TileStep<T>& step) const;

  /// The way back: sums[row - met.first][x] += what `cells` [keys][panel] has where query x meets
  /// reached row `row`, for rows [first, first + count) of those met.
  void gather(const MetVectors& met, std::int64_t b, std::int64_t query, int count,
              std::int64_t key, int keys, int panel, std::int64_t first, std::int64_t rows,
              const T* cells, T* sums) const;

 private:
  std::int64_t row_of(std::int64_t offset) const {
    return problem_.relative_keys.entry(offset) - problem_.relative_keys.first;
  }
  std::int64_t query_position(std::int64_t b, std::int64_t i) const {
    return query_at_ != nullptr ? query_at_[b * problem_.queries + i] : problem_.offset(b) + i;
  }
  std::int64_t key_position(std::int64_t b, std::int64_t j) const {
    return key_at_ != nullptr ? key_at_[b * problem_.keys + j] : j;
  }
  void spread(const MetVectors& met, int count, int keys, int panel, const T* products,
              T* rows) const;

  const ResolvedAttention& problem_;
  bool shared_ = false;
  T* rows_ = nullptr;                 // (1 or H, reached, D); null: no relative keys
  std::int64_t* query_at_ = nullptr;  // (B,T) explicit positions
  std::int64_t* key_at_ = nullptr;    // (B,S)
};

}  // namespace volvelle
