#include "attention/backward_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attention/backward_rows.h"
#include "attention/carver.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {

template <class T>
OffsetGradients<T>::OffsetGradients(const ResolvedAttention& problem,
                                    const ResolvedBackward& backward, const OffsetBias<T>& bias,
                                    Workspace& workspace)
    : problem_(problem),
      backward_(backward),
      bias_(bias),
      kernels_(kernels::backward_kernels<T>()) {
  const bool slopes = backward.grad_slopes.present;
  table_ = backward.grad_bias_table.present ? problem.bias_table.shape[1] : 0;
  buckets_ = backward.grad_bucket_table.present ? problem.bucket_table.shape[1] : 0;
  if (!slopes && table_ == 0 && buckets_ == 0) return;
  entries_ = 1 + table_ + buckets_;
  const std::int64_t reach = bias.reach();
  const auto carve = [&](void* base) {
    Carver carver(base);
    sums_ = carver.take<double>(problem.batch * problem.heads * entries_);
    bucket_at_ = carver.take<std::int32_t>(buckets_ > 0 ? 2 * reach + 1 : 0);
    return carver.used();
  };
  carve(workspace.at_least(carve(nullptr)));
  std::fill_n(sums_, problem.batch * problem.heads * entries_, 0.0);
  for (std::int64_t offset = -reach; buckets_ > 0 && offset <= reach; ++offset) {
    bucket_at_[offset + reach] = static_cast<std::int32_t>(
        bucket_of(offset, problem.buckets, buckets_, problem.max_distance));
  }
}

template <class T>
std::size_t OffsetGradients<T>::carve(OffsetSums& sums, int panel, void* base) const {
  Carver carver(base);
  sums.entries = carver.take<double>(entries_);
  sums.by_place = carver.take<double>(wanted() ? bias_.places() : 0);
  sums.line = carver.take<double>(wanted() ? kernels::kTileKeys + panel : 0);
  return carver.used();
}

template <class T>
void OffsetGradients<T>::clear(OffsetSums& sums) const {
  if (!wanted()) return;
  std::fill_n(sums.entries, entries_, 0.0);
  std::fill_n(sums.by_place, bias_.places(), 0.0);
  sums.first = bias_.places();
  sums.past = 0;
}

template <class T>
void OffsetGradients<T>::take(std::int64_t offset, double grad, OffsetSums& sums) const {
  sums.entries[0] -= grad * static_cast<double>(std::abs(offset));
  if (table_ > 0) {
    const std::int64_t most = table_ / 2;
    sums.entries[1 + std::clamp(offset, -most, most) + most] += grad;
  }
  if (buckets_ > 0) {
    const std::int64_t reach = bias_.reach();
    sums.entries[1 + table_ + bucket_at_[std::clamp(offset, -reach, reach) + reach]] += grad;
  }
}

template <class T>
void OffsetGradients<T>::add(std::int64_t b, std::int64_t query, int count, std::int64_t key,
                             const kernels::BackwardStep<T>& step, int panel,
                             OffsetSums& sums) const {
  const int keys = step.tile.keys;
  // Where positions run by one, `diagonal` carries the bias: cells of one offset lie on a diagonal.
  if (step.tile.diagonal != nullptr) {
    const std::int64_t base = bias_.key_position(b, key) - bias_.query_position(b, query);
    if (bias_.laid_out()) {
      const std::int64_t place = bias_.place_of(base);
      kernels_.diagonal_sums(step, sums.by_place + place);
      sums.first = std::min(sums.first, place - keys + 1);
      sums.past = std::max(sums.past, place + count);
      return;
    }
    std::fill_n(sums.line, keys + panel, 0.0);
    double* middle = sums.line + keys - 1;  // query x against key j at middle[x - j]
    kernels_.diagonal_sums(step, middle);
    for (int x = 1 - keys; x < count; ++x) take(base - x, middle[x], sums);
    return;
  }
  for (int j = 0; j < keys; ++j) {
    const std::int64_t at = bias_.key_position(b, key + j);
    const T* grads = step.score_grads + j * panel;
    for (int x = 0; x < count; ++x) {
      const double grad = static_cast<double>(grads[x]);
      if (grad != 0) take(at - bias_.query_position(b, query + x), grad, sums);
    }
  }
}

template <class T>
void OffsetGradients<T>::flush(std::int64_t b, std::int64_t h, OffsetSums& sums) {
  for (std::int64_t place = sums.first; place < sums.past; ++place) {
    take(bias_.offset_at(place), sums.by_place[place], sums);
  }
  double* to = sums_ + (b * problem_.heads + h) * entries_;
  for (std::int64_t i = 0; i < entries_; ++i) to[i] += sums.entries[i];
  std::fill_n(sums.entries, entries_, 0.0);
  if (sums.first < sums.past) {
    std::fill(sums.by_place + sums.first, sums.by_place + bias_.places(), 0.0);
  }
  sums.first = bias_.places();
  sums.past = 0;
}

template <class T>
void OffsetGradients<T>::finish() const {
  if (!wanted()) return;
  for (std::int64_t h = 0; h < problem_.heads; ++h) {
    const auto joined = [&](std::int64_t entry) {
      double sum = 0;
      for (std::int64_t b = 0; b < problem_.batch; ++b) {
        sum += sums_[(b * problem_.heads + h) * entries_ + entry];
      }
      return sum;
    };
    if (backward_.grad_slopes.present) store_number(backward_.grad_slopes, h, 0, joined(0));
    for (std::int64_t i = 0; i < table_; ++i) {
      store_number(backward_.grad_bias_table, h, i, joined(1 + i));
    }
    for (std::int64_t i = 0; i < buckets_; ++i) {
      store_number(backward_.grad_bucket_table, h, i, joined(1 + table_ + i));
    }
  }
}

template class OffsetGradients<float>;
template class OffsetGradients<double>;

}  // namespace volvelle
