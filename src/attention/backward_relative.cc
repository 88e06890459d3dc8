#include "attention/backward_relative.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "attention/backward_walk.h"
#include "attention/composed_rows.h"
#include "base/thread_pool.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

// Whether rows [first, first + rows) of every head are finite.
bool finite_rows(const Strided4& array, std::int64_t batch, std::int64_t heads, std::int64_t first,
                 std::int64_t rows, std::int64_t width) {
  std::atomic<bool> finite{true};
  parallel_for(batch * heads, resolve_threads(0), [&](std::int64_t plane) {
    visit_dtype(array.dtype, [&](auto zero) {
      using Element = decltype(zero);
      const auto* data = static_cast<const Element*>(array.data);
      for (std::int64_t i = first; i < first + rows && finite; ++i) {
        const Element* row = data + array.offset(plane / heads, plane % heads, i, 0);
        bool all = true;
        for (std::int64_t d = 0; d < width; ++d) {
          all &= std::isfinite(widened<double>(row[d * array.stride[3]]));
        }
        if (!all) finite = false;
      }
    });
  });
  return finite;
}

}  // namespace

const char* relative_keys_refusal(const ResolvedAttention& r) {
  const RelativeVectors& vectors = r.relative_keys;
  if (!vectors.present()) return nullptr;
  const std::int64_t heads = vectors.rows.stride[1] == 0 ? 1 : r.heads;
  if (finite_rows(vectors.rows, 1, heads, vectors.first, vectors.count, r.width) &&
      finite_rows(r.q, r.batch, r.heads, 0, r.queries, r.width)) {
    return nullptr;
  }
  return "relative_keys or the queries that meet them hold numbers that are not finite: on the "
         "composed path";
}

template <class T>
RelativeKeyGradients<T>::RelativeKeyGradients(const ResolvedAttention& problem,
                                              const ResolvedBackward& backward,
                                              Workspace& workspace)
    : problem_(problem), backward_(backward) {
  if (!backward.grad_relative_keys.present) return;
  const std::int64_t count = problem.batch * problem.heads * reached() * problem.width;
  sums_ = static_cast<double*>(
      workspace.at_least(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * 8));
  std::fill_n(sums_, count, 0.0);
}

template <class T>
void RelativeKeyGradients<T>::flush(std::int64_t b, std::int64_t h, std::int64_t band, T* sums) {
  const std::int64_t width = problem_.width;
  double* to = sums_ + (b * problem_.heads + h) * reached() * width;
  for (std::int64_t c = 0; c < width; c += band) {
    const std::int64_t columns = std::min(band, width - c);
    for (std::int64_t row = 0; row < reached(); ++row, sums += band) {
      for (std::int64_t d = 0; d < columns; ++d) {
        to[row * width + c + d] += static_cast<double>(sums[d]);
      }
      std::fill_n(sums, band, T{0});
    }
  }
}

template <class T>
void RelativeKeyGradients<T>::finish() const {
  if (!wanted()) return;
  const Strided4& to = backward_.grad_relative_keys;
  const RelativeVectors& vectors = problem_.relative_keys;
  const std::int64_t width = problem_.width;
  const bool shared = to.stride[1] == 0;
  for (std::int64_t head = 0; head < (shared ? 1 : problem_.heads); ++head) {
    for (std::int64_t entry = 0; entry < 2 * vectors.reach + 1; ++entry) {
      const std::int64_t row = entry - vectors.first;
      for (std::int64_t d = 0; d < width; ++d) {
        double sum = 0;
        const bool met = row >= 0 && row < reached();
        for (std::int64_t plane = 0; met && plane < problem_.batch * problem_.heads; ++plane) {
          if (!shared && plane % problem_.heads != head) continue;
          sum += sums_[(plane * reached() + row) * width + d];
        }
        sum *= problem_.scale;
        Strided4 place = to;
        place.data = static_cast<const char*>(to.data) +
                     to.offset(0, head, entry, d) * static_cast<std::int64_t>(size_of(to.dtype));
        scatter_rows(place, 0, 0, 1, 1, &sum);
      }
    }
  }
}

// What a step's gradients of scores are by the products of queries and vectors, and from there to
// the queries and the vectors.
template <class T>
void BackwardWalk<T>::add_relative_keys(int slot, const kernels::BackwardStep<T>& step,
                                        std::int64_t query, int count, std::int64_t key, int lane) {
  constexpr std::int64_t kMost = RelativeKeys<T>::kMost;
  const RelativeKeys<T>& relative = call_.forward.relative_keys;
  const int panel = call_.forward.panel;
  const int lanes = call_.forward.kernels.lanes;
  const std::int64_t width = call_.problem.width;
  const MetVectors met = relative.met(b_, query, count, key, step.tile.keys);
  for (std::int64_t first = met.first; first < met.first + met.count; first += kMost) {
    const std::int64_t many = std::min(kMost, met.first + met.count - first);
    std::fill_n(product_grads_, many * panel, T{0});
    relative.gather(met, b_, query, count, key, step.tile.keys, panel, first, many,
                    step.score_grads, product_grads_);
    if (call_.backward.grad_q.present) {
      take_turn();
      kernels::BackwardStep<T> products = step;
      products.tile.k = relative.row(h_, first);
      products.tile.k_stride = relative.row_stride();
      products.tile.keys = static_cast<int>(many);
      products.score_grads = product_grads_;
      call_.kernels.query_grads(products, query_sums_ + slot * panel * width + lane);
    }
    if (!call_.relative_keys.wanted()) continue;
    const kernels::ProductPart<T> part{product_grads_,
                                       query_rows_ + (slot * panel + lane) * call_.band,
                                       step.tile.vectors * lanes};
    kernels::RowProduct<T> product;
    product.parts = &part;
    product.count = 1;
    product.rows = static_cast<int>(many);
    product.columns = static_cast<int>((width + lanes - 1) / lanes * lanes);
    product.left_stride = panel;
    product.right_band = call_.group_queries * call_.band;
    product.out_band = call_.relative_keys.reached() * call_.band;
    product.out = relative_sums_ + first * call_.band;
    call_.kernels.add_rows(product);
  }
}

template class RelativeKeyGradients<float>;
template class RelativeKeyGradients<double>;
template void BackwardWalk<float>::add_relative_keys(int, const kernels::BackwardStep<float>&,
                                                     std::int64_t, int, std::int64_t, int);
template void BackwardWalk<double>::add_relative_keys(int, const kernels::BackwardStep<double>&,
                                                      std::int64_t, int, std::int64_t, int);

}  // namespace volvelle
