#pragma once

#include <cstdint>

#include "attention/exclusion.h"
#include "attention/resolved.h"
#include "base/aligned_memory.h"

namespace volvelle {

enum class TileKind : std::uint8_t { skipped, full, partial };

/// How a panel of queries and some keys of a tile meet under everything that excludes.
struct TileVerdict {
  TileKind kind = TileKind::full;
  bool by_index = false;   ///< partial: the intervals cut it
  bool by_choice = false;  ///< partial: segments or `keep` cut it
};

/// Segments and `keep` of one call, summed up once per (panel, tile) so that dead tiles are never
/// visited. Built once before the walk; read by all threads. Memory: one byte per (panel, tile) of
/// each distinct mask plane, four per token of segment ids.
class TileMap {
 public:
  /// `workspace` holds the summaries and must outlive the map.
  TileMap(const ResolvedAttention& problem, int panel, int threads, Workspace& workspace);

  /// Whether keys [from, to), inside tile `from / kTileKeys`, are seen by queries
  /// [query, query + count) of (b, h).
  TileVerdict verdict(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                      const PanelExclusion& index, std::int64_t from, std::int64_t to) const;

  /// select[(key - from) * panel + lane] = 1 where segments and `keep` let the key through, else 0.
  template <class T>
  void fill(std::int64_t b, std::int64_t h, std::int64_t query, int count, std::int64_t from,
            std::int64_t to, T* select) const;

 private:
  TileKind segments_verdict(std::int64_t b, std::int64_t query, int count, std::int64_t from,
                            std::int64_t to) const;
  TileKind keep_verdict(std::int64_t b, std::int64_t h, std::int64_t query,
                        std::int64_t from) const;
  void read_segments();
  void summarise_keep(int threads);

  const ResolvedAttention& problem_;
  int panel_;
  std::int64_t tiles_ = 0;       // of keys
  std::int64_t row_panels_ = 0;  // of queries that the mask tells apart
  std::int64_t keep_b_ = 0, keep_h_ = 0;
  std::int32_t* query_ids_ = nullptr;  // (B,T)
  std::int32_t* key_ids_ = nullptr;    // (B,S)
  std::uint8_t* keep_kind_ = nullptr;  // (keep_b, keep_h, row_panels, tiles) of TileKind
};

}  // namespace volvelle
