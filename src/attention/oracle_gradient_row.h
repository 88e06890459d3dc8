#pragma once

#include <cstdint>
#include <vector>

#include "attention/oracle_backward.h"
#include "attention/oracle_terms.h"
#include "kernels/attention_dropout.h"

namespace volvelle {

/// The share of one gradient that a fault leaves.
inline double left_by(BackwardFault fault, BackwardFault halved, BackwardFault dropped) {
  return fault == halved ? 0.5 : fault == dropped ? 0.0 : 1.0;
}

/// What the gradients of one query row are made of, in double: its log-sum-exp and delta, and for
/// each key that it sees P, M, the cap's slope and dS.
class GradientRow {
 public:
  GradientRow(const ResolvedAttention& problem, const ResolvedBackward& backward,
              BackwardFault fault, GradientSum sum);

  /// The whole row, computed anew.
  void compute(std::int64_t b, std::int64_t h, std::int64_t i);
  /// Row and statistics as saved; only `compute_cell` fills cells then.
  void take_saved(std::int64_t b, std::int64_t h, std::int64_t i);
  void compute_cell(std::int64_t j);

  bool empty() const { return empty_; }  ///< sees no key with a score above -inf: no gradient
  bool sees(std::int64_t j) const { return at(j).seen; }
  /// M * P: the share of the row's grad_output that v_j receives.
  double value_share(std::int64_t j) const { return at(j).factor * at(j).weight; }
  /// dS: the gradient of the score and so of every additive bias.
  double score(std::int64_t j) const { return at(j).score; }
  /// scale * dS * cap': the share of k_j that q_i receives, and of q_i that k_j receives.
  double product(std::int64_t j) const { return at(j).score * at(j).slope * scale_; }
  double sink() const { return sink_; }  ///< the row's share of dsink

  double grad_output(std::int64_t e) const;  ///< element of the row
  /// A number as it enters a sum: itself, or its magnitude.
  double term(double value) const { return sum_ == GradientSum::terms ? value : magnitude(value); }

 private:
  struct Cell {
    bool seen = false;
    double weight = 0, factor = 1, slope = 1, grad_weight = 0, score = 0;
  };
  static double magnitude(double value) { return value < 0 ? -value : value; }
  const Cell& at(std::int64_t j) const { return cells_[static_cast<std::size_t>(j)]; }
  Cell& at(std::int64_t j) { return cells_[static_cast<std::size_t>(j)]; }
  void locate(std::int64_t b, std::int64_t h, std::int64_t i);
  void softmax();
  void back_through_values(std::int64_t j);
  void back_through_softmax(std::int64_t j);
  void back_to_sink();
  Pair pair(std::int64_t j) const { return {b_, h_, i_, j}; }

  const ResolvedAttention& r_;
  const ResolvedBackward& back_;
  BackwardFault fault_;
  GradientSum sum_;
  double scale_;
  bool has_sink_;
  std::int64_t b_ = 0, h_ = 0, i_ = 0;
  kernels::DropoutStream stream_;
  std::vector<Cell> cells_;
  bool empty_ = true;
  double lse_ = 0, delta_ = 0, sink_ = 0;
};

}  // namespace volvelle
