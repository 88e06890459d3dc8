#include "attention/tile_map.h"

#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Calls body(element type zero) for the width of keep's elements: 1 is true, 0 false, whatever
// the integer type.
template <class Body>
void visit_keep(DType dtype, Body&& body) {
  switch (size_of(dtype)) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

}  // namespace

TileMap::TileMap(const ResolvedAttention& problem, int panel, int threads, Workspace& workspace)
    : problem_(problem), panel_(panel), tiles_((problem.keys + kTile - 1) / kTile) {
  const bool segments = problem.query_segments.present;
  const bool keep = problem.keep.present;
  if (!segments && !keep) return;
  if (keep) {
    const std::int64_t rows = problem.keep.stride[2] == 0 ? 1 : problem.queries;
    row_panels_ = (rows + panel - 1) / panel;
    keep_b_ = problem.keep.stride[0] == 0 ? 1 : problem.batch;
    keep_h_ = problem.keep.stride[1] == 0 ? 1 : problem.heads;
  }
  const auto count = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  const std::size_t query_bytes = segments ? padded(4 * count(problem.batch, problem.queries)) : 0;
  const std::size_t key_bytes = segments ? padded(4 * count(problem.batch, problem.keys)) : 0;
  const std::size_t keep_bytes = count(keep_b_ * keep_h_, row_panels_ * tiles_);
  auto* memory = static_cast<std::byte*>(workspace.at_least(query_bytes + key_bytes + keep_bytes));
  if (segments) {
    query_ids_ = reinterpret_cast<std::int32_t*>(memory);
    key_ids_ = reinterpret_cast<std::int32_t*>(memory + query_bytes);
    read_segments();
  }
  if (keep) {
    keep_kind_ = reinterpret_cast<std::uint8_t*>(memory + query_bytes + key_bytes);
    summarise_keep(threads);
  }
}

void TileMap::read_segments() {
  const auto each = [&](auto&& take) {
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      for (std::int64_t i = 0; i < problem_.queries; ++i) {
        take(problem_.query_segments.integer(b, i), query_ids_[b * problem_.queries + i]);
      }
      for (std::int64_t j = 0; j < problem_.keys; ++j) {
        take(problem_.key_segments.integer(b, j), key_ids_[b * problem_.keys + j]);
      }
    }
  };
  bool narrow = true;
  each([&](std::int64_t id, std::int32_t& place) {
    place = static_cast<std::int32_t>(id);
    narrow = narrow && place == id;
  });
  if (narrow) return;
  // Ids beyond 32 bits (hashes, say) are replaced by their rank: only equality counts.
  std::vector<std::int64_t> ids;
  each([&](std::int64_t id, std::int32_t&) { ids.push_back(id); });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  each([&](std::int64_t id, std::int32_t& place) {
    place = static_cast<std::int32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  });
}

void TileMap::summarise_keep(int threads) {
  const Strided4& keep = problem_.keep;
  const std::int64_t rows = keep.stride[2] == 0 ? 1 : problem_.queries;
  parallel_for(keep_b_ * keep_h_ * row_panels_, threads, [&](std::int64_t task) {
    const std::int64_t query = task % row_panels_ * panel_;
    const std::int64_t h = task / row_panels_ % keep_h_;
    const std::int64_t b = task / row_panels_ / keep_h_;
    const std::int64_t count = std::min<std::int64_t>(panel_, rows - query);
    visit_keep(keep.dtype, [&](auto zero) {
      using Element = decltype(zero);
      const Element* plane = static_cast<const Element*>(keep.data) + keep.offset(b, h, query, 0);
      for (std::int64_t tile = 0; tile < tiles_; ++tile) {
        const std::int64_t from = tile * kTile;
        const std::int64_t keys = std::min(kTile, problem_.keys - from);
        std::int64_t seen = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          const Element* row = plane + i * keep.stride[2] + from * keep.stride[3];
          int in_row = 0;
          if (keep.stride[3] == 1) {
            for (std::int64_t j = 0; j < keys; ++j) in_row += row[j] != 0;
          } else {
            for (std::int64_t j = 0; j < keys; ++j) in_row += row[j * keep.stride[3]] != 0;
          }
          seen += in_row;
        }
        const TileKind kind = seen == 0              ? TileKind::skipped
                              : seen == count * keys ? TileKind::full
                                                     : TileKind::partial;
        keep_kind_[task * tiles_ + tile] = static_cast<std::uint8_t>(kind);
      }
    });
  });
}

