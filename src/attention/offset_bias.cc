#include "attention/offset_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "attention/carver.h"
#include "kernels/attention_forward.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {
namespace {

// Offsets beyond so many times the tokens are not laid out: positions lie far apart then, and most
// places would never be read.
constexpr std::int64_t kSparse = 4;

struct OffsetRange {
  std::int64_t low, high;
};

// The smallest and the largest key position minus query position of the problem.
OffsetRange offsets_of(const ResolvedAttention& problem, const std::int64_t* query_at,
                       const std::int64_t* key_at) {
  OffsetRange range{std::numeric_limits<std::int64_t>::max(),
                    std::numeric_limits<std::int64_t>::min()};
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
    range.low = std::min(range.low, k_low - q_high);
    range.high = std::max(range.high, k_high - q_low);
  }
  return range;
}

// In the kernels' unit and type; what is finite stays finite.
template <class T>
T in_units(double nats, T per_nat) {
  constexpr double kMost = std::numeric_limits<T>::max();
  if (std::isinf(nats)) return static_cast<T>(nats);
  return static_cast<T>(std::clamp(nats * static_cast<double>(per_nat), -kMost, kMost));
}

// Whether positions[0..count) are first, first + 1, ...
bool runs_on(const std::int64_t* positions, int count) {
  for (int i = 1; i < count; ++i) {
    if (positions[i] != positions[0] + i) return false;
  }
  return true;
}

}  // namespace

template <class T>
OffsetBias<T>::OffsetBias(const ResolvedAttention& problem, T per_nat, int panel,
                          Workspace& workspace)
    : problem_(problem),
      present_(problem.slopes.present || problem.bias_table.present ||
               problem.bucket_table.present),
      per_nat_(per_nat),
      panel_(panel) {
  if (!present_ || problem.batch == 0 || problem.queries == 0 || problem.keys == 0) return;
  const bool tables = problem.bias_table.present || problem.bucket_table.present;
  const std::int64_t positions = (problem.query_positions.present ? problem.queries : 0) +
                                 (problem.key_positions.present ? problem.keys : 0);
  std::int64_t* at = nullptr;
  const auto carve = [&](void* base) {
    Carver carver(base);
    at = carver.take<std::int64_t>(problem.batch * positions);
    table_ = carver.take<T>(tables ? problem.heads * (2 * reach_ + 1) : 0);
    laid_out_ = carver.take<T>(problem.heads * places_);
    return carver.used();
  };
  // Positions first, then once more beside the tables, whose size depends on them.
  reach_ = 0;
  carve(workspace.at_least(carve(nullptr)));
  read_positions(at);
  const OffsetRange range = offsets_of(problem, query_at_, key_at_);
  const std::int64_t furthest = std::max(std::abs(range.low), std::abs(range.high));
  if (problem.bias_table.present) reach_ = (problem.bias_table.shape[1] - 1) / 2;
  if (problem.bucket_table.present) reach_ = std::max(reach_, problem.max_distance);
  reach_ = std::min(reach_, furthest);
  const std::int64_t distinct = range.high - range.low + 1;
  high_ = range.high;
  if (panel > 0 && distinct <= kSparse * (problem.queries + problem.keys)) {
    places_ = distinct + panel;
  }
  carve(workspace.at_least(carve(nullptr)));
  read_positions(at);
  if (tables) {
    fill_table();
  } else {
    table_ = nullptr;
  }
  lay_out();
}

template <class T>
void OffsetBias<T>::read_positions(std::int64_t* place) {
  const ResolvedAttention& problem = problem_;
  query_at_ = problem.query_positions.present ? place : nullptr;
  if (query_at_ != nullptr) place += problem.batch * problem.queries;
  key_at_ = problem.key_positions.present ? place : nullptr;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t i = 0; query_at_ != nullptr && i < problem.queries; ++i) {
      query_at_[b * problem.queries + i] = problem.query_positions.integer(b, i);
    }
    for (std::int64_t j = 0; key_at_ != nullptr && j < problem.keys; ++j) {
      key_at_[b * problem.keys + j] = problem.key_positions.integer(b, j);
    }
  }
}

template <class T>
void OffsetBias<T>::fill_table() {
  const ResolvedAttention& problem = problem_;
  const std::int64_t table_half = (problem.bias_table.shape[1] - 1) / 2;
  const std::int64_t entries = 2 * reach_ + 1;
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
void OffsetBias<T>::lay_out() {
  for (std::int64_t h = 0; h < problem_.heads; ++h) {
    T* row = laid_out_ + h * places_;
    const T steep = slope(h);
    for (std::int64_t place = 0; place < places_; ++place) {
      // Offsets stay within 2^32: exact in double, which converts in vectors; T rounds them.
      const double distance = std::abs(static_cast<double>(offset_at(place)));
      row[place] = -steep * static_cast<T>(distance);
    }
    if (table_ == nullptr) continue;
    for (std::int64_t place = 0; place < places_; ++place) row[place] += tabled(h, high_ - place);
  }
}

template <class T>
T OffsetBias<T>::tabled(std::int64_t h, std::int64_t offset) const {
  if (table_ == nullptr) return 0;
  return table_[h * (2 * reach_ + 1) + std::clamp(offset, -reach_, reach_) + reach_];
}

template <class T>
T OffsetBias<T>::slope(std::int64_t h) const {
  return problem_.slopes.present ? static_cast<T>(problem_.slopes.value(h, 0)) * per_nat_ : T{0};
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
const T* OffsetBias<T>::diagonal(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                                 std::int64_t key, int keys, T* scratch) const {
  if (query_at_ != nullptr && !runs_on(query_at_ + b * problem_.queries + query, count)) {
    return nullptr;
  }
  if (key_at_ != nullptr && !runs_on(key_at_ + b * problem_.keys + key, keys)) return nullptr;
  const std::int64_t base = key_position(b, key) - query_position(b, query);
  if (laid_out()) return laid_out_ + h * places_ + place_of(base);
  T* middle = scratch + keys - 1;
  const T steep = slope(h);
  for (int x = 1 - keys; x < panel_; ++x) {
    middle[x] = -steep * static_cast<T>(std::abs(base - x)) + tabled(h, base - x);
  }
  return middle;
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

template <class T>
void OffsetBias<T>::add_row(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key,
                            int keys, T* bias) const {
  if (key_at_ != nullptr) return add(b, h, query, 1, key, keys, 1, bias);
  // Offsets rise by one from key to key: loops without a look-up of each.
  const std::int64_t first = key - query_position(b, query);
  if (problem_.slopes.present) {
    const double slope = problem_.slopes.value(h, 0);
    const auto from = static_cast<double>(first);
    for (int j = 0; j < keys; ++j) bias[j] -= static_cast<T>(slope * std::abs(from + j));
  }
  if (table_ == nullptr) return;
  const T nats = 1 / per_nat_;
  const T* table = table_ + h * (2 * reach_ + 1) + reach_;  // of offset 0
  const auto inside = [&](std::int64_t offset) {
    return static_cast<int>(std::clamp<std::int64_t>(offset - first, 0, keys));
  };
  const int begin = inside(-reach_), end = std::max(begin, inside(reach_ + 1));
  const T low = table[-reach_] * nats, high = table[reach_] * nats;
  for (int j = 0; j < begin; ++j) bias[j] += low;
  for (int j = begin; j < end; ++j) bias[j] += table[first + j] * nats;
  for (int j = end; j < keys; ++j) bias[j] += high;
}

template class OffsetBias<float>;
template class OffsetBias<double>;

}  // namespace volvelle
