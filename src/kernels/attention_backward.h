#pragma once

#include <cstdint>

#include "kernels/attention_forward.h"

namespace volvelle::kernels {

/// One panel of queries, or one vector of it, against some keys of one tile, going back. Arrays as
/// in TileStep: lanes are queries, [..][panel], 64-byte aligned.
template <class T>
struct BackwardStep {
  /// Keys, values, queries and all that shapes scores. `scores` receives the weights; `out`,
  /// `maximum`, `sum` and `moment` take no part.
  TileStep<T> tile;
  const T* grad_output = nullptr;  ///< [value_width][panel]
  const T* lse = nullptr;    ///< [panel] in units of the scores; +inf: the lane has no weights
  const T* delta = nullptr;  ///< [panel]: grad_output . output of each query
  T* score_grads = nullptr;  ///< [keys][panel]: receives weight * (dP - delta)
  T* cap_slopes = nullptr;   ///< [keys][panel]: receives the cap's slope; with cap only
};

/// Some queries of a sum over queries: rows of `right` weighted by columns of `left`.
template <class T>
struct ProductPart {
  const T* left;   ///< row r holds `depth` numbers at r * left_stride
  const T* right;  ///< `depth` rows of the first band
  int depth;
};

/// out[r][c] += sum over the parts, in order, of left[r][i] * right[i][c]. Columns lie in bands of
/// two vectors, so that the rows of a band follow each other in memory.
template <class T>
struct RowProduct {
  const ProductPart<T>* parts = nullptr;
  int count = 0;
  int rows = 0;
  int columns = 0;  ///< a multiple of a vector's lanes
  std::int64_t left_stride = 0;
  std::int64_t right_band = 0, out_band = 0;  ///< from a band to the next
  T* out = nullptr;
};

/// The backward kernels of one instruction set.
template <class T>
struct BackwardKernels {
  /// Weights of the keys, exactly 0 where a key is not seen and below 2^-100 (float64: 2^-979).
  void (*weights)(const BackwardStep<T>& step);
  /// Gradients of the scores behind cap and biases, from the weights; exactly 0 where not seen.
  void (*score_grads)(const BackwardStep<T>& step);
  /// weights *= factors of dropout, for the values' gradients; after score_grads.
  void (*drop)(const BackwardStep<T>& step);
  /// score_grads *= cap_slopes.
  void (*through_cap)(const BackwardStep<T>& step);
  /// out[d][query] += sum over the keys of k[key][d] * score_grads[key][query]; [width][panel].
  void (*query_grads)(const BackwardStep<T>& step, T* out);
  void (*add_rows)(const RowProduct<T>& product);
  /// sums[query - key] += score_grads[key][query], for lanes of queries and keys of the step.
  void (*diagonal_sums)(const BackwardStep<T>& step, double* sums);
  /// to[r] = the product of row r of a and row r of b.
  void (*row_dots)(const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, int rows,
                   int width, T* to);
  /// Copies rows, times `factor`; what is left of each row of `to`, up to `to_width`, is 0.
  void (*copy_rows)(const T* from, std::int64_t stride, int rows, int width, T factor, T* to,
                    std::int64_t to_stride, int to_width);
  /// to[c * to_stride + r] = factor * from[r * stride + c]: lanes back to rows.
  void (*to_rows)(const T* from, std::int64_t stride, int rows, int columns, T factor, T* to,
                  std::int64_t to_stride);
  /// Whether every element of the rows is finite.
  bool (*all_finite)(const T* rows, std::int64_t stride, int count, int width);
};

/// Of the instruction set in use.
const BackwardKernels<float>& backward_kernels_f32();
const BackwardKernels<double>& backward_kernels_f64();

template <class T>
const BackwardKernels<T>& backward_kernels();
template <>
inline const BackwardKernels<float>& backward_kernels<float>() {
  return backward_kernels_f32();
}
template <>
inline const BackwardKernels<double>& backward_kernels<double>() {
  return backward_kernels_f64();
}

}  // namespace volvelle::kernels
