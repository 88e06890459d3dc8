// A block of keys meets a group of queries: the part of a backward walk that computes.

#include <algorithm>
#include <limits>

#include "attention/backward_rows.h"
#include "attention/backward_walk.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;

// Whether the query in lane x of a step sees key j of it.
template <class T>
bool seen(const kernels::TileStep<T>& tile, int j, int x, int panel) {
  if (tile.first != nullptr) {
    const T key = static_cast<T>(j + tile.key_base);
    if (key < tile.first[x] || key >= tile.last[x]) return false;
  }
  return tile.select == nullptr || tile.select[j * panel + x] != 0;
}

}  // namespace

// Rows of queries in bands; `rows` is the place of the first in the first band.
template <class T>
void BackwardWalk<T>::load_bands(const Strided4& view, std::int64_t query, int count,
                                 std::int64_t width, T* rows) const {
  for (std::int64_t c = 0; c < width; c += call_.band, rows += call_.group_queries * call_.band) {
    load_padded_rows(view, view.offset(b_, h_, query, c), count, std::min(call_.band, width - c),
                     rows, call_.band);
  }
}

template <class T>
void BackwardWalk<T>::load_queries(int slot, std::int64_t query, int count) {
  const ResolvedAttention& problem = call_.problem;
  const ResolvedBackward& wanted = call_.backward;
  const std::int64_t panel = call_.forward.panel;
  const std::int64_t place = slot * panel * call_.band;
  T* grad_rows = grad_rows_ + place;
  load_bands(wanted.grad_output, query, count, problem.value_width, grad_rows);
  if (wanted.grad_k.present) {
    load_bands(problem.q, query, count, problem.width, query_rows_ + place);
  }
  if (!wanted.scores_wanted()) return;
  T* lanes = grad_lanes_ + slot * panel * problem.value_width;
  for (std::int64_t c = 0; c < problem.value_width; c += call_.band) {
    call_.forward.kernels.transpose(grad_rows + c * call_.group_queries, call_.band, count,
                                    static_cast<int>(std::min(call_.band, problem.value_width - c)),
                                    T{1}, lanes + c * panel, static_cast<int>(panel));
  }
}

template <class T>
bool BackwardWalk<T>::finite_rows(int place, int count) const {
  const auto band = static_cast<int>(call_.band);
  const auto finite = [&](const T* rows, std::int64_t width) {
    for (std::int64_t c = 0; c < width; c += band) {
      const T* first = rows + c * call_.group_queries + place * band;
      if (!call_.kernels.all_finite(first, band, count, band)) return false;
    }
    return true;
  };
  return finite(grad_rows_, call_.padded_value_width) &&
         (!call_.backward.grad_k.present || finite(query_rows_, call_.padded_width));
}

template <class T>
void BackwardWalk<T>::clear_rows(int slot, int count) {
  const int panel = call_.forward.panel;
  const auto clear = [&](int place) {
    const auto clear_in = [&](T* rows, std::int64_t width) {
      for (std::int64_t c = 0; c < width; c += call_.band) {
        std::fill_n(rows + c * call_.group_queries + place * call_.band, call_.band, T{0});
      }
    };
    clear_in(grad_rows_, call_.padded_value_width);
    if (call_.backward.grad_k.present) clear_in(query_rows_, call_.padded_width);
  };
  const T* lse = call_.lse + row_ + slot * panel;
  const auto takes_part = [&](int x) { return lse[x] != std::numeric_limits<T>::infinity(); };
  limited_[slot] = false;
  for (int x = 0; x < panel; ++x) {
    if (takes_part(x)) continue;
    limited_[slot] = true;
    clear(slot * panel + x);
  }
  if (!call_.guarded() || finite_rows(slot * panel, count)) return;
  for (int x = 0; x < count; ++x) {
    if (!takes_part(x) || finite_rows(slot * panel + x, 1)) continue;
    bad_query_[bad_queries_++] = slot * panel + x;
    clear(slot * panel + x);
  }
}

