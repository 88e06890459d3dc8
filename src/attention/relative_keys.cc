#include "attention/relative_keys.h"

#include <algorithm>

#include "attention/carver.h"
#include "attention/composed_rows.h"

namespace volvelle {
namespace {

// Lanes [low, high) of a panel, in a row of keys, whose vectors are not clamped: those before have
// the table's last vector, those behind its first.
struct OpenLanes {
  int low, high;
};

OpenLanes open_lanes(std::int64_t offset_of_lane_0, std::int64_t reach, int count) {
  const auto held = [&](std::int64_t lane) {
    return static_cast<int>(std::clamp<std::int64_t>(lane, 0, count));
  };
  const int low = held(offset_of_lane_0 - reach);
  return {low, std::max(low, held(offset_of_lane_0 + reach + 1))};
}

}  // namespace

template <class T>
RelativeKeys<T>::RelativeKeys(const ResolvedAttention& problem, Workspace& workspace)
    : problem_(problem) {
  const RelativeVectors& vectors = problem.relative_keys;
  if (!vectors.present() || vectors.count == 0) return;
  shared_ = vectors.rows.stride[1] == 0;
  const std::int64_t heads = shared_ ? 1 : problem.heads;
  const auto tokens = [&](const Strided2& positions, std::int64_t count) {
    return positions.present ? problem.batch * count : 0;
  };
  const std::int64_t queries = tokens(problem.query_positions, problem.queries);
  const std::int64_t keys = tokens(problem.key_positions, problem.keys);
  const auto carve = [&](void* base) {
    Carver carver(base);
    rows_ = carver.take<T>(heads * vectors.count * problem.width);
    query_at_ = carver.take<std::int64_t>(queries);
    key_at_ = carver.take<std::int64_t>(keys);
    return carver.used();
  };
  carve(workspace.at_least(carve(nullptr)));
  const auto read = [&](const Strided2& positions, std::int64_t count, std::int64_t*& to) {
    if (!positions.present) {
      to = nullptr;
      return;
    }
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t i = 0; i < count; ++i) to[b * count + i] = positions.integer(b, i);
    }
  };
  read(problem.query_positions, problem.queries, query_at_);
  read(problem.key_positions, problem.keys, key_at_);
  Strided4 reached = vectors.rows;
  reached.data =
      static_cast<const char*>(reached.data) +
      reached.offset(0, 0, vectors.first, 0) * static_cast<std::int64_t>(size_of(reached.dtype));
  for (std::int64_t h = 0; h < heads; ++h) {
    gather_rows(reached, 0, h, vectors.count, problem.width,
                rows_ + h * vectors.count * problem.width);
  }
}

template <class T>
MetVectors RelativeKeys<T>::met(std::int64_t b, std::int64_t query, int count, std::int64_t key,
                                int keys) const {
  MetVectors met;
  const std::int64_t q0 = query_position(b, query);
  const std::int64_t k0 = key_position(b, key);
  met.in_order = true;
  std::int64_t q_low = q0, q_high = q0, k_low = k0, k_high = k0;
  for (int i = 1; query_at_ != nullptr && i < count; ++i) {
    const std::int64_t at = query_position(b, query + i);
    met.in_order = met.in_order && at == q0 + i;
    q_low = std::min(q_low, at);
    q_high = std::max(q_high, at);
  }
  for (int j = 1; key_at_ != nullptr && j < keys; ++j) {
    const std::int64_t at = key_position(b, key + j);
    met.in_order = met.in_order && at == k0 + j;
    k_low = std::min(k_low, at);
    k_high = std::max(k_high, at);
  }
  if (query_at_ == nullptr) q_high = q0 + count - 1;
  if (key_at_ == nullptr) k_high = k0 + keys - 1;
  met.base = k0 - q0;
  met.first = row_of(k_low - q_high);
  met.count = row_of(k_high - q_low) - met.first + 1;
  return met;
}

