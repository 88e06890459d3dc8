#include "attention/pair_walk.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attention/carver.h"
#include "attention/paged_rows.h"
#include "kernels/simd_choice.h"

namespace volvelle {
namespace {

constexpr int kTile = kernels::kTileKeys;
constexpr int kGrain = kernels::kPairGrain;

constexpr std::int64_t padded(std::int64_t count) { return (count + kGrain - 1) / kGrain * kGrain; }

Workspace& pair_workspace() {
  thread_local Workspace workspace;
  return workspace;
}

// Holds the multiplier's state for the time of a walk.
class Multiplying {
 public:
  explicit Multiplying(const kernels::PairMultiplier& multiplier) : multiplier_(multiplier) {
    multiplier_.begin();
  }
  Multiplying(const Multiplying&) = delete;
  Multiplying& operator=(const Multiplying&) = delete;
  ~Multiplying() { multiplier_.end(); }

 private:
  const kernels::PairMultiplier& multiplier_;
};

struct Rows {
  const std::uint16_t* data;
  std::int64_t row_stride, column_stride;
};

// Copies rows of bfloat16 to [count][stride], 0 from `columns` on.
void copy_rows(Rows from, int count, std::int64_t columns, std::int64_t stride, std::uint16_t* to) {
  for (int r = 0; r < count; ++r, from.data += from.row_stride, to += stride) {
    if (from.column_stride == 1) {
      std::memcpy(to, from.data, static_cast<std::size_t>(columns) * sizeof *to);
    } else {
      for (std::int64_t c = 0; c < columns; ++c) to[c] = from.data[c * from.column_stride];
    }
    std::fill(to + columns, to + stride, std::uint16_t{0});
  }
}

}  // namespace

PairWalk::PairWalk(const FusedCall<float>& call, PanelWalk<float>& walk, Workspace& workspace)
    : call_(call),
      walk_(walk),
      kernels_(*call.pair_kernels),
      key_turn_(call.problem, TurnedRows::keys),
      width_(padded(call.problem.width)) {
  carve(workspace.at_least(carve(nullptr)));
}

std::size_t PairWalk::carve(void* base) {
  const std::int64_t slots = call_.panels_per_task;
  const std::int64_t panel = call_.panel;
  Carver carver(base);
  wide_queries_ = carver.take<bool>(slots);
  has_odd_ = carver.take<bool>(slots);
  odd_queries_ = carver.take<float>(slots * panel);
  queries_ = carver.take<std::uint32_t>(slots * panel * width_ / 2);
  weights_ = carver.take<std::uint32_t>(kTile / 2 * panel);
  rows_ = carver.take<std::uint16_t>(panel * width_);
  keys_ = carver.take<std::uint16_t>(kTile * width_);
  const bool in_rows = call_.source.has_stored_rows();
  gathered_k_ = in_rows ? nullptr : carver.take<std::uint16_t>(kTile * call_.problem.width);
  gathered_v_ = in_rows ? nullptr : carver.take<std::uint16_t>(kTile * call_.problem.value_width);
  values_ = carver.take<std::uint16_t>(call_.value_rows * kTile);
  odd_keys_ = carver.take<std::uint8_t>(kTile);
  odd_values_ = carver.take<std::uint8_t>(kTile);
  odd_rows_ = carver.take<std::uint8_t>(panel);
  scores_ = carver.take<float>(kTile * panel);
  return carver.used();
}

void PairWalk::open(int slot, std::int64_t b, std::int64_t h) {
  const int panel = call_.panel;
  const int count = walk_.count(slot);
  const Strided4& q = call_.problem.q;
  const auto* from =
      static_cast<const std::uint16_t*>(q.data) + q.offset(b, h, walk_.query(slot), 0);
  copy_rows({from, q.stride[2], q.stride[3]}, count, call_.problem.width, width_, rows_);
  std::fill(rows_ + count * width_, rows_ + panel * width_, std::uint16_t{0});
  kernels_.interleave_queries(rows_, static_cast<int>(width_ / 2), panel,
                              queries_ + slot * panel * (width_ / 2));
  has_odd_[slot] =
      kernels_.find_odd_rows(rows_, width_, panel, static_cast<int>(width_), odd_rows_);
  if (has_odd_[slot]) std::copy_n(odd_rows_, panel, odd_queries_ + slot * panel);
  wide_queries_[slot] = false;
}

bool PairWalk::load(std::int64_t b, std::int64_t g, std::int64_t from, int count) {
  const ResolvedAttention& problem = call_.problem;
  b_ = b;
  g_ = g;
  from_ = from;
  count_ = count;
  widened_ = false;
  // Of a cache's last page, the tokens that the sequence has.
  if (problem.paged != nullptr) {
    const std::int64_t length = problem.paged->lengths[static_cast<std::size_t>(b)];
    count = static_cast<int>(std::min<std::int64_t>(count, length - from));
  }
  const bool in_rows = call_.source.has_stored_rows();
  const StoredRows stored = in_rows ? call_.source.stored(b, g, from) : gather(count);
  if (stored.k == nullptr) return false;

  k_ = static_cast<const std::uint16_t*>(stored.k);
  k_stride_ = stored.k_stride;
  if (problem.width != width_ || count % kGrain != 0 || count != count_) {
    copy_rows({k_, k_stride_, 1}, count, problem.width, width_, keys_);
    std::fill(keys_ + count * width_, keys_ + padded(count_) * width_, std::uint16_t{0});
    k_ = keys_;
    k_stride_ = width_;
  }
  odd_k_ = kernels_.find_odd_rows(k_, k_stride_, count, static_cast<int>(width_), odd_keys_);
  if (odd_k_) std::fill(odd_keys_ + count, odd_keys_ + kTile, std::uint8_t{0});

  const auto* v = static_cast<const std::uint16_t*>(stored.v);
  const int value_width = static_cast<int>(problem.value_width);
  odd_v_ = kernels_.find_odd_rows(v, stored.v_stride, count, value_width, odd_values_);
  if (odd_v_) std::fill(odd_values_ + count, odd_values_ + kTile, std::uint8_t{0});
  kernels_.transpose_values(v, stored.v_stride, count, value_width, odd_v_ ? odd_values_ : nullptr,
                            static_cast<int>(call_.value_rows), values_);
  for (std::int64_t e = 0; padded(count) < padded(count_) && e < call_.value_rows; ++e) {
    std::fill(values_ + e * kTile + padded(count), values_ + e * kTile + padded(count_),
              std::uint16_t{0});
  }
  return true;
}

// Keys and values whose elements do not lie side by side, copied so that they do; a cache's keys
// that still have to turn, turned.
StoredRows PairWalk::gather(int count) {
  const ResolvedAttention& problem = call_.problem;
  if (problem.paged != nullptr) {
    StoredRows rows = call_.source.stored(b_, g_, from_);
    if (rows.k == nullptr) return rows;
    RowPlaces places;
    places.dtype = DType::bfloat16;
    places.from = rows.k;
    places.from_token = rows.k_stride;
    places.to = gathered_k_;
    places.to_token = problem.width;
    key_turn_.run(b_, from_, count, TurnDirection::forward, places);
    rows.k = gathered_k_;
    rows.k_stride = problem.width;
    return rows;
  }
  const auto gathered = [&](const Strided4& view, std::int64_t width, std::uint16_t* to) {
    const auto* from = static_cast<const std::uint16_t*>(view.data) + view.offset(b_, g_, from_, 0);
    copy_rows({from, view.stride[2], view.stride[3]}, count, width, width, to);
    return to;
  };
  return {gathered(problem.k, problem.width, gathered_k_), problem.width,
          gathered(problem.v, problem.value_width, gathered_v_), problem.value_width};
}

kernels::PairStep PairWalk::complete(int slot, int shift, kernels::TileStep<float>& step) {
  const int panel = call_.panel;
  kernels::PairStep pair;
  pair.k = k_ + shift * k_stride_;
  pair.k_stride = k_stride_;
  pair.v = values_ + shift;
  pair.queries = queries_ + slot * panel * (width_ / 2);
  pair.factor = walk_.query_factor();
  pair.key_rows = static_cast<int>(padded(step.keys));
  pair.pairs = static_cast<int>(width_ / 2);
  pair.value_rows = static_cast<int>(call_.value_rows);
  pair.weights = weights_;
  if (!odd_k_ && !odd_v_ && !has_odd_[slot]) return pair;

  if (odd_k_) pair.odd_keys = odd_keys_ + shift;
  if (odd_v_) pair.odd_values = odd_values_ + shift;
  if (has_odd_[slot]) pair.odd_queries = odd_queries_ + slot * panel;
  pair.scores = scores_;
  if (!widened_) wide_ = call_.source.load(b_, g_, from_, count_, walk_.scratch());
  widened_ = true;
  if (!wide_queries_[slot]) walk_.load_queries(slot);
  wide_queries_[slot] = true;
  step.k = wide_.k + shift * wide_.k_stride;
  step.k_stride = wide_.k_stride;
  step.v = wide_.v + shift * wide_.v_stride;
  step.v_stride = wide_.v_stride;
  return pair;
}

bool multiplies_pairs(const ResolvedAttention& problem, DType stored) {
  if (problem.q.dtype != DType::bfloat16 || stored != DType::bfloat16) return false;
  if (problem.has_relative_vectors()) return false;  // their products are added in float32
  if (kernels::pair_multiplier() == nullptr || kernels::pair_kernels() == nullptr) return false;
  // The factor comes after the sum here: it must neither lift what was lost near 0 nor be
  // subnormal itself.
  const double factor =
      std::fabs(problem.softcap > 0 ? problem.scale / problem.softcap : problem.scale);
  return factor == 0 || (factor >= 0x1p-64 && factor <= 0x1p64);
}

void walk_pairs(const FusedCall<float>& call, PanelWalk<float>& walk, std::int64_t b,
                std::int64_t h, int panels) {
  const ResolvedAttention& problem = call.problem;
  const kernels::PairKernels& kernels = *call.pair_kernels;
  PairWalk pairs(call, walk, pair_workspace());
  std::int64_t first = problem.keys;
  std::int64_t last = 0;
  for (int slot = 0; slot < panels; ++slot) {
    pairs.open(slot, b, h);
    const PanelExclusion& exclusion = walk.exclusion(slot);
    if (exclusion.any_first == exclusion.any_last) continue;
    first = std::min(first, exclusion.any_first);
    last = std::max(last, exclusion.any_last);
  }
  const Multiplying multiplying(*call.multiplier);
  kernels::TileStep<float> step, before;
  kernels::PairStep pair, pair_before;
  alignas(64) float factor[kernels::kMaxPanel];
  // The weights of one step wait while the next one's scores are taken.
  bool waiting = false;
  const auto finish = [&] {
    if (waiting) kernels.values(before, pair_before, *call.multiplier, factor);
    waiting = false;
  };
  for (std::int64_t from = first / kTile * kTile; from < last; from += kTile) {
    const std::int64_t to = std::min(from + kTile, problem.keys);
    bool loaded = false, there = false;
    for (int slot = 0; slot < panels; ++slot) {
      if (!walk.exclusion(slot).touches(from, to)) continue;
      int shift = 0;
      if (!walk.prepare(slot, {}, from, to, step, shift)) continue;
      if (!loaded) {
        finish();
        there = pairs.load(b, problem.key_head(h), from, static_cast<int>(to - from));
        loaded = true;
      }
      if (!there) continue;
      pair = pairs.complete(slot, shift, step);
      walk.start(slot, step);
      kernels.scores(step, pair, *call.multiplier);
      finish();
      kernels.softmax(step, pair, *call.multiplier, factor);
      before = step;
      pair_before = pair;
      waiting = true;
      if (pair.odd_values != nullptr) finish();
    }
  }
  finish();
}

}  // namespace volvelle
