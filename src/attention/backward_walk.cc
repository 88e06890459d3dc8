#include "attention/backward_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/backward_rows.h"
#include "attention/carver.h"
#include "attention/oracle_terms.h"
#include "attention/tile_source.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;

// A view's rows where they lie, if they are rows of T, else copied to `scratch`.
template <class T>
const T* rows_of(const Strided4& view, std::int64_t offset, std::int64_t rows, std::int64_t columns,
                 T* scratch, std::int64_t& stride) {
  if (view.dtype == dtype_of<T> && (view.stride[3] == 1 || columns == 1)) {
    stride = view.stride[2];
    return static_cast<const T*>(view.data) + offset;
  }
  load_padded_rows(view, offset, rows, columns, scratch, columns);
  stride = columns;
  return scratch;
}

// Rows of one head that lie `stride` apart, turned where they are.
template <class T>
RowPlaces in_place(T* rows, std::int64_t stride) {
  RowPlaces places;
  places.dtype = dtype_of<T>;
  places.from = places.to = rows;
  places.from_token = places.to_token = stride;
  return places;
}

bool sees_any(const ResolvedAttention& problem, std::int64_t b, std::int64_t h, std::int64_t i) {
  for (std::int64_t j = 0; j < problem.keys; ++j) {
    if (sees(problem, {b, h, i, j}, AttentionFault::none)) return true;
  }
  return false;
}

}  // namespace

template <class T>
std::size_t BackwardWalk<T>::carve(void* base) {
  const ResolvedAttention& problem = call_.problem;
  const ResolvedBackward& wanted = call_.backward;
  const std::int64_t panels = call_.group_panels;
  const std::int64_t panel = call_.forward.panel;
  const std::int64_t queries = call_.group_queries;
  const bool scores = wanted.scores_wanted();
  Carver carver(base);
  walk_memory_ = carver.take<std::byte>(static_cast<std::int64_t>(call_.forward.walk_bytes));
  bad_query_ = carver.take<int>(queries);
  finite_keys_ = carver.take<bool>(call_.block_keys / kTile);
  limited_ = carver.take<bool>(panels);
  low_ = carver.take<int>(2 * panels);
  high_ = carver.take<int>(2 * panels);
  weight_parts_ = carver.take<kernels::ProductPart<T>>(2 * panels);
  grad_parts_ = carver.take<kernels::ProductPart<T>>(2 * panels);
  query_rows_ = carver.take<T>(call_.packs_queries() ? queries * call_.padded_width : 0);
  grad_rows_ = carver.take<T>(queries * call_.padded_value_width);
  grad_lanes_ = carver.take<T>(scores ? queries * problem.value_width : 0);
  weights_ = carver.take<T>(kTile * queries);
  score_grads_ = carver.take<T>(scores ? kTile * queries : 0);
  cap_slopes_ = carver.take<T>(problem.softcap > 0 ? kTile * panel : 0);
  first_ = carver.take<T>(panel);
  last_ = carver.take<T>(panel);
  own_query_sums_ = carver.take<T>(
      wanted.grad_q.present && call_.query_sums == nullptr ? queries * problem.width : 0);
  key_sums_ = carver.take<T>(wanted.grad_k.present ? call_.block_keys * call_.padded_width : 0);
  value_sums_ =
      carver.take<T>(wanted.grad_v.present ? call_.block_keys * call_.padded_value_width : 0);
  tile_scratch_ = carver.take<T>(call_.forward.source.scratch_size());
  clean_keys_ = carver.take<T>(wanted.grad_q.present ? kTile * problem.width : 0);
  scratch_rows_ =
      carver.take<T>((queries + 1) * std::max(call_.padded_width, call_.padded_value_width));
  bias_scratch_ = carver.take<T>(call_.bias.scratch_size(static_cast<int>(panel)));
  const bool relative = call_.forward.relative_keys.present();
  product_grads_ = carver.take<T>(relative ? RelativeKeys<T>::kMost * panel : 0);
  relative_sums_ = carver.take<T>(
      call_.relative_keys.wanted() ? call_.relative_keys.reached() * call_.padded_width : 0);
  auto* offset_sums = carver.take<std::byte>(static_cast<std::int64_t>(
      call_.offsets.carve(offset_sums_, static_cast<int>(panel), nullptr)));
  call_.offsets.carve(offset_sums_, static_cast<int>(panel), offset_sums);
  return carver.used();
}

