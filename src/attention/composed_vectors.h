#pragma once

#include <cstdint>
#include <vector>

#include "attention/resolved.h"

namespace volvelle {

/// Numbers that q, k and the vectors that meet them take on the composed path, side by side, and
/// those of v and its vectors. Of relative vectors only the reached ones are kept.
inline std::int64_t composed_score_inputs(const ResolvedAttention& r) {
  return (r.queries + r.keys + r.relative_keys.count + r.relative_queries.count) * r.width;
}
inline std::int64_t composed_value_inputs(const ResolvedAttention& r) {
  return (r.keys + r.relative_values.count) * r.value_width;
}

/// Relative vectors of one kind in one head's T x S matrix, operation by operation, in `Real`.
/// Everything is a no-op where the problem has none. Vectors are reached rows without gaps;
/// matrices as in ComposedHead.
template <class Real>
class ComposedVectors {
 public:
  ComposedVectors(const ResolvedAttention& problem, const RelativeVectors& vectors,
                  std::int64_t width, std::int64_t batch, std::int64_t head);

  void gather(Real* rows) const;

  /// matrix[i][j] += a_i . vector of j - p_i; the same for b_j. `excluded` null: for every pair,
  /// else only where it is false.
  void add_row_products(const Real* a, const Real* rows, const bool* excluded, Real* matrix) const;
  void add_column_products(const Real* b, const Real* rows, Real* matrix) const;

  /// to_i += matrix[i][j] * vector; to_j likewise. What is excluded is never multiplied in, nor is
  /// a row whose maximum is -inf (`maxima` null: such rows are excluded).
  void sum_into_rows(const Real* matrix, const bool* excluded, const Real* maxima, const Real* rows,
                     Real* to) const;
  void sum_into_columns(const Real* matrix, const bool* excluded, const Real* rows, Real* to) const;

  /// sums[entry] += matrix[i][j] * a_i, or * b_j: gradients of the reached vectors.
  void sum_rows(const Real* matrix, const bool* excluded, const Real* a, double* sums) const;
  void sum_columns(const Real* matrix, const bool* excluded, const Real* b, double* sums) const;

 private:
  /// Calls at(i, j, n, reached row) for every pair of query i, pairs counted by n.
  template <class At>
  void for_each_pair(At&& at) const;

  const ResolvedAttention& r_;
  const RelativeVectors& vectors_;
  std::int64_t width_, b_, h_;
  std::vector<std::int64_t> query_, key_;  // positions
};

extern template class ComposedVectors<float>;
extern template class ComposedVectors<double>;

}  // namespace volvelle
