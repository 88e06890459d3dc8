#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "attention/row_turns.h"
#include "kernels/attention_forward.h"

namespace volvelle {

/// Some keys and their values, rows next to each other element by element, in the computing type.
template <class T>
struct KeyValueTile {
  const T* k = nullptr;
  std::int64_t k_stride = 0;
  const T* v = nullptr;
  std::int64_t v_stride = 0;
};

/// Keys and values of successive tokens in their storage type, for kernels that read it directly:
/// rows of elements next to each other, strides in elements.
struct StoredRows {
  const void* k = nullptr;
  std::int64_t k_stride = 0;
  const void* v = nullptr;
  std::int64_t v_stride = 0;
};

/// Where the fused walk gets its keys and values, tile by tile. The walk asks for nothing else, so
/// a cache's pages can stand here as well as a view. Tiles start at multiples of kTileKeys.
template <class T>
class TileSource {
 public:
  virtual ~TileSource() = default;

  /// Elements of scratch that load() needs.
  virtual std::int64_t scratch_size() const = 0;

  /// Whether load() copies nothing, so that asking for a tile costs as good as nothing.
  virtual bool in_place() const = 0;

  /// Keys [first, first + count) of one tile for key head g of row b; points into the source
  /// itself where its layout allows, else into `scratch` (64-byte aligned). Null pointers: the tile
  /// is not there any more, and no query sees it.
  virtual KeyValueTile<T> load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                               T* scratch) const = 0;

  /// Whether the walk may read stored() rows, of stored_dtype(), in place of tiles.
  virtual bool has_stored_rows() const = 0;
  virtual DType stored_dtype() const = 0;
  /// Token `first` of key head g of row b; the others of its tile follow.
  virtual StoredRows stored(std::int64_t b, std::int64_t g, std::int64_t first) const = 0;
};

/// Keys and values in the caller's strided views; half precision is widened on the way, and keys
/// that still have to turn, turn.
template <class T>
class StridedTiles final : public TileSource<T> {
 public:
  explicit StridedTiles(const ResolvedAttention& problem);

  bool in_place() const override { return k_in_place_ && v_in_place_; }
  std::int64_t scratch_size() const override;
  KeyValueTile<T> load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                       T* scratch) const override;
  bool has_stored_rows() const override { return stored_rows_; }
  DType stored_dtype() const override { return problem_.k.dtype; }
  StoredRows stored(std::int64_t b, std::int64_t g, std::int64_t first) const override;

 private:
  void load_turned_keys(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                        T* tile) const;

  const ResolvedAttention& problem_;
  RowTurns turns_;
  bool k_in_place_, v_in_place_, stored_rows_;
};

/// Turns rows of `tokens`, of dtype `stored`, `row_stride` apart, and leaves them in `tile` in T.
/// What a half-precision problem turns is rounded to its dtype first; `tile` has room for
/// turned_tile_size() elements.
template <class T>
void load_turned_rows(const RowTurns& turns, const ResolvedAttention& problem,
                      const TokenRows& tokens, const void* from, DType stored,
                      std::int64_t row_stride, T* tile);

/// A tile of `width` columns, and room for as many rows in a half type behind it.
inline std::int64_t turned_tile_size(std::int64_t width) {
  return kernels::kTileKeys * (width + (width + 1) / 2);
}

/// Copies `rows` rows of `columns` elements of a view to [rows][columns], widening half types to
/// float. T is the view's type or what it widens to.
template <class T>
void load_rows(const Strided4& view, std::int64_t offset, std::int64_t row_stride,
               std::int64_t column_stride, std::int64_t rows, std::int64_t columns, T* to);

/// The way back: stores [rows][columns] into a view of T or of a half type.
template <class T>
void store_rows(const T* from, std::int64_t rows, std::int64_t columns, const Strided4& view,
                std::int64_t offset, std::int64_t row_stride, std::int64_t column_stride);

}  // namespace volvelle
