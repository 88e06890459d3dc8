#include <algorithm>
#include <string>

#include "studies/case_table.h"
#include "studies/norm_placement_tables.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr const char* kControl =
    "the same stacks at the smallest depth with the mean square of the normalised output as loss: "
    "it is close to 1 whatever goes in, so there is nothing to differentiate";
constexpr const char* kCheck =
    "the gradient comes out the same in double, with a millionth of the norms' epsilon, to a tenth "
    "of its length";

}  // namespace

StudyControl placement_control(const PlacementPlan& plan,
                               const std::vector<std::optional<CloseLook>>& control) {
  StudyControl result{
      .what = kControl, .check = kCheck, .failed = true, .figures = {}, .tables = {}};
  StudyTable table = table_of_cases("rows", "The control (one seed)",
                                    {{"median", "last/first", 2},
                                     {"loss", "loss", 6},
                                     {"disagreement", "differs by", 4},
                                     {"rounding_noise", "noise"},
                                     {"seeds", ""},
                                     {"ratios", ""},
                                     {"layer_norms", ""},
                                     {"layer_norms_in_double", ""}});
  for (std::size_t index = 0; index < control.size(); ++index) {
    if (!control[index]) continue;
    const PlacementRun& run = control[index]->run;
    const Agreement& again = control[index]->agreement;
    result.failed = result.failed && again.is_noise();
    result.figures += (result.figures.empty() ? "" : "; ") + title_of(plan, plan.cases[index]) +
                      ": a ratio of " + rounded(run.ratio(), 2) + " made of norms of " +
                      rounded(run.norms.back(), 1) + " and " + rounded(run.norms.front(), 1) +
                      ", which in double are " + rounded(again.norms.back(), 1) + " and " +
                      rounded(again.norms.front(), 1);
    add_row(table, plan.cases[index],
            {run.ratio(), run.loss, again.disagreement, again.is_noise(), std::int64_t{1},
             std::vector<double>{run.ratio()}, run.norms, again.norms});
  }
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace volvelle
