#pragma once

#include <cstdint>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "volvelle/attention/problem.h"

namespace volvelle {

/// Some queries of one head of a problem, as a problem of its own: the same rows of the answer,
/// at the same positions, with the same keys. Holds the few numbers it needs that the problem's
/// views do not have.
class RowSlice {
 public:
  struct Place {
    std::int64_t batch = 0, head = 0;
    std::int64_t first = 0;  ///< first query
    std::int64_t count = 1;
  };
  /// `key_head` is the key head that the rows read. `resolved` belongs to `whole`.
  RowSlice(const AttentionProblem& whole, const ResolvedAttention& resolved, const Place& place,
           std::int64_t key_head);

  const AttentionProblem& problem() const { return problem_; }
  /// Replaces `keep` by an additive bias of its numbers. One query only.
  void keep_becomes_bias();
  /// Shows what is excluded and excludes what is seen. One query only.
  void invert_exclusion();

 private:
  AttentionProblem problem_;
  std::vector<std::int64_t> offset_;  ///< on the heap, so that views survive a move
  std::vector<double> bias_;
  std::vector<std::uint8_t> keep_;
};

/// Rows of an answer.
struct OracleRows {
  std::vector<double> output;  ///< (count, E), rounded to the problem's dtype
  std::vector<double> lse;     ///< (count): -inf for a row that sees no key
};

/// The oracle's answer for a slice.
void oracle_rows(const AttentionProblem& slice, AttentionFault fault, OracleRows& rows);

/// The mean of all values that a slice reads: what a row without keys gets from a program that
/// masks with a large negative number.
std::vector<double> mean_value(const AttentionProblem& slice);

}  // namespace volvelle