template <class T>
std::size_t BackwardWalk<T>::bytes(BackwardCall<T>& call) {
  return BackwardWalk(call).carve(nullptr);
}

template <class T>
BackwardWalk<T>::BackwardWalk(BackwardCall<T>& call, void* memory) : call_(call) {
  carve(memory);
  walk_.emplace(call.forward, call.group_panels, false, walk_memory_);
}

template <class T>
void BackwardWalk<T>::prepare_group(std::int64_t b, std::int64_t h, std::int64_t group) {
  const ResolvedAttention& problem = call_.problem;
  const ResolvedBackward& backward = call_.backward;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::int64_t plane = call_.plane(b, h);
  const std::int64_t row = (plane * call_.groups + group) * call_.group_queries;
  const std::int64_t query = group * call_.group_queries;
  const auto count = static_cast<int>(std::min(call_.group_queries, problem.queries - query));
  const auto width = static_cast<int>(problem.value_width);
  T* delta = call_.delta + row;
  T* lse = call_.lse + row;

  std::int64_t output_stride, grad_stride;
  const T* output = rows_of(backward.output, backward.output.offset(b, h, query, 0), count, width,
                            scratch_rows_, output_stride);
  const T* grad = rows_of(backward.grad_output, backward.grad_output.offset(b, h, query, 0), count,
                          width, grad_rows_, grad_stride);
  call_.kernels.row_dots(output, output_stride, grad, grad_stride, count, width, delta);

  const T* saved = static_cast<const T*>(backward.lse.data) + backward.lse.offset(b, h, query, 0);
  const double sink = problem.sinks.present ? problem.sinks.value(h, 0) : 0;
  double sink_sum = 0;
  for (int x = 0; x < count; ++x) {
    const T nats = saved[x * backward.lse.stride[2]];
    const bool empty = nats == -kInfinity;
    // A row without a key has its sink for log-sum-exp and an output of 0, which a gradient that
    // is not finite would not leave at 0.
    const bool sink_only =
        problem.sinks.present && !std::isfinite(delta[x]) && !sees_any(problem, b, h, query + x);
    if (empty || sink_only) delta[x] = 0;
    // An infinite score makes the whole row NaN, as the softmax has it.
    lse[x] = empty || sink_only  ? kInfinity
             : nats == kInfinity ? std::numeric_limits<T>::quiet_NaN()
                                 : nats * call_.forward.kernels.per_nat;
    if (problem.sinks.present && !empty) {
      sink_sum -= std::exp(sink - static_cast<double>(nats)) * static_cast<double>(delta[x]);
    }
  }
  std::fill(lse + count, lse + call_.group_queries, kInfinity);
  std::fill(delta + count, delta + call_.group_queries, T{0});
  if (call_.sink_parts != nullptr) call_.sink_parts[plane * call_.groups + group] = sink_sum;

  KeyRange range{problem.keys, 0};
  PanelExclusion exclusion;
  for (int x = 0; x < count; x += call_.forward.panel) {
    const int queries = std::min(count - x, call_.forward.panel);
    exclude_by_index(problem, b, query + x, queries, exclusion);
    call_.forward.reach.narrow(b, h, query + x, queries, exclusion);
    if (exclusion.any_first == exclusion.any_last) continue;
    range.first = std::min(range.first, exclusion.any_first);
    range.last = std::max(range.last, exclusion.any_last);
  }
  call_.ranges[plane * call_.groups + group] = range.last > 0 ? range : KeyRange{0, 0};
}

