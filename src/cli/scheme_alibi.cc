#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "cli/scheme_figures.h"
#include "cli/verb.h"
#include "volvelle/attention/alibi.h"

namespace volvelle::cli {

void add_alibi_figures(const SchemeCase& scheme, StudyResult& sheet) {
  const std::vector<double> slopes = alibi_slopes(static_cast<int>(scheme.context.heads));
  StudyTable table{.key = "slopes",
                   .title = "What a score loses, by head",
                   .columns = {{"head", "head"},
                               {"slope", "slope", 6, StudyForm::rounded},
                               {"half_weight_at", "half the weight at distance", 1},
                               {"lost_at_length", "lost at the text's length", 2}},
                   .rows = {}};
  StudyChart chart{.kind = StudyChart::Kind::lines,
                   .key = "bias",
                   .title = "What is added to a score by distance, for the first heads",
                   .x_label = "distance",
                   .y_label = "added"};
  const auto length = static_cast<double>(scheme.length - 1);
  for (std::size_t head = 0; head < slopes.size(); ++head) {
    table.rows.push_back({static_cast<std::int64_t>(head), slopes[head],
                          std::numbers::ln2 / slopes[head], slopes[head] * length});
    if (head >= 8) continue;
    chart.series.push_back({.label = "head " + std::to_string(head),
                            .x = {0, length},
                            .y = {0, -slopes[head] * length},
                            .low = {},
                            .high = {}});
  }
  sheet.tables.push_back(std::move(table));
  sheet.charts.push_back(std::move(chart));
}

}  // namespace volvelle::cli
