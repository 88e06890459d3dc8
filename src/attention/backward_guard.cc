// Rows that are not finite, in a backward walk: they reach only what sees them or is seen by them.

#include <algorithm>

#include "attention/backward_rows.h"
#include "attention/backward_walk.h"

namespace volvelle {
namespace {

// Whether the query in lane x of a step sees key j of it.
template <class T>
bool seen(const kernels::TileStep<T>& tile, int j, int x, int panel) {
  if (tile.first != nullptr) {
    const T key = static_cast<T>(j + tile.key_base);
    if (key < tile.first[x] || key >= tile.last[x]) return false;
  }
  return tile.select == nullptr || tile.select[j * panel + x] != 0;
}

}  // namespace

// The gradients of queries from keys some of which are not finite and not seen by all.
template <class T>
void BackwardWalk<T>::add_bad_keys(const kernels::BackwardStep<T>& step, T* sums) {
  const auto width = static_cast<int>(call_.problem.width);
  const int panel = call_.forward.panel;
  const auto finite = [&](int j) {
    return call_.kernels.all_finite(step.tile.k + j * step.tile.k_stride, 0, 1, width);
  };
  for (int j = 0; j < step.tile.keys; ++j) {
    const T* from = step.tile.k + j * step.tile.k_stride;
    if (finite(j)) {
      std::copy_n(from, width, clean_keys_ + j * width);
    } else {
      std::fill_n(clean_keys_ + j * width, width, T{0});
    }
  }
  kernels::BackwardStep<T> clean = step;
  clean.tile.k = clean_keys_;
  clean.tile.k_stride = width;
  call_.kernels.query_grads(clean, sums);
  for (int j = 0; j < step.tile.keys; ++j) {
    if (finite(j)) continue;
    const T* key = step.tile.k + j * step.tile.k_stride;
    for (int x = 0; x < step.tile.vectors * call_.forward.kernels.lanes; ++x) {
      if (!seen(step.tile, j, x, panel)) continue;
      for (int d = 0; d < width; ++d)
        sums[d * panel + x] += key[d] * step.score_grads[j * panel + x];
    }
  }
}

// What queries whose rows are not finite add to the keys that they see.
template <class T>
void BackwardWalk<T>::add_bad_queries(int slot, const kernels::BackwardStep<T>& step,
                                      std::int64_t key, int lane) {
  const ResolvedAttention& problem = call_.problem;
  const ResolvedBackward& wanted = call_.backward;
  const int panel = call_.forward.panel;
  const auto add = [&](const Strided4& view, std::int64_t width, int x, const T* factors, T* sums) {
    load_padded_rows(view, view.offset(b_, h_, walk_->query(slot) + lane + x, 0), 1, width,
                     scratch_rows_, width);
    for (int j = 0; j < step.tile.keys; ++j) {
      if (!seen(step.tile, j, x, panel)) continue;
      T* to = sums + (key - first_key_ + j) * call_.band;
      for (std::int64_t c = 0; c < width; ++c) {
        to[c / call_.band * call_.block_keys * call_.band + c % call_.band] +=
            factors[j * panel + x] * scratch_rows_[c];
      }
    }
  };
  for (int i = 0; i < bad_queries_; ++i) {
    const int x = bad_query_[i] - slot * panel - lane;
    if (x < 0 || x >= step.tile.vectors * call_.forward.kernels.lanes) continue;
    if (wanted.grad_v.present) {
      add(wanted.grad_output, problem.value_width, x, step.tile.scores, value_sums_);
    }
    if (wanted.grad_k.present) {
      add(problem.q, problem.width, x, step.score_grads, key_sums_);
    }
  }
}

template void BackwardWalk<float>::add_bad_keys(const kernels::BackwardStep<float>&, float*);
template void BackwardWalk<double>::add_bad_keys(const kernels::BackwardStep<double>&, double*);
template void BackwardWalk<float>::add_bad_queries(int, const kernels::BackwardStep<float>&,
                                                   std::int64_t, int);
template void BackwardWalk<double>::add_bad_queries(int, const kernels::BackwardStep<double>&,
                                                    std::int64_t, int);

}  // namespace volvelle
