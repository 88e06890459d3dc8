#pragma once

#include <cstdint>
#include <vector>

#include "attention/resolved.h"

namespace volvelle {

/// Positions of a row's tokens for biases: as given, or counted from `first`.
std::vector<std::int64_t> bias_positions(const Strided2& given, std::int64_t b, std::int64_t count,
                                         std::int64_t first);

/// The operations of one head's T x S matrix, one after the other, in `Real` (float or double).
/// Matrices are row-major without gaps and belong to the caller; each step reads what the step
/// before it wrote.
template <class Real>
class ComposedHead {
 public:
  ComposedHead(const ResolvedAttention& problem, std::int64_t batch, std::int64_t head)
      : r_(problem), b_(batch), h_(head) {}

  /// q . k of every pair, and what relative vectors add to it, excluded ones too. `inputs` has room
  /// for composed_score_inputs() numbers: the rows of q, then of k, as they were turned, then the
  /// vectors.
  void scores(Real* inputs, Real* matrix) const;
  void scale(Real* matrix) const;
  void cap(Real* matrix) const;
  /// Dense bias, slopes and tables. A bias by position is made in double and rounded once.
  void add_biases(Real* matrix) const;
  /// True where the key is excluded.
  void exclude(bool* excluded) const;
  /// exp(score - row maximum), 0 where excluded; then that over the row's sum, the sink's share
  /// included. The two matrices may be the same.
  void exponentials(Real* matrix, const bool* excluded, Real* maxima) const;
  void normalise(Real* matrix, const bool* excluded, const Real* maxima, Real* lse) const;
  /// Each weight times its dropout factor; nothing without dropout.
  void drop(Real* weights) const;
  /// weights * v, and their relative vectors, into rows of E numbers. What is excluded is never
  /// multiplied in. `values` has room for composed_value_inputs() numbers.
  void weigh(const Real* weights, const bool* excluded, const Real* maxima, Real* values,
             Real* output) const;
  /// -sum w ln w of each row, with the sink's share.
  void entropy(const Real* weights, const Real* lse, const Real* maxima, Real* entropy) const;
  void row_sums(const Real* weights, Real* sums) const;
  void column_sums(const Real* weights, Real* sums) const;

 private:
  double sink() const;  ///< -inf without one
  void add_dense(Real* matrix) const;
  void add_by_position(Real* matrix) const;
  void exclude_by_index(bool* excluded) const;
  void exclude_by_array(bool* excluded) const;

  const ResolvedAttention& r_;
  std::int64_t b_, h_;
};

extern template class ComposedHead<float>;
extern template class ComposedHead<double>;

}  // namespace volvelle