template <class T>
void BackwardWalk<T>::open_keys(std::int64_t b, std::int64_t g, std::int64_t block) {
  const ResolvedAttention& problem = call_.problem;
  b_ = b;
  g_ = g;
  block_ = block;
  first_key_ = block * call_.block_keys;
  last_key_ = std::min(first_key_ + call_.block_keys, problem.keys);
  // Of each band the keys that there are: a short problem's block is mostly empty.
  const auto clear = [&](T* sums, std::int64_t width) {
    for (std::int64_t c = 0; c < width; c += call_.band) {
      std::fill_n(sums + c * call_.block_keys, (last_key_ - first_key_) * call_.band, T{0});
    }
  };
  if (call_.backward.grad_k.present) clear(key_sums_, call_.padded_width);
  if (call_.backward.grad_v.present) clear(value_sums_, call_.padded_value_width);
  call_.offsets.clear(offset_sums_);
  if (call_.relative_keys.wanted()) {
    std::fill_n(relative_sums_, call_.relative_keys.reached() * call_.padded_width, T{0});
  }
  const bool look = call_.guarded() && call_.backward.grad_q.present;
  for (std::int64_t from = first_key_; from < last_key_; from += kTile) {
    bool& finite = finite_keys_[(from - first_key_) / kTile];
    finite = true;
    if (!look) continue;
    const auto count = static_cast<int>(std::min(kTile, last_key_ - from));
    const KeyValueTile<T> tile = call_.forward.source.load(b, g, from, count, tile_scratch_);
    finite =
        call_.kernels.all_finite(tile.k, tile.k_stride, count, static_cast<int>(problem.width));
  }
}

template <class T>
void BackwardWalk<T>::close_head(std::int64_t h) {
  if (!call_.sums_by_head()) return;
  const std::int64_t plane = call_.plane(b_, h);
  call_.head_turns.wait_for(plane, block_);
  if (call_.offsets.wanted()) call_.offsets.flush(b_, h, offset_sums_);
  if (call_.relative_keys.wanted()) call_.relative_keys.flush(b_, h, call_.band, relative_sums_);
  call_.head_turns.pass(plane, block_ + 1);
}

template <class T>
void BackwardWalk<T>::close_keys() {
  const ResolvedAttention& problem = call_.problem;
  const std::int64_t keys = last_key_ - first_key_;
  const auto store = [&](const Strided4& to, const T* sums, std::int64_t width, T factor) {
    if (!to.present) return;
    for (std::int64_t c = 0; c < width; c += call_.band) {
      store_scaled_rows(sums + c * call_.block_keys, call_.band, keys,
                        std::min(call_.band, width - c), factor, to,
                        to.offset(b_, g_, first_key_, c), scratch_rows_);
    }
  };
  if (call_.backward.grad_k.present && call_.key_turn) {
    store_turned_keys();
  } else {
    store(call_.backward.grad_k, key_sums_, problem.width, static_cast<T>(problem.scale));
  }
  store(call_.backward.grad_v, value_sums_, problem.value_width, T{1});
}

template <class T>
void BackwardWalk<T>::take_turn() {
  if (my_turn_ || !call_.in_turn()) return;
  my_turn_ = true;
  const std::int64_t place = plane_ * call_.groups + group_;
  const KeyRange& range = call_.ranges[place];
  const bool first = block_ == call_.first_block(range);
  if (!first) call_.query_turns.wait_for(place, block_);
  if (!call_.backward.grad_q.present) return;
  const std::int64_t size = call_.group_queries * call_.problem.width;
  query_sums_ = call_.query_sums == nullptr ? own_query_sums_ : call_.query_sums + place * size;
  if (first) std::fill_n(query_sums_, panels_ * call_.forward.panel * call_.problem.width, T{0});
}

