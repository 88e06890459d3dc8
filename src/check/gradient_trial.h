#pragma once

#include <memory>
#include <vector>

#include "attention/oracle_backward.h"
#include "attention/resolved.h"
#include "check/gradient_faults.h"
#include "check/gradient_pair.h"
#include "check/row_choice.h"
#include "check/view_part.h"

namespace volvelle {

/// Multiply-adds that may still be spent in the oracle's loops.
struct WorkLeft {
  double operations = 0;
  bool refused = false;  ///< something would have taken more

  bool take(double wanted) {
    if (wanted > operations) return refused = true, false;
    operations -= wanted;
    return true;
  }
};

/// How far a fault's gradient lies from the file's.
struct GradientTrialResult {
  bool reproduced = false;
  double max_abs = 0;
  double excess = 0;  ///< against the tolerance: at most 1 when reproduced
};

/// Runs one fault on samples of each gradient and compares them with the file's: on the rows chosen
/// for q, k and v, and of the others on the head (of a bias: the place) that differs most.
class GradientTrial {
 public:
  /// `resolved` belongs to the user's own problem.
  GradientTrial(const GradientFaultCandidate& candidate, const ResolvedAttention& resolved,
                const View& grad_output, WorkLeft& work);
  ~GradientTrial();

  /// `rows` are those chosen for this gradient; those that are sums over heads or rows have none.
  GradientTrialResult run(const GradientPair& pair, const RowChoice& rows);

 private:
  struct Group;
  bool query_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                  GradientTrialResult& result) const;
  bool key_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                GradientTrialResult& result);
  bool bias_place(const GradientPair& pair, GradientTrialResult& result) const;
  bool head_sums(const GradientPair& pair, GradientTrialResult& result) const;

  const Group* group_of(std::int64_t batch, std::int64_t key_head);
  bool may_split(const Span& batch, const Span& heads) const;
  bool affords(const Span& batch, const Span& heads) const;
  Group part(const Span& batch, const Span& heads) const;

  const GradientFaultCandidate& candidate_;
  const View& grad_output_;
  WorkLeft& work_;
  ResolvedAttention resolved_;  ///< the candidate's
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace volvelle
