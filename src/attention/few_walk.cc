#include "attention/few_walk.h"

#include <algorithm>
#include <limits>

#include "attention/carver.h"
#include "attention/composed_rows.h"
#include "attention/few_queries.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;

}  // namespace

std::size_t FewWalk::carve(void* base) {
  const ResolvedAttention& problem = call_.problem;
  Carver carver(base);
  queries_ = carver.take<float>(call_.rows * call_.query_stride);
  scores_ = carver.take<float>(call_.rows * kTile);
  seen_ = carver.take<float>(call_.rows * kTile);
  select_ = carver.take<float>(kTile * kFewQueries);
  bias_ = carver.take<float>(kTile);
  by_offset_ = carver.take<float>(kTile);
  factor_ = carver.take<float>(call_.rows);
  scratch_ = carver.take<float>(call_.source.has_stored_rows() ? 0 : call_.source.scratch_size());
  row_ = carver.take<float>(problem.width);
  return carver.used();
}

FewWalk::FewWalk(const FewCall& call, Workspace& workspace) : call_(call) {
  carve(workspace.at_least(carve(nullptr)));
}

void FewWalk::open(float* part, bool moment) {
  const ResolvedAttention& problem = call_.problem;
  const double per_nat = static_cast<double>(call_.kernels.per_nat);
  // Under a cap the tanh takes scale * q.k / cap, and the cap carries the unit.
  const float factor = problem.softcap > 0 ? static_cast<float>(problem.scale / problem.softcap)
                                           : static_cast<float>(problem.scale * per_nat);
  float* to = queries_;
  for (int head = 0; head < place_.heads; ++head) {
    for (std::int64_t i = 0; i < problem.queries; ++i, to += call_.query_stride) {
      const std::int64_t offset = problem.q.offset(place_.b, place_.first_head + head, i, 0);
      const float* row = static_cast<const float*>(problem.q.data) + offset;
      if (problem.q.dtype != DType::float32 || problem.q.stride[3] != 1) {
        load_rows(problem.q, offset, 0, problem.q.stride[3], 1, problem.width, row_);
        row = row_;
      }
      for (std::int64_t d = 0; d < problem.width; ++d) to[d] = factor * row[d];
      std::fill(to + problem.width, to + call_.query_stride, 0.0f);
    }
  }
  step_ = {};
  step_.width = static_cast<int>(problem.width);
  step_.value_width = static_cast<int>(problem.value_width);
  step_.rows = static_cast<int>(place_.heads * problem.queries);
  step_.queries = queries_;
  step_.query_stride = call_.query_stride;
  step_.scores = scores_;
  step_.out = part;
  step_.out_stride = call_.out_stride;
  step_.maximum = part + call_.statistic(0);
  step_.sum = part + call_.statistic(1);
  step_.moment = moment ? part + call_.statistic(2) : nullptr;
  step_.factor = factor_;
  step_.fresh = true;
  std::fill_n(step_.maximum, call_.rows, -std::numeric_limits<float>::infinity());
  std::fill_n(step_.sum, call_.rows, 0.0f);
  if (moment) std::fill_n(step_.moment, call_.rows, 0.0f);
}

bool FewWalk::take(std::int64_t from, std::int64_t to) {
  const std::int64_t g = place_.key_head;
  step_.keys = static_cast<int>(to - from);
  step_.next_k = nullptr;
  if (!call_.source.has_stored_rows()) {
    const KeyValueTile<float> tile = call_.source.load(place_.b, g, from, step_.keys, scratch_);
    step_.k = tile.k;
    step_.k_stride = tile.k_stride;
    step_.v = tile.v;
    step_.v_stride = tile.v_stride;
    return tile.k != nullptr;
  }
  const StoredRows rows = call_.source.stored(place_.b, g, from);
  step_.k = rows.k;
  step_.k_stride = rows.k_stride;
  step_.v = rows.v;
  step_.v_stride = rows.v_stride;
  const std::int64_t next = from + call_.block;
  const std::int64_t last = call_.runs_on ? call_.problem.keys : place_.last_key;
  if (next + step_.keys <= std::min(last, exclusion_.any_last)) {
    step_.next_k = call_.source.stored(place_.b, g, next).k;
  }
  return rows.k != nullptr;
}

void FewWalk::exclude_for_head(int head, const TileVerdict& verdict, std::int64_t from,
                               std::int64_t to) {
  const std::int64_t queries = call_.problem.queries;
  const std::int64_t keys = to - from;
  float* rows = seen_ + head * queries * kTile;
  if (verdict.by_choice) {
    call_.map.fill(place_.b, place_.first_head + head, 0, static_cast<int>(queries), from, to,
                   select_);
  }
  for (std::int64_t i = 0; i < queries; ++i) {
    float* row = rows + i * kTile;
    if (verdict.kind == TileKind::skipped) {
      std::fill_n(row, keys, 0.0f);
    } else if (verdict.by_choice) {
      for (std::int64_t j = 0; j < keys; ++j) row[j] = select_[j * kFewQueries + i];
    } else {
      std::fill_n(row, keys, 1.0f);
    }
    if (!verdict.by_index) continue;
    const auto first = std::clamp<std::int64_t>(exclusion_.first[i] - from, 0, keys);
    const auto last = std::clamp<std::int64_t>(exclusion_.last[i] - from, first, keys);
    std::fill(row, row + first, 0.0f);
    std::fill(row + last, row + keys, 0.0f);
  }
}

