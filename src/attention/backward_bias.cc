#include "attention/backward_bias.h"

#include <algorithm>

#include "attention/backward_rows.h"
#include "base/thread_pool.h"
#include "kernels/attention_forward.h"

namespace volvelle {
namespace {

// How far a target reaches along an axis of this many.
std::int64_t extent(const Strided4& target, int axis, std::int64_t size) {
  return target.stride[axis] == 0 ? 1 : size;
}

// One past the last index that goes to `index`.
std::int64_t end_of(std::int64_t index, bool joined, std::int64_t size) {
  return joined ? size : std::min(index + 1, size);
}

}  // namespace

template <class T>
BiasGradient<T>::BiasGradient(const ResolvedAttention& problem, const ResolvedBackward& backward,
                              Workspace& workspace)
    : problem_(problem), target_(backward.grad_bias), cells_(backward.grad_bias) {
  if (!target_.present) return;
  joined_batch_ = target_.stride[0] == 0 && problem.batch > 1;
  joined_heads_ = target_.stride[1] == 0 && problem.heads > 1;
  const std::int64_t planes = problem.batch * problem.heads;
  if (target_.stride[3] == 0) {
    kind_ = Kind::queries;
  } else if (target_.stride[2] == 0) {
    kind_ = Kind::keys;
  } else {
    kind_ = Kind::cells;
  }
  if (kind_ != Kind::cells) {
    const std::int64_t rows = kind_ == Kind::queries ? problem.queries : problem.keys;
    sums_ = static_cast<double*>(
        workspace.at_least(static_cast<std::size_t>(planes * rows) * sizeof(double)));
    return;
  }
  if (target_.dtype == dtype_of<T>) return;
  const std::int64_t batch = extent(target_, 0, problem.batch);
  const std::int64_t heads = extent(target_, 1, problem.heads);
  cells_.dtype = dtype_of<T>;
  cells_.stride[3] = 1;
  cells_.stride[2] = problem.keys;
  cells_.stride[1] = heads > 1 ? problem.queries * problem.keys : 0;
  cells_.stride[0] = batch > 1 ? heads * problem.queries * problem.keys : 0;
  cells_.data = workspace.at_least(
      static_cast<std::size_t>(batch * heads * problem.queries * problem.keys) * sizeof(T));
}

template <class T>
std::int64_t BiasGradient<T>::scratch_size(int panel) const {
  return kind_ == Kind::cells ? static_cast<std::int64_t>(panel) * kernels::kTileKeys : 0;
}

template <class T>
void BiasGradient<T>::clear(int threads) {
  if (kind_ == Kind::none) return;
  if (kind_ != Kind::cells) {
    const std::int64_t rows = kind_ == Kind::queries ? problem_.queries : problem_.keys;
    std::fill_n(sums_, problem_.batch * problem_.heads * rows, 0.0);
    return;
  }
  const std::int64_t heads = extent(cells_, 1, problem_.heads);
  const std::int64_t planes = extent(cells_, 0, problem_.batch) * heads;
  parallel_for(planes * problem_.queries, threads, [&](std::int64_t task) {
    const std::int64_t plane = task / problem_.queries;
    T* row = static_cast<T*>(const_cast<void*>(cells_.data)) +
             cells_.offset(plane / heads, plane % heads, task % problem_.queries, 0);
    if (cells_.stride[3] == 1) {
      std::fill_n(row, problem_.keys, T{0});
    } else {
      for (std::int64_t j = 0; j < problem_.keys; ++j) row[j * cells_.stride[3]] = 0;
    }
  });
}

template <class T>
void BiasGradient<T>::add(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                          std::int64_t key, const kernels::BackwardStep<T>& step, int panel,
                          T* scratch) {
  const int keys = step.tile.keys;
  const std::int64_t plane = b * problem_.heads + h;
  if (kind_ == Kind::queries) {
    double* sums = sums_ + plane * problem_.queries + query;
    T total[kernels::kMaxPanel] = {};
    for (int j = 0; j < keys; ++j) {
      const T* grads = step.score_grads + j * panel;
      for (int x = 0; x < count; ++x) total[x] += grads[x];
    }
    for (int x = 0; x < count; ++x) sums[x] += static_cast<double>(total[x]);
  } else if (kind_ == Kind::keys) {
    double* sums = sums_ + plane * problem_.keys + key;
    for (int j = 0; j < keys; ++j) {
      const T* grads = step.score_grads + j * panel;
      T total = 0;
      for (int x = 0; x < count; ++x) total += grads[x];
      sums[j] += static_cast<double>(total);
    }
  } else if (kind_ == Kind::cells) {
    kernels::forward_kernels<T>().transpose(step.score_grads, panel, keys, count, T{1}, scratch,
                                            keys);
    T* row = static_cast<T*>(const_cast<void*>(cells_.data)) + cells_.offset(b, h, query, key);
    const std::int64_t stride = cells_.stride[3];
    for (int x = 0; x < count; ++x, row += cells_.stride[2], scratch += keys) {
      if (stride == 1) {
        for (int j = 0; j < keys; ++j) row[j] += scratch[j];
      } else {
        for (int j = 0; j < keys; ++j) row[j * stride] += scratch[j];
      }
    }
  }
}

template <class T>
void BiasGradient<T>::finish(int threads) {
  if (kind_ == Kind::none) return;
  const std::int64_t batch = extent(target_, 0, problem_.batch);
  const std::int64_t heads = extent(target_, 1, problem_.heads);
  if (kind_ == Kind::cells) {
    if (target_.dtype == dtype_of<T>) return;
    parallel_for(batch * heads * problem_.queries, threads, [&](std::int64_t task) {
      const std::int64_t b = task / problem_.queries / heads;
      const std::int64_t h = task / problem_.queries % heads;
      const std::int64_t i = task % problem_.queries;
      const T* row = static_cast<const T*>(cells_.data) + cells_.offset(b, h, i, 0);
      for (std::int64_t j = 0; j < problem_.keys; ++j) {
        store_number(target_, target_.offset(b, h, i, j), static_cast<double>(row[j]));
      }
    });
    return;
  }
  // Over the planes that share a place, in their order; then, for one number per plane, over its
  // queries.
  const bool by_key = kind_ == Kind::keys;
  const std::int64_t rows = by_key ? problem_.keys : problem_.queries;
  const bool one = !by_key && target_.stride[2] == 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t last_b = end_of(b, joined_batch_, problem_.batch);
      const std::int64_t last_h = end_of(h, joined_heads_, problem_.heads);
      double whole = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (std::int64_t from_b = b; from_b < last_b; ++from_b) {
          for (std::int64_t from_h = h; from_h < last_h; ++from_h) {
            sum += sums_[(from_b * problem_.heads + from_h) * rows + row];
          }
        }
        whole += sum;
        if (one) continue;
        const std::int64_t offset =
            by_key ? target_.offset(b, h, 0, row) : target_.offset(b, h, row, 0);
        store_number(target_, offset, sum);
      }
      if (one) store_number(target_, target_.offset(b, h, 0, 0), whole);
    }
  }
}

template class BiasGradient<float>;
template class BiasGradient<double>;

}  // namespace volvelle
