#include "attention/composed_operations.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include "attention/composed_rows.h"
#include "attention/composed_vectors.h"
#include "attention/dropout.h"
#include "attention/rotary_rows.h"
#include "tensor/convert.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {
namespace {

std::vector<double> table_row(const Strided2& table, std::int64_t head) {
  std::vector<double> row(static_cast<std::size_t>(table.shape[1]));
  for (std::size_t entry = 0; entry < row.size(); ++entry) {
    row[entry] = table.value(head, static_cast<std::int64_t>(entry));
  }
  return row;
}

std::vector<std::int64_t> integers(const Strided2& array, std::int64_t b) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(array.shape[1]));
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = array.integer(b, static_cast<std::int64_t>(i));
  }
  return row;
}

template <class Real>
constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

}  // namespace

std::vector<std::int64_t> bias_positions(const Strided2& given, std::int64_t b, std::int64_t count,
                                         std::int64_t first) {
  if (given.present) return integers(given, b);
  std::vector<std::int64_t> row(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = first + static_cast<std::int64_t>(i);
  return row;
}

template <class Real>
void ComposedHead<Real>::scores(Real* inputs, Real* matrix) const {
  Real* q = inputs;
  Real* k = inputs + r_.queries * r_.width;
  gather_rows(r_.q, b_, h_, r_.queries, r_.width, q);
  gather_rows(r_.k, b_, r_.key_head(h_), r_.keys, r_.width, k);
  turn_rows(r_, {TurnedRows::queries, b_, 0, r_.queries}, TurnDirection::forward, q);
  turn_rows(r_, {TurnedRows::keys, b_, 0, r_.keys}, TurnDirection::forward, k);
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      matrix[i * r_.keys + j] = dot(q + i * r_.width, k + j * r_.width, r_.width);
    }
  }
  if (!r_.has_relative_vectors()) return;
  Real* vectors = k + r_.keys * r_.width;
  const ComposedVectors<Real> of_keys(r_, r_.relative_keys, r_.width, b_, h_);
  of_keys.gather(vectors);
  of_keys.add_row_products(q, vectors, nullptr, matrix);
  vectors += r_.relative_keys.count * r_.width;
  const ComposedVectors<Real> of_queries(r_, r_.relative_queries, r_.width, b_, h_);
  of_queries.gather(vectors);
  of_queries.add_column_products(k, vectors, matrix);
}

template <class Real>
void ComposedHead<Real>::scale(Real* matrix) const {
  const Real scale = static_cast<Real>(r_.scale);
  for (std::int64_t n = 0; n < r_.queries * r_.keys; ++n) matrix[n] *= scale;
}

template <class Real>
void ComposedHead<Real>::cap(Real* matrix) const {
  if (!(r_.softcap > 0)) return;
  const Real cap = static_cast<Real>(r_.softcap);
  for (std::int64_t n = 0; n < r_.queries * r_.keys; ++n) {
    matrix[n] = cap * std::tanh(matrix[n] / cap);
  }
}

template <class Real>
void ComposedHead<Real>::add_biases(Real* matrix) const {
  if (r_.bias.present) add_dense(matrix);
  if (r_.slopes.present || r_.bias_table.present || r_.bucket_table.present) {
    add_by_position(matrix);
  }
}

template <class Real>
void ComposedHead<Real>::add_dense(Real* matrix) const {
  visit_dtype(r_.bias.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < r_.queries; ++i) {
      const T* row = static_cast<const T*>(r_.bias.data) + r_.bias.offset(b_, h_, i, 0);
      for (std::int64_t j = 0; j < r_.keys; ++j) {
        *matrix++ += widened<Real>(row[j * r_.bias.stride[3]]);
      }
    }
  });
}

