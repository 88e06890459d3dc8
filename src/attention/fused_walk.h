#pragma once

#include <cstdint>

#include "attention/any_tiles.h"
#include "attention/exclusion.h"
#include "attention/offset_bias.h"
#include "attention/relative_keys.h"
#include "attention/resolved.h"
#include "attention/slope_reach.h"
#include "attention/tile_map.h"
#include "base/aligned_memory.h"
#include "kernels/attention_forward.h"
#include "kernels/attention_pairs.h"

namespace volvelle {

/// Workspaces of one call, kept by the calling thread.
struct CallWorkspaces {
  Workspace map, bias, rows, reach, relative;
};

/// What becomes of bfloat16 numbers: they are multiplied as pairs where the instruction set in use
/// can and the problem allows it, or always widened.
enum class Pairs { widened, multiplied };

/// What every task of one fused call reads: the kernels, the cut into panels and tasks, the
/// summaries. Built by the calling thread.
template <class T>
struct FusedCall {
  FusedCall(const ResolvedAttention& resolved, int threads, CallWorkspaces& workspaces,
            Pairs pairs = Pairs::widened);
  FusedCall(const FusedCall&) = delete;
  FusedCall& operator=(const FusedCall&) = delete;

  const ResolvedAttention& problem;
  const kernels::ForwardKernels<T>& kernels;
  int vectors;  ///< vectors in a panel
  int panel;    ///< queries in a panel
  int panels_per_task;
  std::int64_t tasks_per_head;
  TileMap map;
  OffsetBias<T> offset_bias;
  RelativeKeys<T> relative_keys;
  const AnyTiles<T> tiles;
  const TileSource<T>& source;                ///< the one in `tiles`
  const kernels::PairMultiplier* multiplier;  ///< of bfloat16 pairs; null: all is computed in T
  SlopeReach<T> reach;                        ///< tiles beyond it are not walked
  const kernels::PairKernels* pair_kernels;   ///< with it
  int grain;                                  ///< the keys of a step are cut at multiples of this
  std::int64_t value_rows;                    ///< rows of a panel's output, at least value_width
  bool fetch_ahead;        ///< the keys outgrow the near caches: ask for the next tile early
  std::size_t walk_bytes;  ///< what a thread's PanelWalk needs
};

/// Keys [from, to) of a step, for `vectors` vectors of the panel from `vector` on.
struct StepCut {
  int from, to, vector, vectors;
};

/// One thread's pieces of a panel walk, carved out of its workspace.
template <class T>
class PanelWalk {
 public:
  /// Bytes that a walk holding `panels` panels at once needs at most.
  static std::size_t bytes(const FusedCall<T>& call, int panels);

  /// Holds `panels` panels, no more than the call's tasks have.
  PanelWalk(const FusedCall<T>& call, int panels, bool moment, Workspace& workspace);
  /// The same in memory of bytes(call, panels) bytes.
  PanelWalk(const FusedCall<T>& call, int panels, bool moment, void* memory);

  /// Takes in queries of panel slot `slot`: [query, query + count) of (b, h); if the call
  /// multiplies pairs, all but the queries themselves.
  void open(int slot, std::int64_t b, std::int64_t h, std::int64_t query, int count);
  /// Takes in the queries themselves of a slot of the (b, h) opened last, in T.
  void load_queries(int slot);
  /// What they are multiplied with on the way.
  T query_factor() const;

  const PanelExclusion& exclusion(int slot) const { return exclusion_[slot]; }

  /// Fills `step` for the panel in `slot` against the part of keys [from, to) that it sees at all;
  /// false when it sees none. `shift` receives how many keys were left out in front.
  bool prepare(int slot, const KeyValueTile<T>& tile, std::int64_t from, std::int64_t to,
               kernels::TileStep<T>& step, int& shift);

  /// Finds where a prepared step should be cut because one of the panel's two vectors sees none of
  /// the keys: `cuts` receives up to three pieces, in the order of their keys, that leave the rest
  /// out. 0: nothing to gain, take the step as it is.
  int split(int slot, const kernels::TileStep<T>& step, StepCut cuts[3]) const;
  kernels::TileStep<T> part(const kernels::TileStep<T>& step, const StepCut& cut) const;

  /// Marks the vectors of the step as written, and sees to it that those read were.
  void start(int slot, kernels::TileStep<T>& step);
  /// Zeroes the outputs that no step wrote.
  void complete(int slot);

  T* scratch() { return scratch_; }
  T* rows() { return rows_; }
  T* maximum(int slot) { return maximum_ + slot * call_.panel; }
  T* sum(int slot) { return sum_ + slot * call_.panel; }
  T* moment(int slot) { return moment_ == nullptr ? nullptr : moment_ + slot * call_.panel; }
  T* out(int slot) { return out_ + slot * call_.panel * call_.value_rows; }
  T* statistic() { return statistic_; }
  int count(int slot) const { return count_[slot]; }
  std::int64_t query(int slot) const { return query_[slot]; }

 private:
  explicit PanelWalk(const FusedCall<T>& call) : call_(call) {}
  std::size_t carve(void* base, int panels, bool moment);
  void clear_vector(int slot, int vector);
  void add_dense_bias(std::int64_t query, int count, std::int64_t from, int keys);

  const FusedCall<T>& call_;
  std::int64_t b_ = 0, h_ = 0;
  PanelExclusion* exclusion_;
  std::int64_t* query_;
  int* count_;
  int* started_;  // bit v: vector v of the panel's output holds something
  T *queries_, *out_, *maximum_, *sum_, *moment_;
  T *scores_, *bias_, *select_, *factors_, *first_, *last_, *diagonal_, *scratch_, *rows_,
      *statistic_, *relative_, *products_;
};

}  // namespace volvelle
