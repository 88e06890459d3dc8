// What a backward walk does with a group of queries before they meet keys: rows in bands, lanes,
// and what takes no part or is not finite out of the rows.

#include <algorithm>
#include <limits>

#include "attention/backward_rows.h"
#include "attention/backward_walk.h"

namespace volvelle {

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
  if (call_.packs_queries()) {
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
         (!call_.packs_queries() || finite(query_rows_, call_.padded_width));
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
    if (call_.packs_queries()) clear_in(query_rows_, call_.padded_width);
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

template void BackwardWalk<float>::open_group(std::int64_t);
template void BackwardWalk<double>::open_group(std::int64_t);

}  // namespace volvelle
