#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Tokens and the projections of one head, float32.
struct PositionProblem {
  Tensor x;                           ///< (T,C)
  Tensor to_query, to_key, to_value;  ///< (C,C), x times them from the right
};

/// As `torch.manual_seed(seed); Wq, Wk, Wv = (torch.randn(C, C) * 0.4 for _ in range(3)); x =
/// torch.randn(T, C)` draws them.
PositionProblem draw_position_problem(std::int64_t tokens, std::int64_t width, std::uint64_t seed);

/// a (rows, K) times b (K, columns), summed in double.
Tensor product_of(const Tensor& a, const Tensor& b);

/// Rows of an array in another order: row i is row order[i].
Tensor rows_in_order(const Tensor& rows, const std::vector<std::int64_t>& order);

/// Largest difference of two arrays of one shape.
double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace volvelle
