#include "cli/path_agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvelle/attention/attend.h"
#include "volvelle/check/compare.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = element_as_double(a.view(), i);
    const double y = element_as_double(b.view(), i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::fabs(x - y);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

double largest_magnitude(const Tensor& array) {
  double largest = 0;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = std::fabs(element_as_double(array.view(), i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

PathAgreement path_agreement(const AttentionProblem& problem, int threads) {
  const auto output = [&](AttentionPath path) {
    return attend(problem, AttentionRequest{.lse = false}, {path, threads}).output;
  };
  PathAgreement agreement;
  const AttentionPlan plan = explain(problem, {.threads = threads});
  const Tensor oracle = output(AttentionPath::oracle);
  agreement.composed = largest_difference(output(AttentionPath::composed), oracle);
  if (plan.path == AttentionPath::fused) {
    agreement.fused = largest_difference(output(AttentionPath::fused), oracle);
  } else {
    agreement.reason = plan.reason;
  }
  const DType dtype = problem.q.dtype();
  agreement.tolerance =
      largest_magnitude(oracle) * relative_tolerance(dtype, dtype, plan.head_width, plan.keys);
  return agreement;
}

std::string agreement_text(const PathAgreement& agreement, DType dtype) {
  const auto verdict = [&](double difference) {
    return std::string(difference <= agreement.tolerance ? "yes" : "NO") + ", largest difference " +
           rounded(difference, 2);
  };
  std::string text;
  if (agreement.fused) {
    text = "Fused equals oracle: " + verdict(*agreement.fused);
  } else {
    text = "The fused path does not take this problem (" + agreement.reason + ")";
  }
  text += ". Composed equals oracle: " + verdict(agreement.composed) + ". Rounding of " +
          std::string(name_of(dtype)) + " may cause " + rounded(agreement.tolerance, 2) + ".";
  return wrapped(text, {.indent = 0});
}

}  // namespace volvelle::cli
