#include <algorithm>
#include <string>
#include <utility>

#include "studies/norm_placement_tables.h"

namespace volvelle {
namespace {

std::string label_of(const PlacementPlan& plan, const PlacementCase& one) {
  if (plan.options.norms.size() == 1) return one.placement;
  return one.placement + " (" + std::string(name_of(one.norm)) + ")";
}

StudySeries series_of(const PlacementPlan& plan, const CaseSummary& one) {
  StudySeries series;
  series.label = label_of(plan, one.of);
  for (std::size_t layer = 0; layer < one.by_layer.size(); ++layer) {
    series.x.push_back(static_cast<double>(layer + 1));
    series.y.push_back(one.by_layer[layer].median);
    series.low.push_back(one.by_layer[layer].minimum);
    series.high.push_back(one.by_layer[layer].maximum);
  }
  return series;
}

StudyChart chart_of(const PlacementPlan& plan, const PlacementSummary& summary,
                    std::int64_t depth) {
  StudyChart chart;
  chart.key = "layers_" + std::to_string(depth);
  chart.title = "Gradient norm by layer, " + std::to_string(depth) +
                (depth == 1 ? " layer" : " layers") + ": median and range over seeds";
  chart.x_label = "layer";
  chart.y_label = "gradient norm";
  chart.log_y = true;
  for (const CaseSummary& one : summary.cases) {
    if (one.of.depth == depth) chart.series.push_back(series_of(plan, one));
  }
  return chart;
}

}  // namespace

std::vector<StudyChart> placement_charts(const PlacementPlan& plan,
                                         const PlacementSummary& summary) {
  const std::int64_t deepest =
      *std::max_element(plan.options.depths.begin(), plan.options.depths.end());
  std::vector<StudyChart> charts;
  for (const std::int64_t depth : plan.options.depths) {
    StudyChart chart = chart_of(plan, summary, depth);
    if (chart.series.empty()) continue;
    chart.in_text = depth == deepest;  // a picture holds all of them, a terminal one
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace volvelle
