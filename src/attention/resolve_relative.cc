#include "attention/resolve_relative.h"

#include <algorithm>
#include <string>

#include "attention/resolve_layout.h"

namespace volvelle {
namespace {

RelativeVectors lay_out(const NamedView& array, const char* letter, std::int64_t width,
                        std::int64_t heads) {
  RelativeVectors vectors;
  const View& view = array.view;
  if (!view) return vectors;
  check_floating(array);
  check_memory(array);
  const int rank = view.rank();
  const auto extent = [&](int from_last) { return view.shape()[rank - 1 - from_last]; };
  const bool fits =
      (rank == 2 || rank == 3) && extent(0) == width && (rank == 2 || view.shape()[0] == heads);
  if (!fits) {
    refuse(described(array.name, view) + " must have shape (2M+1," + letter + ") or (H,2M+1," +
           letter + ") with " + letter + "=" + std::to_string(width) +
           " and H=" + std::to_string(heads));
  }
  if (extent(1) % 2 != 1) {
    refuse(described(array.name, view) + " has " + std::to_string(extent(1)) +
           " vectors; it must have an odd number 2M+1: offsets -M to M");
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(extent(1), heads, &bytes) ||
      __builtin_mul_overflow(bytes, width, &bytes) ||
      __builtin_mul_overflow(bytes, std::int64_t{8}, &bytes)) {
    refuse("the bytes of H*(2M+1)*" + std::string(letter) + " do not fit 63 bits (" +
           described(array.name, view) + ")");
  }
  std::int64_t shape[4];
  vectors.rows = on_four_axes(array, shape);
  vectors.reach = shape[2] / 2;
  return vectors;
}

struct Range {
  std::int64_t low = 0, high = 0;
};

Range range_of(const Strided2& positions, std::int64_t b, std::int64_t first, std::int64_t count) {
  if (!positions.present) return {first, first + count - 1};
  Range range{positions.integer(b, 0), positions.integer(b, 0)};
  for (std::int64_t i = 1; i < count; ++i) {
    const std::int64_t at = positions.integer(b, i);
    range.low = std::min(range.low, at);
    range.high = std::max(range.high, at);
  }
  return range;
}

}  // namespace

void lay_out_relative_vectors(const AttentionProblem& problem, ResolvedAttention& r) {
  r.relative_keys = lay_out({"relative_keys", problem.relative_keys}, "D", r.width, r.heads);
  r.relative_queries =
      lay_out({"relative_queries", problem.relative_queries}, "D", r.width, r.heads);
  r.relative_values =
      lay_out({"relative_values", problem.relative_values}, "E", r.value_width, r.heads);
}

void find_reached_entries(ResolvedAttention& r) {
  if (!r.has_relative_vectors() || r.batch == 0 || r.queries == 0 || r.keys == 0) return;
  Range offsets;
  for (std::int64_t b = 0; b < r.batch; ++b) {
    const Range query = range_of(r.query_positions, b, r.offset(b), r.queries);
    const Range key = range_of(r.key_positions, b, 0, r.keys);
    const Range own{key.low - query.high, key.high - query.low};
    offsets =
        b == 0 ? own : Range{std::min(offsets.low, own.low), std::max(offsets.high, own.high)};
  }
  for (RelativeVectors* vectors : {&r.relative_keys, &r.relative_queries, &r.relative_values}) {
    if (!vectors->present()) continue;
    vectors->first = vectors->entry(offsets.low);
    vectors->count = vectors->entry(offsets.high) - vectors->first + 1;
  }
}

}  // namespace volvelle
