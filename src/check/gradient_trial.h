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

/// Multiply-adds that may still be spent.
struct WorkLeft {
  double loops = 0;      ///< in the oracle's loops
  double attention = 0;  ///< in attention, on its fast path
  bool refused = false;  ///< something would have taken more

  bool take(double& left, double wanted) {
    if (wanted > left) return refused = true, false;
    left -= wanted;
    return true;
  }
};

/// Part of a problem, with what attention gives for it where that was asked for.
struct ProblemGroup {
  std::int64_t batch = 0, key_head = 0;
  AttentionProblem problem;
  ResolvedAttention resolved;
  ResolvedBackward backward;
  AttentionResult saved;
};
using ProblemGroups = std::vector<std::unique_ptr<ProblemGroup>>;

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
  /// `resolved` belongs to the user's own problem, and `own_groups` keeps parts of that from trial
  /// to trial.
  GradientTrial(const GradientFaultCandidate& candidate, const ResolvedAttention& resolved,
                const View& grad_output, ProblemGroups& own_groups, WorkLeft& work);

  /// `rows` are those chosen for this gradient; those that are sums over heads or rows have none.
  GradientTrialResult run(const GradientPair& pair, const RowChoice& rows);

 private:
  bool query_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                  GradientTrialResult& result) const;
  bool key_rows(const GradientPair& pair, const std::vector<QueryRow>& rows,
                GradientTrialResult& result);
  bool bias_place(const GradientPair& pair, GradientTrialResult& result) const;
  bool head_sums(const GradientPair& pair, GradientTrialResult& result) const;

  bool has_array(GradientOf of) const;
  const ProblemGroup* group_of(std::int64_t batch, std::int64_t key_head);
  bool may_split(const Span& batch, const Span& heads) const;
  bool affords(double& left, std::int64_t width, const Span& batch, const Span& heads) const;
  bool affords_loops(const Span& batch, const Span& heads) const {
    return affords(work_.loops, 3 * resolved_.width + 2 * resolved_.value_width, batch, heads);
  }
  ProblemGroup part(const Span& batch, const Span& heads) const;

  const GradientFaultCandidate& candidate_;
  const View& grad_output_;
  WorkLeft& work_;
  ResolvedAttention resolved_;  ///< the candidate's
  ProblemGroups groups_;        ///< of another problem than the user's
  ProblemGroups& kept_;         ///< those or `own_groups`
};

}  // namespace volvelle
