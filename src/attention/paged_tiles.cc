#include "attention/paged_tiles.h"

#include <algorithm>

namespace volvelle {

template <class T>
PagedTiles<T>::PagedTiles(const ResolvedAttention& problem)
    : problem_(problem),
      rows_(*problem.paged),
      turns_(problem, TurnedRows::keys),
      in_place_(stored_dtype() == dtype_of<T> && !turns_) {}

template <class T>
std::int64_t PagedTiles<T>::scratch_size() const {
  return in_place_ ? 0 : turned_tile_size(problem_.width) + kPageTokens * problem_.value_width;
}

template <class T>
StoredRows PagedTiles<T>::stored(std::int64_t b, std::int64_t g, std::int64_t first) const {
  StoredRows stored{nullptr, problem_.width, nullptr, problem_.value_width};
  const KeyValueCache::Pages::Tokens& tokens = *rows_.rows[static_cast<std::size_t>(b)];
  if (first >= tokens.first_kept() && first < tokens.length) {
    stored.k = rows_.pages->key(tokens, g, first);
    stored.v = rows_.pages->value(tokens, g, first);
  }
  return stored;
}

template <class T>
KeyValueTile<T> PagedTiles<T>::load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                                    T* scratch) const {
  const StoredRows rows = stored(b, g, first);
  if (rows.k == nullptr) return {};
  if (in_place_) {
    return {static_cast<const T*>(rows.k), rows.k_stride, static_cast<const T*>(rows.v),
            rows.v_stride};
  }
  KeyValueTile<T> tile{scratch, problem_.width, scratch + turned_tile_size(problem_.width),
                       problem_.value_width};
  const std::int64_t there =
      std::min<std::int64_t>(count, rows_.lengths[static_cast<std::size_t>(b)] - first);
  Strided4 page;
  page.dtype = stored_dtype();
  page.data = rows.k;
  if (turns_) {
    load_turned_rows(turns_, problem_, {TurnedRows::keys, b, first, there}, rows.k, stored_dtype(),
                     rows.k_stride, scratch);
  } else {
    load_rows(page, 0, rows.k_stride, 1, there, problem_.width, scratch);
  }
  if (stored_dtype() == dtype_of<T>) {
    tile.v = static_cast<const T*>(rows.v);
    tile.v_stride = rows.v_stride;
    return tile;
  }
  page.data = rows.v;
  load_rows(page, 0, rows.v_stride, 1, there, problem_.value_width,
            scratch + turned_tile_size(problem_.width));
  return tile;
}

template class PagedTiles<float>;
template class PagedTiles<double>;

}  // namespace volvelle
