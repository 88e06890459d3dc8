#pragma once

#include <cstdint>

#include "attention/resolved.h"

namespace volvelle {

/// Some keys and their values, rows next to each other element by element, in the computing type.
template <class T>
struct KeyValueTile {
  const T* k = nullptr;
  std::int64_t k_stride = 0;
  const T* v = nullptr;
  std::int64_t v_stride = 0;
};

/// Where the fused walk gets its keys and values, tile by tile. The walk asks for nothing else, so
/// a cache's pages can stand here as well as a view.
template <class T>
class TileSource {
 public:
  virtual ~TileSource() = default;

  /// Elements of scratch that load() needs.
  virtual std::int64_t scratch_size() const = 0;

  /// Keys [first, first + count) of one tile for key head g of row b; points into the source
  /// itself where its layout allows, else into `scratch` (64-byte aligned).
  virtual KeyValueTile<T> load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                               T* scratch) const = 0;
};

/// Keys and values in the caller's strided views; half precision is widened on the way.
template <class T>
class StridedTiles final : public TileSource<T> {
 public:
  explicit StridedTiles(const ResolvedAttention& problem);

  /// Nothing is copied: the next tile lies behind this one by so many rows.
  bool in_place() const { return k_in_place_ && v_in_place_; }
  std::int64_t scratch_size() const override;
  KeyValueTile<T> load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                       T* scratch) const override;

 private:
  const ResolvedAttention& problem_;
  bool k_in_place_, v_in_place_;
};

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
