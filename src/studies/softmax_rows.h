#pragma once

#include <cstdint>
#include <vector>

namespace volvelle {

/// Scores and keys of one head, row by row.
struct ScoreRows {
  std::int64_t tokens = 0, width = 0;
  std::vector<double> scores;  ///< (T,T), not scaled
  std::vector<double> keys;    ///< (T,D)
};

/// What a softmax makes of rows of scores, over all queries.
struct SoftmaxFigures {
  double spread = 0;          ///< standard deviation of the scaled scores
  double entropy = 0;         ///< mean, in nats
  double largest = 0;         ///< weight, mean
  double gradient = 0;        ///< median over queries of the norm of the softmax's Jacobian
  double query_gradient = 0;  ///< the same down to the query: scale * K^T J
};

/// With w the weights of a row and J = diag(w) - w w^T, the length of J g for a random g with
/// entries of variance 1 is the Frobenius norm of J in the root mean square:
///     |J|^2 = sum w^2 - 2 sum w^3 + (sum w^2)^2,
/// and of scale * K^T J, whose column j is scale * w_j (k_j - mean k),
///     scale^2 sum w_j^2 |k_j - mean k|^2,   mean k = sum w_j k_j.
SoftmaxFigures softmax_figures(const ScoreRows& rows, double scale);

}  // namespace volvelle