template <class Real>
void ComposedHead<Real>::add_by_position(Real* matrix) const {
  const auto query = bias_positions(r_.query_positions, b_, r_.queries, r_.offset(b_));
  const auto key = bias_positions(r_.key_positions, b_, r_.keys, 0);
  const double slope = r_.slopes.present ? r_.slopes.value(h_, 0) : 0;
  std::vector<double> clamped, buckets;
  if (r_.bias_table.present) clamped = table_row(r_.bias_table, h_);
  if (r_.bucket_table.present) buckets = table_row(r_.bucket_table, h_);
  const std::int64_t m = r_.bias_table.shape[1] / 2;
  for (const std::int64_t p : query) {
    for (const std::int64_t j : key) {
      double added = 0;
      if (r_.slopes.present) added -= slope * static_cast<double>(std::abs(p - j));
      if (!clamped.empty()) {
        added += clamped[static_cast<std::size_t>(std::clamp(j - p, -m, m) + m)];
      }
      if (!buckets.empty()) {
        added += buckets[static_cast<std::size_t>(
            bucket_of(j - p, r_.buckets, r_.bucket_table.shape[1], r_.max_distance))];
      }
      *matrix++ += static_cast<Real>(added);
    }
  }
}

template <class Real>
void ComposedHead<Real>::exclude(bool* excluded) const {
  exclude_by_index(excluded);
  exclude_by_array(excluded);
}

template <class Real>
void ComposedHead<Real>::exclude_by_index(bool* excluded) const {
  const std::int64_t length = r_.key_lengths.present ? r_.key_lengths.integer(b_, 0) : r_.keys;
  const std::int64_t first = r_.padding == Padding::left ? r_.keys - length : 0;
  const auto chunk_of = [&](std::int64_t at) {
    return at >= 0 ? at / r_.chunk : -1 - (-1 - at) / r_.chunk;
  };
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    const std::int64_t p = i + r_.offset(b_);
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      bool hidden = j < first || j >= first + length;
      if (r_.causal) hidden = hidden || (j > p && j >= r_.prefix);
      if (r_.window > 0) hidden = hidden || p - j >= r_.window;
      if (r_.window_right > 0) hidden = hidden || j - p >= r_.window_right;
      if (r_.chunk > 0) hidden = hidden || chunk_of(j) != chunk_of(p);
      *excluded++ = hidden;
    }
  }
}

template <class Real>
void ComposedHead<Real>::exclude_by_array(bool* excluded) const {
  if (r_.query_segments.present) {
    const auto query = integers(r_.query_segments, b_);
    const auto key = integers(r_.key_segments, b_);
    bool* at = excluded;
    for (const std::int64_t own : query) {
      for (const std::int64_t other : key) {
        *at = *at || own != other;
        ++at;
      }
    }
  }
  if (!r_.keep.present) return;
  visit_dtype(r_.keep.dtype, [&](auto zero) {
    // Booleans as bytes: any bit makes true.
    using T =
        std::conditional_t<std::is_same_v<decltype(zero), bool>, std::uint8_t, decltype(zero)>;
    if constexpr (std::is_integral_v<T>) {
      bool* at = excluded;
      for (std::int64_t i = 0; i < r_.queries; ++i) {
        const T* row = static_cast<const T*>(r_.keep.data) + r_.keep.offset(b_, h_, i, 0);
        for (std::int64_t j = 0; j < r_.keys; ++j) {
          *at = *at || row[j * r_.keep.stride[3]] == 0;
          ++at;
        }
      }
    }
  });
}

template <class Real>
double ComposedHead<Real>::sink() const {
  return r_.sinks.present ? r_.sinks.value(h_, 0) : -std::numeric_limits<double>::infinity();
}

// The maximum of a row with no key left, or none above -inf, is -inf whatever the sink: `weigh`
// and the statistics know an empty row by it.
template <class Real>
void ComposedHead<Real>::exponentials(Real* matrix, const bool* excluded, Real* maxima) const {
  const Real own = static_cast<Real>(sink());
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    Real* row = matrix + i * r_.keys;
    const bool* hidden = excluded + i * r_.keys;
    Real largest = kMinusInfinity<Real>;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (!hidden[j] && !(row[j] <= largest)) largest = row[j];
      if (std::isnan(largest)) break;
    }
    const bool empty = largest == kMinusInfinity<Real>;
    if (!empty && own > largest) largest = own;  // a NaN on either side makes the row NaN anyway
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      row[j] = hidden[j] || empty ? Real{0} : std::exp(row[j] - largest);
    }
    maxima[i] = largest;
  }
}

