#include "studies/stream_tables.h"

#include <algorithm>
#include <utility>

#include "studies/case_table.h"

namespace volvelle {
namespace {

// The lower median over seeds of one figure of one layer.
template <class Figures>
std::vector<double> medians_by_layer(const CaseSummary& one, Figures figures) {
  std::vector<double> medians;
  for (std::size_t layer = 0; layer < one.by_layer.size(); ++layer) {
    std::vector<double> values;
    for (const PlacementRun& run : one.runs) values.push_back(figures(run)[layer]);
    medians.push_back(lower_median(values));
  }
  return medians;
}

StudyTable factor_table(const PlacementSummary& summary) {
  StudyTable table = table_of_cases(
      "factors",
      "What a layer multiplies the gradient of the stream by; how much of it is passed on as it "
      "came (copy, 1: untouched), and through all layers",
      {{"median_factor", "factor", 3},
       {"smallest_factor", "from", 3},
       {"largest_factor", "to", 3},
       {"product", "product", 2},
       {"copy", "copy", 3},
       {"copy_through", "through", 3},
       {"layer_factors", ""},
       {"layer_copies", ""}});
  for (const CaseSummary& one : summary.cases) {
    std::vector<double> factors =
        medians_by_layer(one, [](const PlacementRun& run) { return run.factors; });
    std::vector<double> copies =
        medians_by_layer(one, [](const PlacementRun& run) { return run.copies; });
    std::vector<double> products;
    std::vector<double> through;
    for (const PlacementRun& run : one.runs) {
      double product = 1;
      for (const double factor : run.factors) product *= factor;
      products.push_back(product);
      through.push_back(run.copy_through);
    }
    const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
    const double smallest = *low;
    const double largest = *high;
    add_row(table, one.of,
            {lower_median(factors), smallest, largest, lower_median(products), lower_median(copies),
             lower_median(through), std::move(factors), std::move(copies)});
  }
  return table;
}

StudyTable jacobian_table(const PlacementSummary& summary) {
  StudyTable table = table_of_cases(
      "norm_jacobian",
      "A norm on the stream of the last layer (first seed): what passes of the gradient that "
      "arrives there, and its part along the mean and along the token itself, before and behind",
      {{"spread", ""},
       {"inverse_spread", "1/spread", 3},
       {"passed", "passes", 3},
       {"mean_before", "mean", 2},
       {"mean_behind", "behind", 2},
       {"along_before", "itself", 2},
       {"along_behind", "behind", 2}});
  for (const CaseSummary& one : summary.cases) {
    if (!one.close || !one.close->jacobian) continue;
    const NormJacobian& norm = *one.close->jacobian;
    add_row(table, one.of,
            {norm.spread, 1 / norm.spread, norm.passed, norm.mean_before, norm.mean_behind,
             norm.along_before, norm.along_behind});
  }
  return table;
}

}  // namespace

std::vector<StudyTable> stream_tables(const PlacementPlan& plan, const PlacementSummary& summary) {
  if (plan.options.measure != PlacementMeasure::stream) return {};
  return {factor_table(summary), jacobian_table(summary)};
}

}  // namespace volvelle
