#pragma once

#include <cstdint>

#include "attention/fused_walk.h"
#include "kernels/attention_pairs.h"

namespace volvelle {

/// The bfloat16 side of one thread's panel walk: queries and tiles as the multiplication of pairs
/// takes them. Queries and keys are interleaved and read as they are; a tile's values are turned on
/// their side once for all panels of a task. Rows with numbers that float32 would treat otherwise
/// (subnormal or huge ones, infinities, NaN) are multiplied in float32, row by row, so that what is
/// odd about one token moves no bit of a query that does not see it.
class PairWalk {
 public:
  /// For the call's tasks, beside `walk`.
  PairWalk(const FusedCall<float>& call, PanelWalk<float>& walk, Workspace& workspace);

  /// Takes in the queries of panel slot `slot`, which is open in the walk.
  void open(int slot, std::int64_t b, std::int64_t h);

  /// Takes in keys [from, from + count) of one tile. False: they are not there any more, and no
  /// query sees them.
  bool load(std::int64_t b, std::int64_t g, std::int64_t from, int count);

  /// The pairs of a step that the walk prepared against the loaded tile, `shift` keys into it. Also
  /// gives the step its float32 rows where they are needed.
  kernels::PairStep complete(int slot, int shift, kernels::TileStep<float>& step);

 private:
  std::size_t carve(void* base);
  StoredRows gather(int count);

  const FusedCall<float>& call_;
  PanelWalk<float>& walk_;
  const kernels::PairKernels& kernels_;
  const RowTurns key_turn_;
  const std::int64_t width_;  // of a padded row of queries and keys
  std::int64_t b_ = 0, g_ = 0, from_ = 0;
  int count_ = 0;
  const std::uint16_t* k_ = nullptr;
  std::int64_t k_stride_ = 0;
  bool odd_k_ = false, odd_v_ = false;
  bool widened_ = false;
  KeyValueTile<float> wide_;

  bool* wide_queries_;  // of each slot: its float32 queries are there
  bool* has_odd_;       // of each slot
  float* odd_queries_;  // [slots][panel]
  std::uint32_t *queries_, *weights_;
  std::uint16_t *rows_, *keys_, *gathered_k_, *gathered_v_, *values_;
  std::uint8_t *odd_keys_, *odd_values_, *odd_rows_;
  float* scores_;
};

/// Whether a problem over keys and values of dtype `stored` multiplies bfloat16 numbers as pairs on
/// the instruction set in use.
bool multiplies_pairs(const ResolvedAttention& problem, DType stored);

/// Walks the open panels [0, panels) over every tile that one of them sees.
void walk_pairs(const FusedCall<float>& call, PanelWalk<float>& walk, std::int64_t b,
                std::int64_t h, int panels);

}  // namespace volvelle
