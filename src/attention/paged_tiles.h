#pragma once

#include <cstdint>

#include "attention/paged_rows.h"
#include "attention/tile_source.h"

namespace volvelle {

/// Keys and values in the pages of a cache, one page a tile: read in place where they are stored in
/// the computing type, else widened on the way. Keys that turn, turn on the way too.
template <class T>
class PagedTiles final : public TileSource<T> {
 public:
  explicit PagedTiles(const ResolvedAttention& problem);

  bool in_place() const override { return in_place_; }
  std::int64_t scratch_size() const override;
  KeyValueTile<T> load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                       T* scratch) const override;
  bool has_stored_rows() const override { return !turns_; }
  DType stored_dtype() const override { return rows_.pages->options().dtype; }
  StoredRows stored(std::int64_t b, std::int64_t g, std::int64_t first) const override;

 private:
  const ResolvedAttention& problem_;
  const PagedRows& rows_;
  RowTurns turns_;
  bool in_place_;
};

}  // namespace volvelle
