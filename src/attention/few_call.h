#pragma once

#include <cstdint>

#include "attention/any_tiles.h"
#include "attention/fused_walk.h"
#include "attention/offset_bias.h"
#include "attention/relative_keys.h"
#include "attention/resolved.h"
#include "attention/tile_map.h"
#include "base/aligned_memory.h"
#include "kernels/attention_decode.h"

namespace volvelle {

/// Workspaces of one call over few queries, kept by the calling thread.
struct FewWorkspaces {
  Workspace map, bias, relative, cuts, parts;
};

/// What every task of one call reads: the kernels, the cut of the heads into slabs and of the keys
/// into parts, and the memory that parts are left in. A task is one part of one slab, up to 64 rows
/// of one key head; tasks on the same keys follow each other.
struct FewCall {
  FewCall(const ResolvedAttention& resolved, int threads, FewWorkspaces& workspaces);
  FewCall(const FewCall&) = delete;
  FewCall& operator=(const FewCall&) = delete;

  /// The parts of one batch row that any query sees.
  struct Cut {
    std::int64_t first_part, parts, first_task;
  };
  /// What a task works on.
  struct Place {
    std::int64_t b, key_head, first_head;
    int heads;
    std::int64_t first_key, last_key;
    float* part;  ///< where the task leaves it
  };
  Place place(std::int64_t task) const;

  /// The first part of the slab of (b, h), or null where no query of row b sees a key; the others
  /// follow at part_size. In each, row r of the slab is at out_row(r), and its statistics at
  /// statistic(which) + r: maximum, sum, moment.
  float* parts_of(std::int64_t b, std::int64_t h) const;
  std::int64_t statistic(int which) const { return rows * out_stride + which * rows; }
  /// The row of a slab that belongs to query i of head h.
  std::int64_t row_of(std::int64_t h, std::int64_t i) const {
    return h % group % heads * problem.queries + i;
  }

  const ResolvedAttention& problem;
  const kernels::DecodeKernels& kernels;
  TileMap map;
  OffsetBias<float> offset_bias;
  RelativeKeys<float> relative_keys;
  const AnyTiles<float> tiles;
  const TileSource<float>& source;
  kernels::Stored stored = kernels::Stored::float32;  ///< what the kernels read
  bool runs_on;        ///< whoever took a part takes the next one's keys next: one thread, one slab
  std::int64_t group;  ///< query heads of a key head
  std::int64_t heads;  ///< of them in a slab
  std::int64_t slabs;  ///< of a key head
  std::int64_t rows;   ///< of a slab, at most
  std::int64_t block;  ///< keys of one step of the kernels
  std::int64_t query_stride, out_stride, part_size;
  std::int64_t tasks = 0;
  Cut* cuts = nullptr;  ///< (B)
  float* parts = nullptr;
};

}  // namespace volvelle
