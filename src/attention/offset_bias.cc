#include "attention/offset_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/attention_forward.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {
namespace {

// Largest distance between a query and a key of the problem, and so the furthest that a table is
// ever read.
std::int64_t furthest(const ResolvedAttention& problem, const std::int64_t* query_at,
                      const std::int64_t* key_at) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    std::int64_t q_low = problem.offset(b);
    std::int64_t q_high = q_low + problem.queries - 1;
    std::int64_t k_low = 0;
    std::int64_t k_high = problem.keys - 1;
    if (query_at != nullptr) {
      const auto [low, high] =
          std::minmax_element(query_at + b * problem.queries, query_at + (b + 1) * problem.queries);
      q_low = *low;
      q_high = *high;
    }
    if (key_at != nullptr) {
      const auto [low, high] =
          std::minmax_element(key_at + b * problem.keys, key_at + (b + 1) * problem.keys);
      k_low = *low;
      k_high = *high;
    }
    most = std::max({most, std::abs(k_high - q_low), std::abs(q_high - k_low)});
  }
  return most;
}

// In the kernels' unit and type; what is finite stays finite.
template <class T>
T in_units(double nats, T per_nat) {
  constexpr double kMost = std::numeric_limits<T>::max();
  if (std::isinf(nats)) return static_cast<T>(nats);
  return static_cast<T>(std::clamp(nats * static_cast<double>(per_nat), -kMost, kMost));
}

}  // namespace

template <class T>
OffsetBias<T>::OffsetBias(const ResolvedAttention& problem, T per_nat, Workspace& workspace)
    : problem_(problem),
      present_(problem.slopes.present || problem.bias_table.present ||
               problem.bucket_table.present),
      per_nat_(per_nat) {
  if (!present_ || problem.queries == 0 || problem.keys == 0) return;
  const std::int64_t query_count =
      problem.query_positions.present ? problem.batch * problem.queries : 0;
  const std::int64_t key_count = problem.key_positions.present ? problem.batch * problem.keys : 0;
  const bool tables = problem.bias_table.present || problem.bucket_table.present;
  if (query_count + key_count == 0 && !tables) return;

  // Positions first, in a temporary place of the same workspace: the tables' size depends on them.
  auto* positions = static_cast<std::int64_t*>(
      workspace.at_least(static_cast<std::size_t>(query_count + key_count) * 8));
  const auto read_positions = [&] {
    query_at_ = query_count > 0 ? positions : nullptr;
    key_at_ = key_count > 0 ? positions + query_count : nullptr;
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t i = 0; query_at_ != nullptr && i < problem.queries; ++i) {
        query_at_[b * problem.queries + i] = problem.query_positions.integer(b, i);
      }
      for (std::int64_t j = 0; key_at_ != nullptr && j < problem.keys; ++j) {
        key_at_[b * problem.keys + j] = problem.key_positions.integer(b, j);
      }
    }
  };
  read_positions();
  if (!tables) return;
  const std::int64_t table_half = (problem.bias_table.shape[1] - 1) / 2;
  std::int64_t wanted = 0;
  if (problem.bias_table.present) wanted = table_half;
  if (problem.bucket_table.present) wanted = std::max(wanted, problem.max_distance);
  reach_ = std::min(wanted, furthest(problem, query_at_, key_at_));
  const std::int64_t entries = 2 * reach_ + 1;
  positions = static_cast<std::int64_t*>(
      workspace.at_least(static_cast<std::size_t>(query_count + key_count) * 8 +
                         static_cast<std::size_t>(problem.heads * entries) * sizeof(T)));
  read_positions();
  table_ = reinterpret_cast<T*>(positions + query_count + key_count);
  for (std::int64_t offset = -reach_; offset <= reach_; ++offset) {
    const std::int64_t bucket = problem.bucket_table.present
                                    ? bucket_of(offset, problem.buckets,
                                                problem.bucket_table.shape[1], problem.max_distance)
                                    : 0;
    for (std::int64_t h = 0; h < problem.heads; ++h) {
      double sum = 0;
      if (problem.bias_table.present) {
        const std::int64_t place = std::clamp(offset, -table_half, table_half) + table_half;
        sum += problem.bias_table.value(h, place);
      }
      if (problem.bucket_table.present) sum += problem.bucket_table.value(h, bucket);
      table_[h * entries + offset + reach_] = in_units(sum, per_nat_);
    }
  }
}

template <class T>
T OffsetBias<T>::tabled(std::int64_t h, std::int64_t offset) const {
  if (table_ == nullptr) return 0;
  return table_[h * (2 * reach_ + 1) + std::clamp(offset, -reach_, reach_) + reach_];
}

template <class T>
std::int64_t OffsetBias<T>::query_position(std::int64_t b, std::int64_t i) const {
  return query_at_ != nullptr ? query_at_[b * problem_.queries + i] : problem_.offset(b) + i;
}

template <class T>
std::int64_t OffsetBias<T>::key_position(std::int64_t b, std::int64_t j) const {
  return key_at_ != nullptr ? key_at_[b * problem_.keys + j] : j;
}

template <class T>
bool OffsetBias<T>::fill_diagonal(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                                  std::int64_t key, int keys, int panel, T* diagonal) const {
  const std::int64_t q0 = query_position(b, query);
  const std::int64_t k0 = key_position(b, key);
  for (int i = 1; query_at_ != nullptr && i < count; ++i) {
    if (query_position(b, query + i) != q0 + i) return false;
  }
  for (int j = 1; key_at_ != nullptr && j < keys; ++j) {
    if (key_position(b, key + j) != k0 + j) return false;
  }
  const std::int64_t base = k0 - q0;
  const T slope =
      problem_.slopes.present ? static_cast<T>(problem_.slopes.value(h, 0)) * per_nat_ : T{0};
  for (int x = 1 - keys; x < panel; ++x) {
    diagonal[x] = -slope * static_cast<T>(std::abs(base - x));
  }
  if (table_ == nullptr) return true;
  for (int x = 1 - keys; x < panel; ++x) diagonal[x] += tabled(h, base - x);
  return true;
}

template <class T>
void OffsetBias<T>::add(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                        std::int64_t key, int keys, int panel, T* bias) const {
  // Positions fit 2^30 either way, so that differences are exact in double, which vectorises.
  double at[kernels::kMaxPanel];
  for (int i = 0; i < count; ++i) at[i] = static_cast<double>(query_position(b, query + i));
  const double slope = problem_.slopes.present ? problem_.slopes.value(h, 0) : 0;
  for (int j = 0; j < keys; ++j) {
    const double k = static_cast<double>(key_position(b, key + j));
    T* row = bias + j * panel;
    for (int i = 0; i < count; ++i) row[i] -= static_cast<T>(slope * std::abs(k - at[i]));
    if (table_ == nullptr) continue;
    for (int i = 0; i < count; ++i) {
      row[i] += tabled(h, static_cast<std::int64_t>(k - at[i])) / per_nat_;
    }
  }
}

template class OffsetBias<float>;
template class OffsetBias<double>;

}  // namespace volvelle
