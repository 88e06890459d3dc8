#pragma once

#include <cstdint>

#include "attention/resolved_backward.h"

namespace volvelle {

/// The operations that lead from the weights of one head's T x S matrix (ComposedHead makes them)
/// back to its gradients, one after the other, in `Real` (float or double). Matrices are row-major
/// without gaps and belong to the caller. A cell that is excluded, and every cell of a row without
/// a key, is 0 in each matrix and is never multiplied in.
template <class Real>
class ComposedGradients {
 public:
  ComposedGradients(const ResolvedAttention& problem, const ResolvedBackward& backward,
                    std::int64_t batch, std::int64_t head)
      : r_(problem), back_(backward), b_(batch), h_(head) {}

  /// 1 - (capped / softcap)^2 from the capped scores; nothing without a cap.
  void cap_slopes(const Real* capped, Real* slopes) const;
  /// Marks every cell of a row whose maximum is -inf, as `exponentials` leaves it, as excluded.
  void exclude_empty_rows(const Real* maxima, bool* excluded) const;
  /// delta of each row: grad_output . output; 0 for a row without a key.
  void deltas(const Real* grad_output, const Real* output, const bool* excluded,
              Real* deltas) const;
  /// dP = M * (grad_output . (v + rv)); `values` as ComposedHead::weigh leaves them.
  void grad_weights(const Real* grad_output, const Real* values, const bool* excluded,
                    Real* matrix) const;
  /// dS = P * (dP - delta) in place of dP.
  void grad_scores(const Real* weights, const Real* deltas, const bool* excluded,
                   Real* matrix) const;
  /// scale * dS * cap' in place of dS; `slopes` null: no cap.
  void grad_products(const Real* slopes, Real* matrix) const;

  /// to += matrix * rows of the keys: dQ; to += matrix^T * rows of the queries: dK and dV.
  void sum_over_keys(const Real* matrix, const bool* excluded, const Real* rows, std::int64_t width,
                     Real* to) const;
  void sum_over_queries(const Real* matrix, const bool* excluded, const Real* rows,
                        std::int64_t width, Real* to) const;

  /// Adds dS, summed over the queries and keys along which the bias is broadcast, to `sums`, row by
  /// row of what is left.
  void sum_bias(const Real* grad_scores, double* sums) const;
  /// Adds the head's shares of the gradients of slopes, tables and sinks; null: not wanted.
  void sum_by_position(const Real* grad_scores, double* slope, double* bias_table,
                       double* bucket_table) const;
  void sum_sink(const Real* lse, const Real* deltas, double* sink) const;

 private:
  const ResolvedAttention& r_;
  const ResolvedBackward& back_;
  std::int64_t b_, h_;
};

extern template class ComposedGradients<float>;
extern template class ComposedGradients<double>;

}  // namespace volvelle