bool FewWalk::exclude(std::int64_t from, std::int64_t to) {
  const int queries = static_cast<int>(call_.problem.queries);
  TileVerdict verdicts[kernels::kMostDecodeRows];
  bool all = true;
  bool none = true;
  for (int head = 0; head < place_.heads; ++head) {
    TileVerdict& verdict = verdicts[head];
    verdict =
        call_.map.verdict(place_.b, place_.first_head + head, 0, queries, exclusion_, from, to);
    all = all && verdict.kind == TileKind::full;
    none = none && verdict.kind == TileKind::skipped;
  }
  step_.seen = all ? nullptr : seen_;
  if (none || all) return !none;
  for (int head = 0; head < place_.heads; ++head) exclude_for_head(head, verdicts[head], from, to);
  return true;
}

const float* FewWalk::dense_bias(std::int64_t h, std::int64_t i, std::int64_t from, int keys) {
  const Strided4& bias = call_.problem.bias;
  if (!bias.present) return nullptr;
  const std::int64_t start = bias.offset(place_.b, h, i, from);
  if (bias.dtype == DType::float32 && bias.stride[3] == 1) {
    return static_cast<const float*>(bias.data) + start;
  }
  visit_dtype(bias.dtype, [&](auto zero) {
    const auto* row = static_cast<const decltype(zero)*>(bias.data) + start;
    for (int j = 0; j < keys; ++j) bias_[j] = widened<float>(row[j * bias.stride[3]]);
  });
  return bias_;
}

// What relative keys add to the raw scores. Far keys share a vector, and so a product.
void FewWalk::add_relative_keys(std::int64_t from) {
  const ResolvedAttention& problem = call_.problem;
  const RelativeKeys<float>& relative = call_.relative_keys;
  for (int head = 0; head < place_.heads; ++head) {
    for (std::int64_t i = 0; i < problem.queries; ++i) {
      const std::int64_t own = head * problem.queries + i;
      float* scores = scores_ + own * kTile;
      std::int64_t known = -1;
      float product = 0;
      for (int j = 0; j < step_.keys; ++j) {
        const std::int64_t row = relative.met(place_.b, i, from + j);
        if (row != known) {
          product = dot(queries_ + own * call_.query_stride,
                        relative.row(place_.first_head + head, row), problem.width);
          known = row;
        }
        scores[j] += product;
      }
    }
  }
}

// Cap, biases and exclusion over the raw scores.
void FewWalk::shape(std::int64_t from) {
  const ResolvedAttention& problem = call_.problem;
  kernels::DecodeShape row;
  row.keys = step_.keys;
  row.cap = static_cast<float>(problem.softcap * static_cast<double>(call_.kernels.per_nat));
  const bool by_offset = call_.offset_bias.present();
  if (row.cap == 0 && !problem.bias.present && !by_offset && step_.seen == nullptr) return;
  for (int head = 0; head < place_.heads; ++head) {
    const std::int64_t h = place_.first_head + head;
    for (std::int64_t i = 0; i < problem.queries; ++i) {
      const std::int64_t own = head * problem.queries + i;
      row.scores = scores_ + own * kTile;
      row.seen = step_.seen == nullptr ? nullptr : seen_ + own * kTile;
      row.bias = dense_bias(h, i, from, step_.keys);
      if (by_offset) {
        std::fill_n(by_offset_, step_.keys, 0.0f);
        call_.offset_bias.add_row(place_.b, h, i, from, step_.keys, by_offset_);
        row.by_offset = by_offset_;
      }
      call_.kernels.shape(row);
    }
  }
}

void FewWalk::run(std::int64_t task, bool moment) {
  place_ = call_.place(task);
  exclude_by_index(call_.problem, place_.b, 0, static_cast<int>(call_.problem.queries), exclusion_);
  open(place_.part, moment);
  const auto stored = static_cast<std::size_t>(call_.stored);
  const std::int64_t last = std::min(place_.last_key, exclusion_.any_last);
  // Steps start at fixed keys too, also where a window begins inside one.
  for (std::int64_t from = place_.first_key; from < last; from += call_.block) {
    const std::int64_t to = std::min(from + call_.block, last);
    if (!exclusion_.touches(from, to) || !exclude(from, to) || !take(from, to)) continue;
    call_.kernels.scores[stored](step_);
    if (call_.relative_keys.present()) add_relative_keys(from);
    shape(from);
    call_.kernels.weights(step_);
    call_.kernels.values[stored](step_);
    step_.fresh = false;
  }
}

}  // namespace volvelle
