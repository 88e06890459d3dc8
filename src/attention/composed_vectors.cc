#include "attention/composed_vectors.h"

#include <limits>

#include "attention/composed_operations.h"
#include "attention/composed_rows.h"

namespace volvelle {

template <class Real>
ComposedVectors<Real>::ComposedVectors(const ResolvedAttention& problem,
                                       const RelativeVectors& vectors, std::int64_t width,
                                       std::int64_t batch, std::int64_t head)
    : r_(problem), vectors_(vectors), width_(width), b_(batch), h_(head) {
  if (!vectors.present()) return;
  query_ = bias_positions(r_.query_positions, b_, r_.queries, r_.offset(b_));
  key_ = bias_positions(r_.key_positions, b_, r_.keys, 0);
}

template <class Real>
void ComposedVectors<Real>::gather(Real* rows) const {
  if (vectors_.count == 0) return;
  Strided4 reached = vectors_.rows;
  reached.data =
      static_cast<const char*>(reached.data) +
      reached.offset(0, 0, vectors_.first, 0) * static_cast<std::int64_t>(size_of(reached.dtype));
  gather_rows(reached, b_, h_, vectors_.count, width_, rows);
}

template <class Real>
template <class At>
void ComposedVectors<Real>::for_each_pair(At&& at) const {
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(query_.size()); ++i) {
    const std::int64_t p = query_[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(key_.size()); ++j, ++n) {
      at(i, j, n, vectors_.entry(key_[static_cast<std::size_t>(j)] - p) - vectors_.first);
    }
  }
}

template <class Real>
void ComposedVectors<Real>::add_row_products(const Real* a, const Real* rows, const bool* excluded,
                                             Real* matrix) const {
  // Far keys share a vector, so that most products are the one before.
  std::int64_t known_row = -1, known_entry = -1;
  Real known = 0;
  for_each_pair([&](std::int64_t i, std::int64_t, std::int64_t n, std::int64_t entry) {
    if (excluded != nullptr && excluded[n]) return;
    if (i != known_row || entry != known_entry) {
      known = dot(a + i * width_, rows + entry * width_, width_);
      known_row = i;
      known_entry = entry;
    }
    matrix[n] += known;
  });
}

template <class Real>
void ComposedVectors<Real>::add_column_products(const Real* b, const Real* rows,
                                                Real* matrix) const {
  for_each_pair([&](std::int64_t, std::int64_t j, std::int64_t n, std::int64_t entry) {
    matrix[n] += dot(b + j * width_, rows + entry * width_, width_);
  });
}

template <class Real>
void ComposedVectors<Real>::sum_into_rows(const Real* matrix, const bool* excluded,
                                          const Real* maxima, const Real* rows, Real* to) const {
  constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();
  for_each_pair([&](std::int64_t i, std::int64_t, std::int64_t n, std::int64_t entry) {
    if (excluded[n] || (maxima != nullptr && maxima[i] == kMinusInfinity)) return;
    Real* sum = to + i * width_;
    const Real* vector = rows + entry * width_;
    for (std::int64_t d = 0; d < width_; ++d) sum[d] += matrix[n] * vector[d];
  });
}

template <class Real>
void ComposedVectors<Real>::sum_into_columns(const Real* matrix, const bool* excluded,
                                             const Real* rows, Real* to) const {
  for_each_pair([&](std::int64_t, std::int64_t j, std::int64_t n, std::int64_t entry) {
    if (excluded[n]) return;
    Real* sum = to + j * width_;
    const Real* vector = rows + entry * width_;
    for (std::int64_t d = 0; d < width_; ++d) sum[d] += matrix[n] * vector[d];
  });
}

template <class Real>
void ComposedVectors<Real>::sum_rows(const Real* matrix, const bool* excluded, const Real* a,
                                     double* sums) const {
  for_each_pair([&](std::int64_t i, std::int64_t, std::int64_t n, std::int64_t entry) {
    if (excluded[n]) return;
    const double share = static_cast<double>(matrix[n]);
    double* sum = sums + entry * width_;
    for (std::int64_t d = 0; d < width_; ++d) {
      sum[d] += share * static_cast<double>(a[i * width_ + d]);
    }
  });
}

template <class Real>
void ComposedVectors<Real>::sum_columns(const Real* matrix, const bool* excluded, const Real* b,
                                        double* sums) const {
  for_each_pair([&](std::int64_t, std::int64_t j, std::int64_t n, std::int64_t entry) {
    if (excluded[n]) return;
    const double share = static_cast<double>(matrix[n]);
    double* sum = sums + entry * width_;
    for (std::int64_t d = 0; d < width_; ++d) {
      sum[d] += share * static_cast<double>(b[j * width_ + d]);
    }
  });
}

template class ComposedVectors<float>;
template class ComposedVectors<double>;

}  // namespace volvelle
