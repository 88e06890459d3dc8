#include "cli/relative_gradients.h"

#include <string>

#include "cli/verb.h"
#include "volvelle/check/compare.h"

namespace volvelle::cli {
namespace {

// Each entry is a sum over all pairs of its offset, of terms that cancel along a row.
constexpr double kTimes = 4;

std::int64_t rows_of(const View& view) {
  return view.rank() >= 2 ? view.shape()[view.rank() - 2] : 1;
}

}  // namespace

void compare_relative(const AttentionProblem& problem, const AttentionGradientResult& ours,
                      const RelativeGradients& theirs, GradientReport& report) {
  struct One {
    std::string name;
    const Tensor& own;
    const Tensor& given;
  };
  const One all[] = {{"grad_relative_keys", ours.relative_keys, theirs.keys},
                     {"grad_relative_queries", ours.relative_queries, theirs.queries},
                     {"grad_relative_values", ours.relative_values, theirs.values}};
  for (const auto& [name, own, given] : all) {
    if (!given) continue;
    if (!own) {
      throw UsageError("the file has " + name + ", but the problem has no " + name.substr(5));
    }
    if (given.shape() != own.shape()) {
      throw UsageError(name + " is " + to_string(given.shape()) + " in the file and " +
                       to_string(own.shape()) + " here");
    }
    const Comparison comparison = compare(own.view(), given.view(),
                                          {.atol = theirs.atol,
                                           .rtol = theirs.rtol,
                                           .width = own.shape()[own.rank() - 1],
                                           .keys = rows_of(problem.q) * rows_of(problem.k),
                                           .computed_in = problem.q.dtype(),
                                           .times = kTimes});
    if (!comparison.matches) {
      report.matches = false;
      report.not_tried.push_back("mistakes in " + name + ", which is compared only");
    }
    report.gradients.push_back({name, comparison});
  }
}

}  // namespace volvelle::cli
