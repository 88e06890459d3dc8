#include "volvelle/check/expect_gradients.h"

#include <utility>

#include "attention/resolved.h"
#include "check/gradient_diagnosis.h"
#include "check/gradient_factors.h"
#include "check/gradient_pair.h"
#include "check/gradient_readings.h"
#include "check/gradient_tolerance.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

void refuse(const std::string& message) { throw InvalidArgument("[expect] " + message); }

struct Named {
  GradientOf of;
  const char* name;
  const Tensor& ours;
  View theirs;
  View array;  ///< the problem's
};

std::vector<Named> all_of(const AttentionProblem& problem, const AttentionGradientResult& ours,
                          const ExpectedGradients& theirs) {
  return {
      {GradientOf::q, "grad_q", ours.q, theirs.q, problem.q},
      {GradientOf::k, "grad_k", ours.k, theirs.k, problem.k},
      {GradientOf::v, "grad_v", ours.v, theirs.v, problem.v},
      {GradientOf::bias, "grad_bias", ours.bias, theirs.bias, problem.bias},
      {GradientOf::slopes, "grad_slopes", ours.slopes, theirs.slopes, problem.slopes},
      {GradientOf::sinks, "grad_sinks", ours.sinks, theirs.sinks, problem.sinks},
      {GradientOf::bias_table, "grad_bias_table", ours.bias_table, theirs.bias_table,
       problem.bias_table},
      {GradientOf::bucket_table, "grad_bucket_table", ours.bucket_table, theirs.bucket_table,
       problem.bucket_table},
  };
}

void check_given(const Named& one) {
  const std::string name = one.name;
  if (!one.array) {
    refuse("the file has " + name + ", but the problem has no " + name.substr(5));
  }
  if (!one.ours) refuse("the file has " + name + " and none was computed: ask for it");
  if (!is_floating(one.theirs.dtype())) {
    refuse(name + " is " + std::string(name_of(one.theirs.dtype())) + ", not a floating type");
  }
}

// Brings the file's array to our axes and compares; a shape that shows a mistake is diagnosed.
void compare_pair(const ResolvedAttention& resolved, GradientPair& pair, GradientReport& report) {
  const View given = pair.theirs;
  std::optional<GradientReading> reading = read_gradient(resolved, pair, given);
  if (!reading) {
    refuse(std::string(pair.name) + " is " + to_string(given.shape()) + " in the file and " +
           to_string(pair.ours.shape()) + " here; no reading makes them one");
  }
  pair.theirs = reading->view;
  pair.owned = std::move(reading->owned);
  pair.comparison = compare(pair.ours, pair.theirs, pair.options);
  if (reading->fault.empty()) return;
  report.matches = false;
  const std::string sentence = std::string("your ") + pair.name + ' ' + reading->what;
  report.diagnosis.push_back(
      {reading->fault,
       pair.comparison.matches
           ? sentence + "; " + reading->when_right + ", it equals ours"
           : sentence + ", and differs from ours when it is " + reading->when_right + " too",
       pair.comparison.max_abs});
}

// The file agrees with the oracle. Does ours as well, each on its side of it?
Diagnosis of_rounding(const AttentionProblem& problem, const ResolvedAttention& resolved,
                      const View& grad_output, const GradientPairs& pairs) {
  if (oracle_agrees(problem, resolved, grad_output, pairs, Whose::ours)) {
    return {"rounding",
            "yours and ours both equal the oracle's within tolerance, each on its side of it: "
            "--rtol sets a wider one",
            0};
  }
  return {"none",
          "your gradients equal the oracle's; it is Volvelle's own fast path that differs: please "
          "report this",
          0};
}

}  // namespace

GradientReport check_expected_gradients(const AttentionProblem& problem,
                                        const GradientsComputed& ours,
                                        const ExpectedGradients& theirs) {
  const ResolvedAttention resolved = resolve(problem);
  if (!ours.grad_output) refuse("grad_output is absent");
  const GradientTolerance tolerance(resolved, problem, ours.grad_output);
  GradientReport report;
  GradientPairs pairs;
  for (const Named& one : all_of(problem, ours.gradients, theirs)) {
    if (!one.theirs) continue;
    check_given(one);
    GradientPair pair{
        .of = one.of, .name = one.name, .ours = one.ours.view(), .theirs = one.theirs};
    pair.options = tolerance.options_for(pair, theirs);
    compare_pair(resolved, pair, report);
    pairs.push_back(std::move(pair));
  }
  bool differ = false;
  for (const GradientPair& pair : pairs) differ = differ || !pair.comparison.matches;
  if (differ) {
    report.matches = false;
    if (oracle_agrees(problem, resolved, ours.grad_output, pairs, Whose::theirs)) {
      report.diagnosis.push_back(of_rounding(problem, resolved, ours.grad_output, pairs));
    } else {
      explain_by_factor(resolved, pairs, report.diagnosis);
      diagnose_gradients(problem, resolved, ours.grad_output, pairs, report);
    }
  }
  for (GradientPair& pair : pairs) {
    report.gradients.push_back({pair.name, std::move(pair.comparison)});
  }
  return report;
}

}  // namespace volvelle
