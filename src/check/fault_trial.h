#pragma once

#include <vector>

#include "attention/resolved.h"
#include "check/attention_faults.h"
#include "check/attention_rows.h"
#include "check/row_choice.h"
#include "check/row_reader.h"
#include "volvelle/check/compare.h"

namespace volvelle {

/// How far a fault's rows lie from the file's.
struct TrialResult {
  double max_abs = 0;
  double excess = 0;  ///< against the tolerance: above 1, the fault does not reproduce the file
  double fine = 0;    ///< against float rounding alone, to rank faults when the tolerance is wide
};

/// Runs one fault row by row and compares with the file.
class FaultTrial {
 public:
  /// With dropout a row cannot be cut out of its problem, since a cell's draw goes by its place:
  /// only faults that are a change of the problem can be run then.
  static bool can_run(const FaultCandidate& candidate);

  struct Rules {
    Tolerance tolerance;
    Tolerance fine;                      ///< for TrialResult::fine
    bool empty_rows_may_be_nan = false;  ///< beside the fault itself
  };
  FaultTrial(const FaultCandidate& candidate, const FourAxes& theirs, const Rules& rules);

  /// False as soon as a row is beyond the tolerance.
  bool agrees(const std::vector<QueryRow>& rows);
  /// The same for every row of one head, computed together (softmax over columns needs that).
  bool agrees_on_head(std::int64_t batch, std::int64_t head);
  const TrialResult& result() const { return result_; }

 private:
  QueryRow source_of(const QueryRow& row) const;
  std::int64_t key_head(std::int64_t head) const;
  AttentionFault fault_within_head() const;
  void empty_row(const RowSlice& slice);
  bool take(std::int64_t index, const QueryRow& place);
  void compute_whole(const QueryRow& row);

  const FaultCandidate& candidate_;
  const FourAxes& theirs_;
  Rules rules_;
  ResolvedAttention resolved_;
  TrialResult result_;
  OracleRows computed_;
  std::vector<double> given_, row_;
};

}  // namespace volvelle
