#pragma once

#include <atomic>
#include <cstdint>

#include "attention/backward_bias.h"
#include "attention/backward_relative.h"
#include "attention/backward_tables.h"
#include "attention/backward_turns.h"
#include "attention/fused_walk.h"
#include "attention/resolved_backward.h"
#include "attention/row_turns.h"

namespace volvelle {

/// Workspaces of one backward call, kept by the calling thread.
struct BackwardWorkspaces {
  CallWorkspaces forward;
  Workspace rows, sums, query_turns, head_turns, bias, tables, relative, slots;
};

/// Keys [first, last) that a group of queries may see by the index rules; equal: none.
struct KeyRange {
  std::int64_t first, last;
};

/// What every task of one fused backward reads. Built by the calling thread.
///
/// A task owns the gradients of one block of keys: of one key head, or of all those whose planes
/// add to the same cells of a bias gradient. It walks the queries of its heads group by group, in
/// ascending order. The gradient of a query is a running sum over the blocks of keys in ascending
/// order: a task adds when the block before has (`query_turns`); tasks are numbered so that it
/// waits for lower ones only. No sum depends on where blocks or groups are cut, so blocks may be
/// cut finer for more threads; sums by offset do, and then the problem alone decides.
template <class T>
struct BackwardCall {
  /// `resolved` is `given` with q and k turned.
  BackwardCall(const ResolvedAttention& resolved, const ResolvedAttention& given,
               const ResolvedBackward& arrays, int threads, BackwardWorkspaces& workspaces);

  std::int64_t plane(std::int64_t b, std::int64_t h) const { return b * problem.heads + h; }
  std::int64_t tasks() const { return blocks * sets_batch * sets_heads; }
  /// Whether the order of what is added for a query matters.
  bool in_turn() const { return backward.grad_q.present || bias.in_key_order(); }
  /// Whether heads have sums that their blocks of keys add in turn.
  bool sums_by_head() const { return offsets.wanted() || relative_keys.wanted(); }
  /// Whether rows of queries are summed up.
  bool packs_queries() const { return backward.grad_k.present || relative_keys.wanted(); }
  /// Whether queries that are not finite must be kept apart: some query may not see some key that
  /// it meets in a tile, or its products would reach vectors of offsets that only others have.
  bool guarded() const {
    return problem.has_exclusion() || problem.has_bias() || relative_keys.wanted();
  }
  std::int64_t first_block(const KeyRange& range) const { return range.first / block_keys; }
  std::int64_t last_block(const KeyRange& range) const {
    return range.first < range.last ? (range.last - 1) / block_keys : first_block(range);
  }

  const ResolvedAttention& problem;
  const ResolvedBackward& backward;
  RowTurns query_turn, key_turn;  ///< by which gradients are turned back
  FusedCall<T> forward;
  const kernels::BackwardKernels<T>& kernels;
  BiasGradient<T> bias;
  OffsetGradients<T> offsets;
  RelativeKeyGradients<T> relative_keys;

  int group_panels;            ///< panels that share one sum into the keys' gradients
  std::int64_t group_queries;  ///< group_panels * panel
  std::int64_t groups;
  std::int64_t block_keys, blocks;                ///< a multiple of kTileKeys; at least one block
  std::int64_t sets_batch, sets_heads;            ///< sets of planes: 1, or B and G
  std::int64_t band;                              ///< columns of a band of packed rows: two vectors
  std::int64_t padded_width, padded_value_width;  ///< multiples of a band

  T* lse;              ///< (B,H,groups * group_queries), units of scores; +inf: takes no part
  T* delta;            ///< the same
  double* sink_parts;  ///< (B,H,groups); null: not wanted
  KeyRange* ranges;    ///< (B,H,groups)
  T* query_sums;       ///< (B,H,groups,group_panels,D,panel); null: with one block, in the task
  Turns query_turns;   ///< (B,H,groups): the block whose turn it is
  Turns head_turns;    ///< (B,H): the block whose turn it is to add sums by offset
};

}  // namespace volvelle
