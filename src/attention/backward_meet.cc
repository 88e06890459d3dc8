// A block of keys meets a group of queries: the part of a backward walk that computes.

#include <algorithm>
#include <limits>

#include "attention/backward_walk.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;

}  // namespace

// Takes the lanes that take no part out of the keys that a step's lanes see.
template <class T>
void BackwardWalk<T>::limit(int slot, kernels::TileStep<T>& tile) {
  const int panel = call_.forward.panel;
  const T* lse = call_.lse + row_ + slot * panel;
  for (int x = 0; x < panel; ++x) {
    const bool none = lse[x] == std::numeric_limits<T>::infinity();
    first_[x] = none || tile.first == nullptr ? T{0} : tile.first[x];
    last_[x] = none ? T{0} : tile.first == nullptr ? static_cast<T>(tile.keys) : tile.last[x];
  }
  tile.first = first_;
  tile.last = last_;
  tile.all_first = tile.all_last = 0;
}

template <class T>
void BackwardWalk<T>::meet_tile(std::int64_t from, std::int64_t to) {
  bool loaded = false;
  KeyValueTile<T> keys;
  kernels::TileStep<T> tile;
  StepCut cuts[3];
  for (int slot = 0; slot < panels_; ++slot) {
    for (int vector = 0; vector < 2; ++vector)
      low_[2 * slot + vector] = high_[2 * slot + vector] = 0;
    if (!walk_->exclusion(slot).touches(from, to)) continue;
    if (!loaded) {
      keys = call_.forward.source.load(b_, g_, from, static_cast<int>(to - from), tile_scratch_);
      loaded = true;
    }
    int shift = 0;
    if (!walk_->prepare(slot, keys, from, to, tile, shift)) continue;
    const int count = limited_[slot] ? 0 : walk_->split(slot, tile, cuts);
    if (limited_[slot]) limit(slot, tile);
    if (count == 0) meet_piece(slot, tile, from, shift, 0);
    for (int cut = 0; cut < count; ++cut) {
      kernels::TileStep<T> part = walk_->part(tile, cuts[cut]);
      meet_piece(slot, part, from, shift + cuts[cut].from, cuts[cut].vector);
    }
  }
  if (loaded) add_to_keys(from);
}

// One panel, or one vector of it, against keys of a tile, the first of them in row `row`.
template <class T>
void BackwardWalk<T>::meet_piece(int slot, const kernels::TileStep<T>& tile,
                                 std::int64_t tile_first, int row, int vector) {
  const ResolvedBackward& wanted = call_.backward;
  const std::int64_t panel = call_.forward.panel;
  const int lane = vector * call_.forward.kernels.lanes;
  const std::int64_t place = (slot * kTile + row) * panel + lane;
  const std::int64_t statistic = row_ + slot * panel + lane;
  kernels::BackwardStep<T> step;
  step.tile = tile;
  step.tile.scores = weights_ + place;
  step.grad_output = grad_lanes_ + slot * panel * call_.problem.value_width + lane;
  step.lse = call_.lse + statistic;
  step.delta = call_.delta + statistic;
  step.score_grads = score_grads_ + place;
  step.cap_slopes = cap_slopes_ + row * panel + lane;

  for (int v = vector; v < vector + tile.vectors; ++v) {
    int& low = low_[2 * slot + v];
    int& high = high_[2 * slot + v];
    if (low == high) low = row;
    high = row + tile.keys;
  }
  call_.kernels.weights(step);
  const std::int64_t key = tile_first + row;
  if (wanted.scores_wanted()) {
    call_.kernels.score_grads(step);
    const std::int64_t query = walk_->query(slot) + lane;
    const int count =
        std::min(walk_->count(slot) - lane, tile.vectors * call_.forward.kernels.lanes);
    if (call_.bias.wanted()) {
      if (call_.bias.in_key_order()) take_turn();
      call_.bias.add(b_, h_, query, count, key, step, static_cast<int>(panel), bias_scratch_);
    }
    if (call_.offsets.wanted()) {
      call_.offsets.add(b_, query, count, key, step, static_cast<int>(panel), offset_sums_);
    }
    if (tile.cap != 0 && (wanted.grad_q.present || call_.packs_queries())) {
      call_.kernels.through_cap(step);
    }
    if (tile.relative != nullptr && (wanted.grad_q.present || call_.relative_keys.wanted())) {
      add_relative_keys(slot, step, query, count, key, lane);
    }
    if (wanted.grad_q.present) {
      add_query_grads(slot, step, lane, finite_keys_[(tile_first - first_key_) / kTile]);
    }
  }
  if (tile.factors != nullptr && wanted.grad_v.present) call_.kernels.drop(step);
  if (bad_queries_ > 0) add_bad_queries(slot, step, key, lane);
}