template <class T>
void BackwardWalk<T>::meet(std::int64_t h, std::int64_t group) {
  h_ = h;
  group_ = group;
  plane_ = call_.plane(b_, h);
  row_ = (plane_ * call_.groups + group) * call_.group_queries;
  if (call_.blocks == 1) prepare_group(b_, h, group);
  const KeyRange& range = call_.ranges[plane_ * call_.groups + group];
  if (block_ < call_.first_block(range) || block_ > call_.last_block(range)) return;
  my_turn_ = false;
  open_group(group);
  const std::int64_t first = std::max(first_key_, range.first / kTile * kTile);
  const std::int64_t last = std::min(last_key_, range.last);
  for (std::int64_t from = first; from < last; from += kTile) {
    meet_tile(from, std::min(from + kTile, last_key_));
  }
  take_turn();
  if (call_.backward.grad_q.present && block_ == call_.last_block(range)) store_query_grads(group);
  if (call_.in_turn()) {
    call_.query_turns.pass(plane_ * call_.groups + group, block_ + 1);
  }
}

template <class T>
void BackwardWalk<T>::store_query_grads(std::int64_t group) {
  const ResolvedAttention& problem = call_.problem;
  const Strided4& to = call_.backward.grad_q;
  const std::int64_t panel = call_.forward.panel;
  const auto width = static_cast<int>(problem.width);
  const T scale = static_cast<T>(problem.scale);
  const bool direct = to.dtype == dtype_of<T> && to.stride[3] == 1;
  for (int slot = 0; slot < panels_; ++slot) {
    const std::int64_t offset = to.offset(b_, h_, group * call_.group_queries + slot * panel, 0);
    const int count = walk_->count(slot);
    T* rows = direct ? static_cast<T*>(const_cast<void*>(to.data)) + offset : scratch_rows_;
    call_.kernels.to_rows(query_sums_ + slot * panel * width, panel, width, count, scale, rows,
                          direct ? to.stride[2] : width);
    if (call_.query_turn) {
      call_.query_turn.run(b_, group * call_.group_queries + slot * panel, count,
                           TurnDirection::back, in_place(rows, direct ? to.stride[2] : width));
    }
    if (direct) continue;
    store_rows(scratch_rows_, count, width, to, offset, to.stride[2], to.stride[3]);
  }
}

// The gradients of keys that turned: rows are put together from their bands, in the caller's array
// where that holds rows of T, and turned back.
template <class T>
void BackwardWalk<T>::store_turned_keys() {
  const Strided4& to = call_.backward.grad_k;
  const std::int64_t width = call_.problem.width;
  const bool direct = to.dtype == dtype_of<T> && to.stride[3] == 1;
  const std::int64_t step = direct ? last_key_ - first_key_ : call_.group_queries;
  for (std::int64_t key = first_key_; key < last_key_; key += step) {
    const std::int64_t keys = std::min(step, last_key_ - key);
    const std::int64_t offset = to.offset(b_, g_, key, 0);
    T* rows = direct ? static_cast<T*>(const_cast<void*>(to.data)) + offset : scratch_rows_;
    const std::int64_t stride = direct ? to.stride[2] : width;
    for (std::int64_t c = 0; c < width; c += call_.band) {
      const auto columns = static_cast<int>(std::min(call_.band, width - c));
      call_.kernels.copy_rows(key_sums_ + c * call_.block_keys + (key - first_key_) * call_.band,
                              call_.band, static_cast<int>(keys), columns,
                              static_cast<T>(call_.problem.scale), rows + c, stride, columns);
    }
    call_.key_turn.run(b_, key, keys, TurnDirection::back, in_place(rows, stride));
    if (!direct) store_rows(rows, keys, width, to, offset, to.stride[2], to.stride[3]);
  }
}

template class BackwardWalk<float>;
template class BackwardWalk<double>;

}  // namespace volvelle