template <class Real>
void ComposedHead<Real>::normalise(Real* matrix, const bool* excluded, const Real* maxima,
                                   Real* lse) const {
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    Real* row = matrix + i * r_.keys;
    if (maxima[i] == kMinusInfinity<Real>) {
      lse[i] = static_cast<Real>(sink());
      continue;
    }
    double sum = r_.sinks.present ? std::exp(sink() - static_cast<double>(maxima[i])) : 0.0;
    for (std::int64_t j = 0; j < r_.keys; ++j) sum += static_cast<double>(row[j]);
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (!excluded[i * r_.keys + j]) row[j] = static_cast<Real>(static_cast<double>(row[j]) / sum);
    }
    lse[i] = static_cast<Real>(static_cast<double>(maxima[i]) + std::log(sum));
  }
}

template <class Real>
void ComposedHead<Real>::drop(Real* weights) const {
  if (!(r_.dropout > 0)) return;
  const kernels::DropoutStream stream = dropout_stream(r_, b_, h_);
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      *weights++ *= static_cast<Real>(dropout_factor(stream, i, j));
    }
  }
}

template <class Real>
void ComposedHead<Real>::weigh(const Real* weights, const bool* excluded, const Real* maxima,
                               Real* values, Real* output) const {
  gather_rows(r_.v, b_, r_.key_head(h_), r_.keys, r_.value_width, values);
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    Real* out = output + i * r_.value_width;
    std::fill_n(out, r_.value_width, Real{0});
    if (maxima[i] == kMinusInfinity<Real>) continue;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      if (excluded[i * r_.keys + j]) continue;
      const Real weight = weights[i * r_.keys + j];
      const Real* value = values + j * r_.value_width;
      for (std::int64_t e = 0; e < r_.value_width; ++e) out[e] += weight * value[e];
    }
  }
  if (!r_.relative_values.present()) return;
  Real* vectors = values + r_.keys * r_.value_width;
  const ComposedVectors<Real> of_values(r_, r_.relative_values, r_.value_width, b_, h_);
  of_values.gather(vectors);
  of_values.sum_into_rows(weights, excluded, maxima, vectors, output);
}

template <class Real>
void ComposedHead<Real>::entropy(const Real* weights, const Real* lse, const Real* maxima,
                                 Real* entropy) const {
  const auto share = [](double weight) { return weight == 0 ? 0.0 : -weight * std::log(weight); };
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    double sum = 0;
    if (maxima[i] != kMinusInfinity<Real>) {
      if (r_.sinks.present) sum += share(std::exp(sink() - static_cast<double>(lse[i])));
      for (std::int64_t j = 0; j < r_.keys; ++j) {
        sum += share(static_cast<double>(weights[i * r_.keys + j]));
      }
    }
    entropy[i] = static_cast<Real>(sum);
  }
}

template <class Real>
void ComposedHead<Real>::row_sums(const Real* weights, Real* sums) const {
  for (std::int64_t i = 0; i < r_.queries; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < r_.keys; ++j) {
      sum += static_cast<double>(weights[i * r_.keys + j]);
    }
    sums[i] = static_cast<Real>(sum);
  }
}

template <class Real>
void ComposedHead<Real>::column_sums(const Real* weights, Real* sums) const {
  for (std::int64_t j = 0; j < r_.keys; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < r_.queries; ++i) {
      sum += static_cast<double>(weights[i * r_.keys + j]);
    }
    sums[j] = static_cast<Real>(sum);
  }
}

template class ComposedHead<float>;
template class ComposedHead<double>;

}  // namespace volvelle
