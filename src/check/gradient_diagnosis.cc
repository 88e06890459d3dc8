#include "check/gradient_diagnosis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "check/gradient_faults.h"
#include "check/gradient_trial.h"
#include "check/row_choice.h"
#include "check/row_reader.h"

namespace volvelle {
namespace {

constexpr double kLoops = 1.5e9;     // multiply-adds in the oracle's loops, over all faults
constexpr double kAttention = 1e11;  // and in attention
constexpr std::int64_t kFirstQueries = 24, kConfirmQueries = 96;
constexpr std::int64_t kFirstKeys = 9, kConfirmKeys = 24;

bool has_rows(GradientOf of) {
  return of == GradientOf::q || of == GradientOf::k || of == GradientOf::v;
}

/// What remains to be explained, with the rows on which faults are tried.
class OpenPairs {
 public:
  OpenPairs(const ResolvedAttention& resolved, GradientPairs& pairs) {
    for (GradientPair& pair : pairs) {
      if (pair.comparison.matches || pair.explained) continue;
      pairs_.push_back(&pair);
      rows_.emplace_back();
      if (!has_rows(pair.of)) continue;
      const bool queries = pair.of == GradientOf::q;
      rows_.back() = choose_rows(resolved, FourAxes(pair.ours), FourAxes(pair.theirs),
                                 {.tolerance = pair.comparison.tolerance,
                                  .first_rows = queries ? kFirstQueries : kFirstKeys,
                                  .confirm_rows = queries ? kConfirmQueries : kConfirmKeys});
    }
  }

  bool empty() const { return pairs_.empty(); }
  std::size_t size() const { return pairs_.size(); }
  GradientPair& operator[](std::size_t i) const { return *pairs_[i]; }
  const RowChoice& rows(std::size_t i) const { return rows_[i]; }

 private:
  std::vector<GradientPair*> pairs_;
  std::vector<RowChoice> rows_;
};

struct Suspect {
  GradientFaultCandidate candidate;
  std::vector<char> reproduces;  // of the open pairs
  double max_abs = 0;
  double excess = 0;
};

// A fault that shows in rows is looked for there first; sums over heads or rows, which cost a whole
// head, are only made for a fault that has shown or when there is nothing else.
Suspect tried(const GradientFaultCandidate& candidate, const ResolvedAttention& resolved,
              const View& grad_output, const OpenPairs& open, ProblemGroups& groups,
              WorkLeft& work) {
  Suspect suspect{candidate, std::vector<char>(open.size()), 0, 0};
  GradientTrial trial(candidate, resolved, grad_output, groups, work);
  bool rows_open = false, shown = false;
  for (const bool with_rows : {true, false}) {
    if (!with_rows && rows_open && !shown) break;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (has_rows(open[i].of) != with_rows || !candidate.concerns(open[i].of)) continue;
      rows_open = rows_open || with_rows;
      const GradientTrialResult result = trial.run(open[i], open.rows(i));
      if (!result.reproduced) {
        // Another attention shows in every gradient, and first where it costs least.
        if (candidate.other_attention && with_rows) return suspect;
        continue;
      }
      shown = true;
      suspect.reproduces[i] = 1;
      suspect.max_abs = std::max(suspect.max_abs, result.max_abs);
      suspect.excess = std::max(suspect.excess, result.excess);
    }
  }
  return suspect;
}

std::ptrdiff_t explains(const Suspect& suspect) {
  return std::count(suspect.reproduces.begin(), suspect.reproduces.end(), 1);
}

// Everything that b explains, a explains too, and more.
bool covers(const Suspect& a, const Suspect& b) {
  for (std::size_t i = 0; i < a.reproduces.size(); ++i) {
    if (b.reproduces[i] && !a.reproduces[i]) return false;
  }
  return explains(a) > explains(b);
}

std::string sentence(const Suspect& suspect, const std::vector<const GradientPair*>& pairs) {
  const bool several = pairs.size() > 1;
  std::string text = "your " + names_of(pairs) + (several ? " equal " : " equals ");
  if (suspect.candidate.other_attention) {
    text += several ? "those of attention " : "that of attention ";
  } else {
    text += "ours ";
  }
  return text + suspect.candidate.what;
}

// Keeps what explains most and, of that, what comes as close as the closest.
void tell(std::vector<Suspect> suspects, const OpenPairs& open, GradientReport& report) {
  std::stable_sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return explains(a) != explains(b) ? explains(a) > explains(b) : a.excess < b.excess;
  });
  std::vector<const Suspect*> kept;
  for (const Suspect& one : suspects) {
    const bool worse = std::any_of(kept.begin(), kept.end(), [&](const Suspect* better) {
      return covers(*better, one) || (better->reproduces == one.reproduces &&
                                      one.excess > std::max(4 * better->excess, 0.5));
    });
    if (!worse) kept.push_back(&one);
  }
  for (const Suspect* one : kept) {
    std::vector<const GradientPair*> pairs;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!one->reproduces[i]) continue;
      open[i].explained = true;
      pairs.push_back(&open[i]);
    }
    report.diagnosis.push_back({one->candidate.fault, sentence(*one, pairs), one->max_abs});
  }
}

}  // namespace

void diagnose_gradients(const AttentionProblem& problem, const ResolvedAttention& resolved,
                        const View& grad_output, GradientPairs& pairs, GradientReport& report) {
  const OpenPairs open(resolved, pairs);
  if (open.empty()) return;
  WorkLeft work{.loops = kLoops, .attention = kAttention};
  ProblemGroups groups;
  std::vector<Suspect> suspects;
  std::string refused;
  for (const GradientFaultCandidate& candidate : gradient_faults(problem, resolved)) {
    work.refused = false;
    Suspect suspect = tried(candidate, resolved, grad_output, open, groups, work);
    if (explains(suspect) > 0) {
      suspects.push_back(std::move(suspect));
    } else if (work.refused && refused.find(candidate.fault) == std::string::npos) {
      refused += (refused.empty() ? "" : ", ") + candidate.fault;
    }
  }
  tell(std::move(suspects), open, report);
  const bool all_explained = std::all_of(pairs.begin(), pairs.end(), [](const GradientPair& pair) {
    return pair.comparison.matches || pair.explained;
  });
  if (refused.empty() || all_explained) return;
  report.not_tried.push_back(refused +
                             (resolved.dropout > 0
                                  ? ": with dropout, heads cannot be looked at one by one"
                                  : ": whole heads of " + std::to_string(resolved.queries) + " x " +
                                        std::to_string(resolved.keys) + " scores take too long"));
}

bool oracle_agrees(const AttentionProblem& problem, const ResolvedAttention& resolved,
                   const View& grad_output, const GradientPairs& pairs, Whose whose) {
  GradientPairs copies = pairs;
  const OpenPairs open(resolved, copies);
  if (whose == Whose::ours) {
    for (GradientPair& pair : copies) pair.theirs = pair.ours;
  }
  WorkLeft work{.loops = kLoops, .attention = kAttention};
  ProblemGroups groups;
  const GradientFaultCandidate right{.fault = "none", .what = "", .problem = problem};
  const Suspect suspect = tried(right, resolved, grad_output, open, groups, work);
  return !open.empty() && explains(suspect) == static_cast<std::ptrdiff_t>(open.size());
}

}  // namespace volvelle
