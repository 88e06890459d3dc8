#include "attention/slope_reach.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/backward_rows.h"
#include "attention/carver.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"
#include "kernels/attention_backward.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

// exp of less than minus this is 0 in the kernels (exp-inl.h), with what the scores' rounding may
// move.
template <class T>
constexpr double kNothing = (sizeof(T) == 8 ? 708.0 : 87.34) + 2;
// How much further than that weights reach with scores of a usual size.
constexpr double kUsual = 1.4;
// By so much more than exact products the rounded ones may be.
constexpr double kRounding = 1 + 1e-3;

// Kernels multiply slopes by distances in T: so far it tells neighbouring keys apart by less than
// the bounds leave room for.
template <class T>
constexpr std::int64_t kFurthest = std::int64_t{1} << (sizeof(T) == 8 ? 45 : 20);

template <class T>
bool near_enough(const ResolvedAttention& problem) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    if (std::abs(problem.offset(b)) + problem.queries + problem.keys > kFurthest<T>) return false;
  }
  return true;
}

// What the bounds hold for: nothing else adds to scores or takes single keys out of sight.
template <class T>
bool bounded(const ResolvedAttention& problem) {
  return near_enough<T>(problem) && problem.slopes.present && !problem.bias_table.present &&
         !problem.bucket_table.present && !problem.bias.present && !problem.keep.present &&
         !problem.query_segments.present && !problem.query_positions.present &&
         !problem.key_positions.present && !problem.rotary.any() && !problem.has_relative_vectors();
}

// How many keys causality shows a query, in the middle of all, that lie further from it than
// nats / slope. Few queries read the keys so few times that another time counts.
double expected_spared(const ResolvedAttention& problem, double nats) {
  if (problem.queries < problem.keys / 8) return 0;
  const auto keys = static_cast<double>(problem.keys);
  double sum = 0;
  for (std::int64_t h = 0; h < problem.heads; ++h) {
    const double beyond = keys - nats / problem.slopes.value(h, 0);
    if (beyond > 0 && beyond <= keys) sum += beyond * beyond / (2 * keys);
  }
  return sum / static_cast<double>(problem.heads);
}

// Keys of a row of the batch that are no padding: what lies there may be anything.
struct KeySpan {
  std::int64_t first, last;
};
KeySpan real_keys(const ResolvedAttention& problem, std::int64_t b) {
  if (!problem.key_lengths.present) return {0, problem.keys};
  const std::int64_t length = problem.key_lengths.integer(b, 0);
  return problem.padding == Padding::right ? KeySpan{0, length}
                                           : KeySpan{problem.keys - length, problem.keys};
}

// The longest of some rows; NaN or infinite where one is not finite.
template <class T>
double longest(const T* rows, std::int64_t stride, int count, std::int64_t width) {
  T squares[kTile];
  kernels::backward_kernels<T>().row_dots(rows, stride, rows, stride, count,
                                          static_cast<int>(width), squares);
  double most = 0;
  for (int i = 0; i < count; ++i) {
    const auto square = static_cast<double>(squares[i]);
    if (!std::isfinite(square)) return kUnknown;
    most = std::max(most, square);
  }
  return std::sqrt(most);
}

// Calls body(rows, stride, count) with a head's rows in T, kTile at a time, until it says false.
template <class T, class Body>
void each_rows(const ResolvedAttention& problem, const Strided4& view, std::int64_t width,
               std::int64_t b, std::int64_t h, Body&& body) {
  const bool in_place = view.dtype == dtype_of<T> && (view.stride[3] == 1 || width == 1);
  T* scratch = in_place ? nullptr
                        : static_cast<T*>(kept_by_thread<Workspace>().at_least(
                              static_cast<std::size_t>(kTile * width) * sizeof(T)));
  for (std::int64_t i = 0; i < problem.queries; i += kTile) {
    const auto count = static_cast<int>(std::min(kTile, problem.queries - i));
    const std::int64_t offset = view.offset(b, h, i, 0);
    if (!in_place) load_padded_rows(view, offset, count, width, scratch, width);
    const T* rows = in_place ? static_cast<const T*>(view.data) + offset : scratch;
    if (!body(rows, in_place ? view.stride[2] : width, count)) return;
  }
}

}  // namespace

template <class T>
SlopeReach<T>::SlopeReach(const ResolvedAttention& problem, const TileSource<T>& source,
                          double worthwhile, int threads, Workspace& workspace)
    : problem_(problem) {
  if (!bounded<T>(problem) || expected_spared(problem, kUsual * kNothing<T>) < worthwhile) return;
  double* key_lengths = nullptr;
  const auto carve = [&](void* base) {
    Carver carver(base);
    reach_ = carver.take<double>(problem.batch * problem.heads);
    key_lengths = carver.take<double>(problem.batch * problem.key_heads);
    return carver.used();
  };
  carve(workspace.at_least(carve(nullptr)));
  measure_keys(source, threads, key_lengths);
  measure_queries(threads, key_lengths);
}