TileKind TileMap::segments_verdict(std::int64_t b, std::int64_t query, int count, std::int64_t from,
                                   std::int64_t to) const {
  const std::int32_t* q = query_ids_ + b * problem_.queries + query;
  const std::int32_t* k = key_ids_ + b * problem_.keys;
  const auto [q_low, q_high] = std::minmax_element(q, q + count);
  const auto [k_low, k_high] = std::minmax_element(k + from, k + to);
  if (*q_high < *k_low || *k_high < *q_low) return TileKind::skipped;
  const bool one = *q_low == *q_high && *k_low == *k_high && *q_low == *k_low;
  return one ? TileKind::full : TileKind::partial;
}

TileKind TileMap::keep_verdict(std::int64_t b, std::int64_t h, std::int64_t query,
                               std::int64_t from) const {
  const std::int64_t row = (keep_b_ == 1 ? 0 : b) * keep_h_ + (keep_h_ == 1 ? 0 : h);
  const std::int64_t panel = row_panels_ == 1 ? 0 : query / panel_;
  return static_cast<TileKind>(keep_kind_[(row * row_panels_ + panel) * tiles_ + from / kTile]);
}

TileVerdict TileMap::verdict(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                             const PanelExclusion& index, std::int64_t from,
                             std::int64_t to) const {
  TileVerdict verdict;
  if (!index.touches(from, to)) return {TileKind::skipped};
  verdict.by_index = !index.covers(from, to);
  if (query_ids_ != nullptr) {
    const TileKind kind = segments_verdict(b, query, count, from, to);
    if (kind == TileKind::skipped) return {kind};
    verdict.by_choice = kind == TileKind::partial;
  }
  if (keep_kind_ != nullptr) {
    const TileKind kind = keep_verdict(b, h, query, from);
    if (kind == TileKind::skipped) return {kind};
    verdict.by_choice = verdict.by_choice || kind == TileKind::partial;
  }
  if (verdict.by_index || verdict.by_choice) verdict.kind = TileKind::partial;
  return verdict;
}

template <class T>
void TileMap::fill(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t from,
                   std::int64_t to, T* select) const {
  const std::int64_t keys = to - from;
  const Strided4& keep = problem_.keep;
  const bool bytes = keep.present && size_of(keep.dtype) == 1 && keep.stride[3] == 1;
  if (bytes) {
    const auto* place =
        static_cast<const std::uint8_t*>(keep.data) + keep.offset(b, h, query, from);
    kernels::forward_kernels<T>().expand_bytes(place, keep.stride[2], count, static_cast<int>(keys),
                                               select, panel_);
  } else if (count < panel_) {
    std::fill(select, select + keys * panel_, T{0});
  }
  if (keep.present && !bytes) {
    visit_keep(keep.dtype, [&](auto zero) {
      using Element = decltype(zero);
      const Element* place =
          static_cast<const Element*>(keep.data) + keep.offset(b, h, query, from);
      for (int i = 0; i < count; ++i) {
        const Element* row = place + i * keep.stride[2];
        for (std::int64_t j = 0; j < keys; ++j) {
          select[j * panel_ + i] = row[j * keep.stride[3]] != 0 ? T{1} : T{0};
        }
      }
    });
  }
  if (query_ids_ == nullptr) return;
  const std::int32_t* q = query_ids_ + b * problem_.queries + query;
  const std::int32_t* k = key_ids_ + b * problem_.keys + from;
  for (std::int64_t j = 0; j < keys; ++j) {
    T* row = select + j * panel_;
    const std::int32_t id = k[j];
    if (keep.present) {
      for (int i = 0; i < count; ++i) row[i] = q[i] == id ? row[i] : T{0};
    } else {
      for (int i = 0; i < count; ++i) row[i] = q[i] == id ? T{1} : T{0};
    }
  }
}

template void TileMap::fill(std::int64_t, std::int64_t, std::int64_t, int, std::int64_t,
                            std::int64_t, float*) const;
template void TileMap::fill(std::int64_t, std::int64_t, std::int64_t, int, std::int64_t,
                            std::int64_t, double*) const;

}  // namespace volvelle
