#include "studies/norm_placement_tables.h"

#include <cmath>
#include <string>
#include <utility>

#include "studies/case_table.h"
#include "studies/stream_tables.h"

namespace volvelle {
namespace {

StudyCell text(std::string_view name) { return std::string(name); }

StudyCell number(std::size_t count) { return static_cast<std::int64_t>(count); }

std::string measured_name(const PlacementPlan& plan) {
  return plan.options.measure == PlacementMeasure::stream ? "the layers' inputs"
                                                          : plan.options.parameter;
}

StudyTable main_table(const PlacementPlan& plan, const PlacementSummary& summary) {
  StudyTable table =
      table_of_cases("rows", "Gradient norms of " + measured_name(plan) + ": last layer over first",
                     {{"median", "median", 2},
                      {"minimum", "from", 2},
                      {"maximum", "to", 2},
                      {"seeds", "seeds"},
                      {"ratios", ""},
                      {"layer_norms", ""}});
  for (const CaseSummary& one : summary.cases) {
    std::vector<double> by_layer;
    for (const SeedSpread& layer : one.by_layer) by_layer.push_back(layer.median);
    add_row(table, one.of,
            {one.ratio.median, one.ratio.minimum, one.ratio.maximum, number(one.runs.size()),
             one.ratios, std::move(by_layer)});
  }
  return table;
}

StudyTable evenness_table(const PlacementSummary& summary) {
  StudyTable table = table_of_cases(
      "evenness",
      "How even, whichever end is the larger, and the slope over all layers (medians over seeds)",
      {{"absolute_log2_ratio", "|log2 ratio|", 2},
       {"absolute_log2_ratio_minimum", "from", 2},
       {"absolute_log2_ratio_maximum", "to", 2},
       {"log2_slope", ""},
       {"factor_per_layer", "x per layer", 4},
       {"factor_over_layers", "x in all", 2}});
  for (const CaseSummary& one : summary.cases) {
    const auto steps = static_cast<double>(one.of.depth - 1);
    add_row(table, one.of,
            {one.unevenness.median, one.unevenness.minimum, one.unevenness.maximum,
             one.slope.median, std::exp2(one.slope.median), std::exp2(one.slope.median * steps)});
  }
  return table;
}

StudyTable paired_table(const PlacementSummary& summary) {
  StudyTable table{.key = "paired",
                   .title =
                       "Seed by seed: last/first of the first over that of the second, and in how "
                       "many seeds it is the "
                       "larger",
                   .columns = {{"depth", "layers"},
                               {"norm", "norm"},
                               {"first", "first"},
                               {"second", "second"},
                               {"median_factor", "median", 2},
                               {"low", "between", 2},
                               {"high", "and", 2},
                               {"coverage", "coverage", 4},
                               {"above", "larger in"},
                               {"below", ""},
                               {"probability", "by chance", 6},
                               {"factors", ""}},
                   .rows = {},
                   .identifying = 4};
  for (const PairSummary& pair : summary.pairs) {
    table.rows.push_back({pair.depth, text(name_of(pair.norm)), pair.first, pair.second,
                          pair.median, pair.interval.low, pair.interval.high,
                          pair.interval.coverage, pair.signs.above, pair.signs.below,
                          pair.signs.probability, pair.factors});
  }
  return table;
}

StudyTable output_table(const PlacementSummary& summary) {
  StudyTable table =
      table_of_cases("near_output", "Gradient norms themselves, near the output and the input",
                     {{"last_norm", "last", 4},
                      {"last_minimum", "from", 4},
                      {"last_maximum", "to", 4},
                      {"first_norm", "first", 4},
                      {"loss", "loss", 4}});
  for (const CaseSummary& one : summary.cases) {
    add_row(
        table, one.of,
        {one.last.median, one.last.minimum, one.last.maximum, one.first.median, one.loss.median});
  }
  return table;
}

StudyTable exponent_table(const PlacementSummary& summary) {
  StudyTable table{.key = "depth_exponents",
                   .title = "Norm at the last layer ~ depth^e, fitted seed by seed",
                   .columns = {{"placement", "placement"},
                               {"norm", "norm"},
                               {"exponent", "median e", 2},
                               {"low", "between", 2},
                               {"high", "and", 2},
                               {"coverage", "coverage", 4}},
                   .rows = {}};
  for (const DepthSummary& one : summary.depths) {
    table.rows.push_back({one.placement, text(name_of(one.norm)), one.exponent, one.interval.low,
                          one.interval.high, one.interval.coverage});
  }
  return table;
}

StudyTable repeated_table(const PlacementSummary& summary) {
  StudyTable table = table_of_cases("repeated",
                                    "The first layer's norm of the first seed, and once more in "
                                    "double with a millionth of epsilon; "
                                    "the layers' largest difference",
                                    {{"single_norm", "float32", 6},
                                     {"double_norm", "double", 6},
                                     {"disagreement", "differs by", 6},
                                     {"bound", ""},
                                     {"rounding_noise", "noise"}});
  for (const CaseSummary& one : summary.cases) {
    if (!one.close) continue;
    add_row(table, one.of,
            {one.close->run.norms.front(), one.close->agreement.norms.front(),
             one.close->agreement.disagreement, kAgreementBound, one.close->agreement.is_noise()});
  }
  return table;
}

StudyTable layer_table(const PlacementSummary& summary) {
  StudyTable table = table_of_cases(
      "layers", "Gradient norm of every layer, over seeds",
      {{"layer", "layer"}, {"median", "median", 4}, {"minimum", "from", 4}, {"maximum", "to", 4}});
  for (const CaseSummary& one : summary.cases) {
    for (std::size_t layer = 0; layer < one.by_layer.size(); ++layer) {
      const SeedSpread& norm = one.by_layer[layer];
      add_row(table, one.of, {number(layer + 1), norm.median, norm.minimum, norm.maximum});
    }
  }
  table.text_rows = static_cast<int>(table.rows.size());  // asked for: all of them
  return table;
}

}  // namespace

std::vector<StudyTable> placement_tables(const PlacementPlan& plan,
                                         const PlacementSummary& summary) {
  std::vector<StudyTable> tables{main_table(plan, summary), evenness_table(summary)};
  if (!summary.pairs.empty()) tables.push_back(paired_table(summary));
  tables.push_back(output_table(summary));
  if (!summary.depths.empty()) tables.push_back(exponent_table(summary));
  for (StudyTable& table : stream_tables(plan, summary)) tables.push_back(std::move(table));
  tables.push_back(repeated_table(summary));
  if (plan.options.per_layer) tables.push_back(layer_table(summary));
  return tables;
}

}  // namespace volvelle