// Lays products by vector where pairs in order have their offsets.
template <class T>
void RelativeKeys<T>::spread(const MetVectors& met, int count, int keys, int panel,
                             const T* products, T* rows) const {
  const std::int64_t reach = problem_.relative_keys.reach;
  const auto of = [&](std::int64_t offset) {
    return products + (row_of(offset) - met.first) * panel;
  };
  for (int j = 0; j < keys; ++j, rows += panel) {
    const std::int64_t offset = met.base + j;
    const OpenLanes open = open_lanes(offset, reach, count);
    if (open.low > 0) std::copy_n(of(reach), open.low, rows);
    if (open.low < open.high) {
      const T* from = of(offset - open.low);
      for (int x = open.low; x < open.high; ++x, from -= panel) rows[x] = from[x];
    }
    if (open.high < count) {
      std::copy(of(-reach) + open.high, of(-reach) + count, rows + open.high);
    }
    std::fill(rows + count, rows + panel, T{0});
  }
}

template <class T>
void RelativeKeys<T>::fill(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                           std::int64_t key, int panel, T* products, T* rows,
                           kernels::TileStep<T>& step) const {
  const MetVectors met = this->met(b, query, count, key, step.keys);
  kernels::TileStep<T> product = step;
  product.diagonal = product.relative = nullptr;
  product.k_stride = row_stride();
  product.scores = products;
  const kernels::ForwardKernels<T>& kernels = kernels::forward_kernels<T>();
  const auto take = [&](std::int64_t first, std::int64_t many) {
    product.k = row(h, first);
    product.keys = static_cast<int>(many);
    kernels.products(product);
  };
  step.relative = rows;
  step.relative_stride = panel;
  if (met.count == 1) {
    take(met.first, 1);
    step.relative = products;
    step.relative_stride = 0;
    return;
  }
  if (met.in_order) {
    take(met.first, met.count);
    spread(met, count, step.keys, panel, products, rows);
    return;
  }
  std::fill_n(rows, static_cast<std::int64_t>(step.keys) * panel, T{0});
  for (std::int64_t first = met.first; first < met.first + met.count; first += kMost) {
    const std::int64_t many = std::min(kMost, met.first + met.count - first);
    take(first, many);
    for (int j = 0; j < step.keys; ++j) {
      for (int x = 0; x < count; ++x) {
        const std::int64_t own = this->met(b, query + x, key + j) - first;
        if (own >= 0 && own < many) rows[j * panel + x] = products[own * panel + x];
      }
    }
  }
}

template <class T>
void RelativeKeys<T>::gather(const MetVectors& met, std::int64_t b, std::int64_t query, int count,
                             std::int64_t key, int keys, int panel, std::int64_t first,
                             std::int64_t rows, const T* cells, T* sums) const {
  if (met.count == 1) {
    for (int j = 0; j < keys; ++j, cells += panel) {
      for (int x = 0; x < count; ++x) sums[x] += cells[x];
    }
    return;
  }
  if (!met.in_order) {
    for (int j = 0; j < keys; ++j, cells += panel) {
      for (int x = 0; x < count; ++x) {
        const std::int64_t own = this->met(b, query + x, key + j) - first;
        if (own >= 0 && own < rows) sums[own * panel + x] += cells[x];
      }
    }
    return;
  }
  const std::int64_t reach = problem_.relative_keys.reach;
  const auto of = [&](std::int64_t offset) { return sums + (row_of(offset) - met.first) * panel; };
  for (int j = 0; j < keys; ++j, cells += panel) {
    const std::int64_t offset = met.base + j;
    const OpenLanes open = open_lanes(offset, reach, count);
    if (open.low > 0) {
      T* to = of(reach);
      for (int x = 0; x < open.low; ++x) to[x] += cells[x];
    }
    if (open.low < open.high) {
      T* to = of(offset - open.low);
      for (int x = open.low; x < open.high; ++x, to -= panel) to[x] += cells[x];
    }
    if (open.high < count) {
      T* to = of(-reach);
      for (int x = open.high; x < count; ++x) to[x] += cells[x];
    }
  }
}

template class RelativeKeys<float>;
template class RelativeKeys<double>;

}  // namespace volvelle
