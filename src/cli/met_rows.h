#pragma once

#include <cstdint>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// Queries or keys.
enum class MetSide : std::uint8_t { queries, keys };

/// The queries, keys and values of one head of one batch row as they meet: turned by their
/// positions, and beside the vectors of their offset. For looking at, in double.
class MetRows {
 public:
  MetRows(const AttentionProblem& problem, const AttentionPlan& plan, std::int64_t batch,
          std::int64_t head);

  View q() const { return q_.view(); }  ///< (T,D), turned
  View k() const { return k_.view(); }  ///< (S,D), turned
  View v() const { return v_.view(); }  ///< (S,E)

  std::int64_t position(MetSide side, std::int64_t row) const;

  bool turns(MetSide side) const;
  std::int64_t pairs() const;  ///< that turn in a row
  /// The two columns of a pair.
  std::int64_t first(std::int64_t pair) const;
  std::int64_t second(std::int64_t pair) const;
  double cosine(MetSide side, std::int64_t row, std::int64_t pair) const;
  double sine(MetSide side, std::int64_t row, std::int64_t pair) const;
  /// By how much a pair turns from position 0 to 1; 0 where the table is shorter.
  double angle_of_one(MetSide side, std::int64_t pair) const;
  /// Rows of gradients, (T,D) or (S,D), brought to what they were before the turn.
  Tensor turned_back(MetSide side, const View& rows) const;

  bool has_relative_scores() const { return problem_.relative_keys || problem_.relative_queries; }
  /// What the vectors of the offset add to q_i . k_j.
  double relative_score(std::int64_t i, std::int64_t j) const;
  Tensor keys_for(std::int64_t i) const;     ///< (S,D): k_j with what query i meets beside it
  Tensor queries_for(std::int64_t j) const;  ///< (T,D): q_i with what key j meets beside it
  Tensor values_for(std::int64_t i) const;   ///< (S,E): v_j with what query i reads beside it
  /// The entry of a table of offsets that query i and key j meet: clamp(j - p, -M, M).
  std::int64_t offset(const View& table, std::int64_t i, std::int64_t j) const;

 private:
  double relative(const View& table, std::int64_t i, std::int64_t j, std::int64_t column) const;
  Tensor turned(MetSide side, const View& rows, double direction) const;
  struct Turn {
    View cosines, sines;
  };
  Turn tables(MetSide side) const;
  double table_entry(const View& table, std::int64_t position, std::int64_t pair) const;

  const AttentionProblem& problem_;
  const AttentionPlan& plan_;
  std::int64_t batch_, head_;
  Tensor q_, k_, v_;
};

/// The queries of all heads, or their keys, as they were turned: (B,H,T,D) or (B,G,S,D), in the
/// computing type.
Tensor turned_rows(const AttentionProblem& problem, const AttentionPlan& plan, MetSide side);

}  // namespace volvelle::cli
