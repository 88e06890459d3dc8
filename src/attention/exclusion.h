#pragma once

#include <cstdint>

#include "attention/resolved.h"
#include "kernels/attention_forward.h"

namespace volvelle {

/// What the index rules (causal, windows, prefix, chunk, key lengths) let the queries of one panel
/// see. Under these rules every query sees one interval of keys; segments and `keep`, which cut
/// arbitrary sets, are added tile by tile (tile_map.h).
struct PanelExclusion {
  std::int64_t first[kernels::kMaxPanel];    ///< query x sees keys [first, last); 0, 0 where none;
  std::int64_t last[kernels::kMaxPanel];     ///< unset where every query sees every key
  std::int64_t any_first = 0, any_last = 0;  ///< hull of all intervals; equal: nothing is seen
  std::int64_t all_first = 0, all_last = 0;  ///< keys that every query sees

  bool touches(std::int64_t from, std::int64_t to) const {
    return any_first < to && from < any_last;
  }
  bool covers(std::int64_t from, std::int64_t to) const {
    return all_first <= from && to <= all_last;
  }
};

/// For queries [query, query + count) of batch row b, count <= kMaxPanel.
void exclude_by_index(const ResolvedAttention& problem, std::int64_t b, std::int64_t query,
                      int count, PanelExclusion& panel);

}  // namespace volvelle