template <class T>
void BackwardWalk<T>::add_query_grads(int slot, const kernels::BackwardStep<T>& step, int lane,
                                      bool finite) {
  take_turn();
  T* sums = query_sums_ + slot * call_.forward.panel * call_.problem.width + lane;
  const bool masked = step.tile.first != nullptr || step.tile.select != nullptr;
  if (finite || !masked) {
    call_.kernels.query_grads(step, sums);
  } else {
    add_bad_keys(step, sums);
  }
}

// Adds a tile's weights and gradients of scores, times rows of grad_output and queries, to its
// keys: rows of keys that the same vectors have met at a time.
template <class T>
void BackwardWalk<T>::add_to_keys(std::int64_t tile_first) {
  const ResolvedBackward& wanted = call_.backward;
  if (!wanted.grad_k.present && !wanted.grad_v.present) return;
  const int panel = call_.forward.panel;
  const int lanes = call_.forward.kernels.lanes;
  const int vectors = call_.forward.vectors;
  const auto add = [&](int row, int rows, const kernels::ProductPart<T>* parts, int count, T* sums,
                       std::int64_t width) {
    kernels::RowProduct<T> product;
    product.parts = parts;
    product.count = count;
    product.rows = rows;
    product.columns = static_cast<int>((width + lanes - 1) / lanes * lanes);
    product.left_stride = panel;
    product.right_band = call_.group_queries * call_.band;
    product.out_band = call_.block_keys * call_.band;
    product.out = sums + (tile_first - first_key_ + row) * call_.band;
    call_.kernels.add_rows(product);
  };
  for (int row = 0; row < kTile;) {
    int next = static_cast<int>(kTile);
    int count = 0;
    for (int slot = 0; slot < panels_; ++slot) {
      bool joined = false;  // the panel's vectors lie side by side: one part where both take part
      for (int vector = 0; vector < vectors; ++vector) {
        const int low = low_[2 * slot + vector];
        const int high = high_[2 * slot + vector];
        if (row < low) next = std::min(next, low);
        if (row < low || row >= high) continue;
        next = std::min(next, high);
        if (vector == 1 && joined) {
          weight_parts_[count - 1].depth += lanes;
          grad_parts_[count - 1].depth += lanes;
          continue;
        }
        joined = true;
        const std::int64_t left = (slot * kTile + row) * panel + vector * lanes;
        const std::int64_t right = slot * panel + vector * lanes;
        weight_parts_[count] = {weights_ + left, grad_rows_ + right * call_.band, lanes};
        grad_parts_[count] = {score_grads_ + left, query_rows_ + right * call_.band, lanes};
        ++count;
      }
    }
    if (count > 0 && wanted.grad_v.present) {
      add(row, next - row, weight_parts_, count, value_sums_, call_.problem.value_width);
    }
    if (count > 0 && wanted.grad_k.present) {
      add(row, next - row, grad_parts_, count, key_sums_, call_.problem.width);
    }
    row = next;
  }
}

template void BackwardWalk<float>::meet_tile(std::int64_t, std::int64_t);
template void BackwardWalk<double>::meet_tile(std::int64_t, std::int64_t);

}  // namespace volvelle