template <class T>
void BackwardWalk<T>::open_group(std::int64_t group) {
  const ResolvedAttention& problem = call_.problem;
  const int panel = call_.forward.panel;
  panels_ = 0;
  bad_queries_ = 0;
  for (std::int64_t query = group * call_.group_queries;
       panels_ < call_.group_panels && query < problem.queries; query += panel) {
    const int count = static_cast<int>(std::min<std::int64_t>(panel, problem.queries - query));
    walk_->open(panels_, b_, h_, query, count);
    load_queries(panels_, query, count);
    clear_rows(panels_, count);
    ++panels_;
  }
}

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
      call_.offsets.add(b_, query, count, key, step, static_cast<int>(panel), diagonals_,
                        offset_sums_);
    }
    if (tile.cap != 0 && (wanted.grad_q.present || wanted.grad_k.present)) {
      call_.kernels.through_cap(step);
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

// The gradients of queries from keys some of which are not finite and not seen by all.
template <class T>
void BackwardWalk<T>::add_bad_keys(const kernels::BackwardStep<T>& step, T* sums) {
  const auto width = static_cast<int>(call_.problem.width);
  const int panel = call_.forward.panel;
  const auto finite = [&](int j) {
    return call_.kernels.all_finite(step.tile.k + j * step.tile.k_stride, 0, 1, width);
  };
  for (int j = 0; j < step.tile.keys; ++j) {
    const T* from = step.tile.k + j * step.tile.k_stride;
    if (finite(j)) {
      std::copy_n(from, width, clean_keys_ + j * width);
    } else {
      std::fill_n(clean_keys_ + j * width, width, T{0});
    }
  }
  kernels::BackwardStep<T> clean = step;
  clean.tile.k = clean_keys_;
  clean.tile.k_stride = width;
  call_.kernels.query_grads(clean, sums);
  for (int j = 0; j < step.tile.keys; ++j) {
    if (finite(j)) continue;
    const T* key = step.tile.k + j * step.tile.k_stride;
    for (int x = 0; x < step.tile.vectors * call_.forward.kernels.lanes; ++x) {
      if (!seen(step.tile, j, x, panel)) continue;
      for (int d = 0; d < width; ++d)
        sums[d * panel + x] += key[d] * step.score_grads[j * panel + x];
    }
  }
}

// What queries whose rows are not finite add to the keys that they see.
template <class T>
void BackwardWalk<T>::add_bad_queries(int slot, const kernels::BackwardStep<T>& step,
                                      std::int64_t key, int lane) {
  const ResolvedAttention& problem = call_.problem;
  const ResolvedBackward& wanted = call_.backward;
  const int panel = call_.forward.panel;
  const auto add = [&](const Strided4& view, std::int64_t width, int x, const T* factors, T* sums) {
    load_padded_rows(view, view.offset(b_, h_, walk_->query(slot) + lane + x, 0), 1, width,
                     scratch_rows_, width);
    for (int j = 0; j < step.tile.keys; ++j) {
      if (!seen(step.tile, j, x, panel)) continue;
      T* to = sums + (key - first_key_ + j) * call_.band;
      for (std::int64_t c = 0; c < width; ++c) {
        to[c / call_.band * call_.block_keys * call_.band + c % call_.band] +=
            factors[j * panel + x] * scratch_rows_[c];
      }
    }
  };
  for (int i = 0; i < bad_queries_; ++i) {
    const int x = bad_query_[i] - slot * panel - lane;
    if (x < 0 || x >= step.tile.vectors * call_.forward.kernels.lanes) continue;
    if (wanted.grad_v.present) {
      add(wanted.grad_output, problem.value_width, x, step.tile.scores, value_sums_);
    }
    if (wanted.grad_k.present) {
      add(problem.q, problem.width, x, step.score_grads, key_sums_);
    }
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

template class BackwardWalk<float>;
template class BackwardWalk<double>;

}  // namespace volvelle
