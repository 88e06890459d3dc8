#include "cli/gradient_agreement.h"

#include <algorithm>

#include "cli/relative_gradients.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/base/error.h"
#include "volvelle/check/expect_gradients.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

class Paths {
 public:
  Paths(const AttentionProblem& problem, const View& grad_output, int threads)
      : problem_(problem),
        grad_output_(grad_output),
        threads_(threads),
        oracle_(gradients(AttentionPath::oracle)) {}

  // "yes, largest difference 3e-08"
  std::string verdict(AttentionPath path) const {
    const AttentionGradientResult own = gradients(path);
    GradientReport report = check_expected_gradients(problem_, {grad_output_, own},
                                                     {.q = oracle_.q.view(),
                                                      .k = oracle_.k.view(),
                                                      .v = oracle_.v.view(),
                                                      .bias = oracle_.bias.view(),
                                                      .slopes = oracle_.slopes.view(),
                                                      .bias_table = oracle_.bias_table.view(),
                                                      .bucket_table = oracle_.bucket_table.view(),
                                                      .sinks = oracle_.sinks.view()});
    compare_relative(problem_, own,
                     {oracle_.relative_keys, oracle_.relative_queries, oracle_.relative_values},
                     report);
    double largest = 0;
    for (const GradientComparison& one : report.gradients) {
      largest = std::max(largest, one.comparison.max_abs);
    }
    return std::string(report.matches ? "yes" : "NO") + ", largest difference " +
           rounded(largest, 2);
  }

 private:
  AttentionGradientResult gradients(AttentionPath path) const {
    const AttentionOptions how{path, threads_};
    // Whatever the forward path leaves behind is as good for each way back.
    const AttentionResult saved =
        attend(problem_, AttentionRequest{}, {AttentionPath::automatic, threads_});
    return attend_backward(problem_, {saved.output.view(), saved.lse.view()}, grad_output_,
                           AttentionGradientRequest{}, how);
  }

  const AttentionProblem& problem_;
  const View& grad_output_;
  int threads_;
  AttentionGradientResult oracle_;
};

}  // namespace

std::string gradient_agreement_text(const AttentionProblem& problem, const View& grad_output,
                                    int threads) {
  const Paths paths(problem, grad_output, threads);
  std::string text;
  try {
    text = "Gradients of the fused path equal the oracle's: " + paths.verdict(AttentionPath::fused);
  } catch (const Unsupported&) {
    text = "The fused path does not take these gradients";
  }
  return wrapped(
      text + ". Those of the composed path: " + paths.verdict(AttentionPath::composed) + ".",
      {.indent = 0});
}

}  // namespace volvelle::cli