template <class T>
void SlopeReach<T>::measure_keys(const TileSource<T>& source, int threads, double* lengths) const {
  const ResolvedAttention& problem = problem_;
  parallel_for(problem.batch * problem.key_heads, threads, [&](std::int64_t plane) {
    T* scratch = static_cast<T*>(kept_by_thread<Workspace>().at_least(
        static_cast<std::size_t>(source.scratch_size()) * sizeof(T)));
    const std::int64_t b = plane / problem.key_heads;
    const auto [first, last] = real_keys(problem, b);
    double most = 0;
    for (std::int64_t from = first / kTile * kTile; from < last; from += kTile) {
      const auto count = static_cast<int>(std::min(kTile, last - from));
      const KeyValueTile<T> tile = source.load(b, plane % problem.key_heads, from, count, scratch);
      if (tile.k == nullptr) continue;
      const std::int64_t padding = std::max<std::int64_t>(first - from, 0);
      const int real = count - static_cast<int>(padding);
      most = std::max(
          most, longest(tile.k + padding * tile.k_stride, tile.k_stride, real, problem.width));
      if (!kernels::backward_kernels<T>().all_finite(tile.v + padding * tile.v_stride,
                                                     tile.v_stride, real,
                                                     static_cast<int>(problem.value_width))) {
        most = kUnknown;
      }
      if (most == kUnknown) break;
    }
    lengths[plane] = most;
  });
}

template <class T>
void SlopeReach<T>::measure_queries(int threads, const double* key_lengths) {
  const ResolvedAttention& problem = problem_;
  parallel_for(problem.batch * problem.heads, threads, [&](std::int64_t plane) {
    const std::int64_t b = plane / problem.heads;
    const std::int64_t h = plane % problem.heads;
    const double slope = problem.slopes.value(h, 0);
    const double key = key_lengths[b * problem.key_heads + problem.key_head(h)];
    reach_[plane] = kUnknown;
    if (!(slope > 0) || !std::isfinite(slope) || key == kUnknown) return;
    double query = 0;
    each_rows<T>(problem, problem.q, problem.width, b, h,
                 [&](const T* rows, std::int64_t stride, int count) {
                   query = std::max(query, longest(rows, stride, count, problem.width));
                   return query < kUnknown;
                 });
    const double score = std::abs(problem.scale) * query * key * kRounding;
    reach_[plane] = (2 * score + kNothing<T>) / slope;
  });
}

template <class T>
void SlopeReach<T>::require_finite(const Strided4& rows, std::int64_t width, int threads) {
  if (reach_ == nullptr) return;
  const ResolvedAttention& problem = problem_;
  parallel_for(problem.batch * problem.heads, threads, [&](std::int64_t plane) {
    if (reach_[plane] == kUnknown) return;
    each_rows<T>(problem, rows, width, plane / problem.heads, plane % problem.heads,
                 [&](const T* row, std::int64_t stride, int count) {
                   const bool finite = kernels::backward_kernels<T>().all_finite(
                       row, stride, count, static_cast<int>(width));
                   if (!finite) reach_[plane] = kUnknown;
                   return finite;
                 });
  });
}

template <class T>
void SlopeReach<T>::narrow(std::int64_t b, std::int64_t h, std::int64_t query, int count,
                           PanelExclusion& panel) const {
  if (reach_ == nullptr || panel.any_first == panel.any_last) return;
  const double far = reach_[b * problem_.heads + h];
  if (!(far < static_cast<double>(problem_.keys))) return;
  const auto reach = static_cast<std::int64_t>(far) + 1;
  const bool all = panel.all_first == 0 && panel.all_last == problem_.keys;
  std::int64_t low = panel.any_last;
  std::int64_t high = panel.any_first;
  for (int x = 0; x < count; ++x) {
    const std::int64_t first = all ? 0 : panel.first[x];
    const std::int64_t last = all ? problem_.keys : panel.last[x];
    if (first == last) continue;
    const std::int64_t p = problem_.offset(b) + query + x;
    const std::int64_t nearest = std::max<std::int64_t>({0, first - p, p - (last - 1)});
    low = std::min(low, p - nearest - reach);
    high = std::max(high, p + nearest + reach + 1);
  }
  if (low > panel.any_first) panel.any_first = std::max(panel.any_first, low / kTile * kTile);
  if (high < panel.any_last) {
    panel.any_last = std::min(panel.any_last, (high + kTile - 1) / kTile * kTile);
  }
}

template class SlopeReach<float>;
template class SlopeReach<double>;

}  // namespace volvelle
