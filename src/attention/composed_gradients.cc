#include "attention/composed_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "attention/composed_operations.h"
#include "attention/composed_rows.h"
#include "attention/composed_vectors.h"
#include "attention/dropout.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {

template <class Real>
void ComposedGradients<Real>::cap_slopes(const Real* capped, Real* slopes) const {
  if (!(r_.softcap > 0)) return;
  const Real cap = static_cast<Real>(r_.softcap);
  for (std::int64_t n = 0; n < r_.queries * r_.keys; ++n) {
    const Real t = capped[n] / cap;
    slopes[n] = (1 - t) * (1 + t);
  }
}

template <class Real>
void ComposedGradients<Real>::exclude_empty_rows(const Real* maxima, bool* excluded) const {
  for (std::int64_t i = 0; i < r_.queries; ++i, excluded += r_.keys) {
    if (maxima[i] == -std::numeric_limits<Real>::infinity()) {
      std::fill_n(excluded, r_.keys, true);
    }
  }
}

template <class Real>
void ComposedGradients<Real>::deltas(const Real* grad_output, const Real* output,
                                     const bool* excluded, Real* deltas) const {
  for (std::int64_t i = 0; i < r_.queries; ++i, excluded += r_.keys) {
    const bool empty = std::all_of(excluded, excluded + r_.keys, [](bool out) { return out; });
    const std::int64_t first = i * r_.value_width;
    deltas[i] = empty ? Real{0} : dot(grad_output + first, output + first, r_.value_width);
  }
}

template <class Real>
void ComposedGradients<Real>::grad_weights(const Real* grad_output, const Real* values,
                                           const bool* excluded, Real* matrix) const {
  const kernels::DropoutStream stream = dropout_stream(r_, b_, h_);
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    for (std::int64_t j = 0; j < r_.keys; ++j, ++matrix) {
      *matrix = 0;
      if (*excluded++) continue;
      *matrix = dot(grad_output + i * r_.value_width, values + j * r_.value_width, r_.value_width);
    }
  }
  const ComposedVectors<Real> of_values(r_, r_.relative_values, r_.value_width, b_, h_);
  matrix -= r_.queries * r_.keys;
  excluded -= r_.queries * r_.keys;
  of_values.add_row_products(grad_output, values + r_.keys * r_.value_width, excluded, matrix);
  if (!(r_.dropout > 0)) return;
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    for (std::int64_t j = 0; j < r_.keys; ++j, ++matrix) {
      if (!*excluded++) *matrix *= static_cast<Real>(dropout_factor(stream, i, j));
    }
  }
}

template <class Real>
void ComposedGradients<Real>::grad_scores(const Real* weights, const Real* deltas,
                                          const bool* excluded, Real* matrix) const {
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    for (std::int64_t j = 0; j < r_.keys; ++j, ++matrix, ++weights) {
      if (!*excluded++) *matrix = *weights * (*matrix - deltas[i]);
    }
  }
}

template <class Real>
void ComposedGradients<Real>::grad_products(const Real* slopes, Real* matrix) const {
  const Real scale = static_cast<Real>(r_.scale);
  for (std::int64_t n = 0; n < r_.queries * r_.keys; ++n) {
    // What is 0 stays so: behind the mask the slope may be NaN.
    if (slopes != nullptr && matrix[n] != 0) matrix[n] *= slopes[n];
    matrix[n] *= scale;
  }
}

template <class Real>
void ComposedGradients<Real>::sum_over_keys(const Real* matrix, const bool* excluded,
                                            const Real* rows, std::int64_t width, Real* to) const {
  for (std::int64_t i = 0; i < r_.queries; ++i, to += width) {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const Real share = *matrix++;
      if (*excluded++) continue;
      const Real* row = rows + j * width;
      for (std::int64_t d = 0; d < width; ++d) to[d] += share * row[d];
    }
  }
}

template <class Real>
void ComposedGradients<Real>::sum_over_queries(const Real* matrix, const bool* excluded,
                                               const Real* rows, std::int64_t width,
                                               Real* to) const {
  for (std::int64_t i = 0; i < r_.queries; ++i, rows += width) {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      const Real share = *matrix++;
      if (*excluded++) continue;
      Real* sum = to + j * width;
      for (std::int64_t d = 0; d < width; ++d) sum[d] += share * rows[d];
    }
  }
}

template <class Real>
void ComposedGradients<Real>::sum_bias(const Real* grad_scores, double* sums) const {
  const bool over_queries = back_.grad_bias.stride[2] == 0;
  const bool over_keys = back_.grad_bias.stride[3] == 0;
  const std::int64_t row = over_keys ? 1 : r_.keys;
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    double* to = sums + (over_queries ? 0 : i * row);
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      to[over_keys ? 0 : j] += static_cast<double>(*grad_scores++);
    }
  }
}

template <class Real>
void ComposedGradients<Real>::sum_by_position(const Real* grad_scores, double* slope,
                                              double* bias_table, double* bucket_table) const {
  if (slope == nullptr && bias_table == nullptr && bucket_table == nullptr) return;
  const auto query = bias_positions(r_.query_positions, b_, r_.queries, r_.offset(b_));
  const auto key = bias_positions(r_.key_positions, b_, r_.keys, 0);
  const std::int64_t m = r_.bias_table.shape[1] / 2;
  for (const std::int64_t p : query) {
    for (const std::int64_t j : key) {
      const double score = static_cast<double>(*grad_scores++);
      if (slope != nullptr) *slope -= static_cast<double>(std::abs(p - j)) * score;
      if (bias_table != nullptr) bias_table[std::clamp(j - p, -m, m) + m] += score;
      if (bucket_table != nullptr) {
        bucket_table[bucket_of(j - p, r_.buckets, r_.bucket_table.shape[1], r_.max_distance)] +=
            score;
      }
    }
  }
}

template <class Real>
void ComposedGradients<Real>::sum_sink(const Real* lse, const Real* deltas, double* sink) const {
  const double logit = r_.sinks.value(h_, 0);
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    const double delta = static_cast<double>(deltas[i]);
    if (delta != 0) *sink -= std::exp(logit - static_cast<double>(lse[i])) * delta;
  }
}

template class ComposedGradients<float>;
template class ComposedGradients<double>;

}  // namespace volvelle
