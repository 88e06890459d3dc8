#include "volvelle/check/diagnose.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/resolved.h"
#include "check/attention_faults.h"
#include "check/fault_trial.h"
#include "check/row_choice.h"
#include "check/row_reader.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

struct Suspect {
  Diagnosis diagnosis;
  double fine = 0;
};

void check_shape(const ResolvedAttention& r, const FourAxes& array, const char* name) {
  const Shape wanted{r.batch, r.heads, r.queries, r.value_width};
  const Shape found{array.shape[0], array.shape[1], array.shape[2], array.shape[3]};
  if (found != wanted) {
    throw InvalidArgument(std::string("[diagnose] ") + name + " is " + to_string(found) +
                          ", the problem's output " + to_string(wanted));
  }
}

// Rounding of the arithmetic alone, whatever the storage type.
Tolerance fine_tolerance(const ResolvedAttention& r, const FourAxes& theirs,
                         const std::vector<QueryRow>& rows) {
  const bool both_double = r.dtype == DType::float64 && theirs.view.dtype() == DType::float64;
  const DType dtype = both_double ? DType::float64 : DType::float32;
  const double share = relative_tolerance(dtype, dtype, r.width, r.keys);
  std::vector<double> row(static_cast<std::size_t>(theirs.shape[3]));
  double sum = 0;
  for (const QueryRow& place : rows) {
    theirs.read(place.batch, place.head, place.query, row.data());
    const double size = root_mean_square(row.data(), theirs.shape[3]);
    sum += size * size / static_cast<double>(rows.size());
  }
  return {share * std::sqrt(sum), share, true};
}

// Keeps what comes as close as the closest does, give or take rounding.
std::vector<Diagnosis> closest(std::vector<Suspect> suspects) {
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.fine < b.fine; });
  std::vector<Diagnosis> found;
  for (const Suspect& suspect : suspects) {
    if (suspect.fine > std::max(4 * suspects.front().fine, 1.0)) break;
    found.push_back(suspect.diagnosis);
  }
  return found;
}

bool needs_columns(const FaultCandidate& candidate) {
  return candidate.inside == AttentionFault::softmax_over_columns;
}

Suspect suspect(const FaultCandidate& candidate, const FaultTrial& trial) {
  const TrialResult& result = trial.result();
  return {{candidate.fault, candidate.sentence, result.max_abs}, result.fine};
}

bool shows_nan(const FourAxes& theirs, const std::vector<QueryRow>& rows) {
  std::vector<double> row(static_cast<std::size_t>(theirs.shape[3]));
  for (const QueryRow& place : rows) {
    theirs.read(place.batch, place.head, place.query, row.data());
    for (const double value : row) {
      if (std::isnan(value)) return true;
    }
  }
  return false;
}

// The faults that show on single rows.
std::vector<Suspect> try_rows(const std::vector<FaultCandidate>& candidates, const FourAxes& theirs,
                              const RowChoice& rows, const FaultTrial::Rules& rules) {
  std::vector<Suspect> suspects;
  for (const FaultCandidate& candidate : candidates) {
    if (needs_columns(candidate)) continue;
    FaultTrial trial(candidate, theirs, rules);
    if (trial.agrees(rows.first) && trial.agrees(rows.confirm)) {
      suspects.push_back(suspect(candidate, trial));
    }
  }
  return suspects;
}

// The faults that show on whole columns only. They cost T*S per head, so they come last, and two
// heads must do.
void try_columns(const std::vector<FaultCandidate>& candidates, const FourAxes& theirs,
                 const RowChoice& rows, const FaultTrial::Rules& rules, double most_operations,
                 DiagnoseReport& report, std::vector<Suspect>& suspects) {
  for (const FaultCandidate& candidate : candidates) {
    if (!needs_columns(candidate)) continue;
    const ResolvedAttention r = resolve(candidate.problem);
    const double operations = static_cast<double>(r.queries) * static_cast<double>(r.keys) *
                              static_cast<double>(r.width + r.value_width);
    if (operations > most_operations) {
      report.not_tried.push_back(candidate.fault + ": whole columns of " +
                                 std::to_string(r.queries) + " x " + std::to_string(r.keys) +
                                 " scores take too long");
      continue;
    }
    const QueryRow worst = rows.first.front();
    const QueryRow other = rows.first.back();
    FaultTrial trial(candidate, theirs, rules);
    if (trial.agrees_on_head(worst.batch, worst.head) &&
        trial.agrees_on_head(other.batch, other.head)) {
      suspects.push_back(suspect(candidate, trial));
    }
  }
}

void leave_out_what_cannot_run(std::vector<FaultCandidate>& candidates, DiagnoseReport& report) {
  std::string names;
  for (const FaultCandidate& candidate : candidates) {
    if (FaultTrial::can_run(candidate)) continue;
    if (names.find(candidate.fault) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + candidate.fault;
  }
  if (names.empty()) return;
  report.not_tried.push_back(names + ": with dropout, rows cannot be looked at one by one");
  std::erase_if(candidates, [](const auto& one) { return !FaultTrial::can_run(one); });
}

}  // namespace

DiagnoseReport diagnose(const AttentionProblem& problem, const View& ours, const View& theirs,
                        const DiagnoseOptions& options) {
  DiagnoseReport report;
  const ResolvedAttention resolved = resolve(problem);
  const FourAxes mine(ours), given(theirs);
  check_shape(resolved, mine, "ours");
  check_shape(resolved, given, "theirs");
  const RowChoice rows = choose_rows(resolved, mine, given, options);
  if (rows.first.empty()) return report;
  FaultTrial::Rules rules{options.tolerance, fine_tolerance(resolved, given, rows.first)};

  // Were theirs right and ours wrong, every harmless change would look like the fault.
  const FaultCandidate right{"none",
                             "your result equals the oracle; it is Volvelle's own fast path that "
                             "differs: please report this",
                             problem};
  FaultTrial no_fault(right, given, rules);
  if (no_fault.agrees(rows.first) && no_fault.agrees(rows.confirm)) {
    report.found.push_back({right.fault, right.sentence, no_fault.result().max_abs});
    return report;
  }

  std::vector<FaultCandidate> candidates = attention_faults(problem, resolved);
  leave_out_what_cannot_run(candidates, report);
  std::vector<Suspect> suspects = try_rows(candidates, given, rows, rules);
  if (suspects.empty() && shows_nan(given, rows.first)) {
    // A program without a rule for rows that see no key may have another fault besides.
    rules.empty_rows_may_be_nan = true;
    suspects = try_rows(candidates, given, rows, rules);
  }
  if (suspects.empty())
    try_columns(candidates, given, rows, rules, options.column_operations, report, suspects);
  report.found = closest(std::move(suspects));
  return report;
}

}  // namespace volvelle
