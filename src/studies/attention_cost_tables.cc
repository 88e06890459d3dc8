#include "studies/attention_cost_tables.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "studies/attention_operations.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kMib = 1024.0 * 1024;

StudyTable ladder_table(const AttentionCostOptions& options) {
  StudyTable table{.key = "rows",
                   .title = "Operations by length, batch 1, width " + grouped(options.width) +
                            ", and a whole matrix of scores at " + std::to_string(options.heads) +
                            " heads and " + std::to_string(options.bytes) + " bytes a number",
                   .columns = {{"tokens", "tokens", 0},
                               {"projections", "projections", 3, StudyForm::scientific},
                               {"attention", "scores, values", 3, StudyForm::scientific},
                               {"ratio", "ratio", 2},
                               {"rotation_share", "turning", 2, StudyForm::percent},
                               {"score_gib", "scores, GiB", 2, StudyForm::rounded}},
                   .rows = {}};
  for (const std::int64_t tokens : options.ladder) {
    const AttentionOperations count = attention_operations(1, tokens, options.width, options.heads);
    table.rows.push_back({tokens, count.projections, count.attention, count.ratio(),
                          count.rotation / (count.projections + count.attention),
                          score_bytes(1, options.heads, tokens, options.bytes) / kGib});
  }
  return table;
}

StudyTable time_table(const AttentionCostOptions& options, const MeasuredCosts& measured) {
  StudyTable table{.key = "measured",
                   .title = "Milliseconds here: batch 1, width " + grouped(options.measured_width) +
                            ", " + std::to_string(options.measured_heads) + " heads, float32, " +
                            std::to_string(measured.threads) +
                            (measured.threads == 1 ? " thread" : " threads"),
                   .columns = {{"tokens", "tokens", 0},
                               {"projections_ms", "projections", 3},
                               {"attention_ms", "attention", 3},
                               {"time_ratio", "ratio", 2},
                               {"ratio", "by operations", 2},
                               {"causal_ms", "causal", 3},
                               {"turned_ms", "turned", 3}},
                   .rows = {}};
  for (const AttentionTimes& times : measured.by_length) {
    const AttentionOperations count =
        attention_operations(1, times.tokens, options.measured_width, options.measured_heads);
    table.rows.push_back({times.tokens, times.projections, times.attention,
                          times.attention / times.projections, count.ratio(), times.causal,
                          times.turned});
  }
  return table;
}

StudyTable memory_table(const MeasuredCosts& measured) {
  StudyTable table{.key = "memory",
                   .title =
                       "Memory beside inputs and output, MiB: fused, scores as a matrix one "
                       "head at a time, and as a naive program keeps them, all heads at once",
                   .columns = {{"tokens", "tokens", 0},
                               {"fused_mib", "fused", 2},
                               {"composed_mib", "a head at a time", 2},
                               {"naive_mib", "naive (computed)", 2}},
                   .rows = {}};
  for (const AttentionTimes& times : measured.by_length) {
    const bool composed = std::isfinite(times.composed_bytes);
    table.rows.push_back({times.tokens, times.fused_bytes / kMib,
                          composed ? StudyCell(times.composed_bytes / kMib) : StudyCell(),
                          times.score_bytes / kMib});
  }
  return table;
}

StudyTable tile_table(const MeasuredCosts& measured) {
  StudyTable table{.key = "tiles",
                   .title = "Time by live tiles, at the longest length",
                   .columns = {{"rule", "rule"},
                               {"live", "live tiles", 0},
                               {"all", "of", 0},
                               {"milliseconds", "ms", 3},
                               {"us_per_tile", "us a tile", 2}},
                   .rows = {}};
  for (const TileTimes& times : measured.by_rule) {
    table.rows.push_back({times.rule, times.live, times.all, times.milliseconds,
                          1e3 * times.milliseconds / static_cast<double>(times.live)});
  }
  return table;
}

StudySeries empty_series(const char* label) {
  return {.label = label, .x = {}, .y = {}, .low = {}, .high = {}};
}

StudyChart ladder_chart(const AttentionCostOptions& options) {
  StudyChart chart;
  chart.key = "operations";
  chart.title = "Operations by length at width " + grouped(options.width);
  chart.x_label = "tokens";
  chart.y_label = "operations";
  chart.log_x = true;
  chart.log_y = true;
  StudySeries projections = empty_series("projections, 8 T C^2");
  StudySeries attention = empty_series("scores and values, 4 T^2 C");
  std::vector<std::int64_t> lengths = options.ladder;
  std::sort(lengths.begin(), lengths.end());
  for (const std::int64_t tokens : lengths) {
    const AttentionOperations count = attention_operations(1, tokens, options.width, options.heads);
    for (StudySeries* series : {&projections, &attention}) {
      series->x.push_back(static_cast<double>(tokens));
    }
    projections.y.push_back(count.projections);
    attention.y.push_back(count.attention);
  }
  chart.series = {projections, attention};
  return chart;
}

StudyChart time_chart(const MeasuredCosts& measured) {
  StudyChart chart;
  chart.key = "times";
  chart.title = "Measured here: milliseconds by length";
  chart.x_label = "tokens";
  chart.y_label = "ms";
  chart.log_x = true;
  chart.log_y = true;
  chart.in_text = false;
  StudySeries projections = empty_series("projections");
  StudySeries attention = empty_series("fused attention");
  StudySeries causal = empty_series("the same, causal");
  for (const AttentionTimes& times : measured.by_length) {
    for (StudySeries* series : {&projections, &attention, &causal}) {
      series->x.push_back(static_cast<double>(times.tokens));
    }
    projections.y.push_back(times.projections);
    attention.y.push_back(times.attention);
    causal.y.push_back(times.causal);
  }
  chart.series = {projections, attention, causal};
  return chart;
}

StudyChart tile_chart(const MeasuredCosts& measured) {
  StudyChart chart;
  chart.key = "tiles";
  chart.title = "Measured here: time by live tiles";
  chart.x_label = "live tiles";
  chart.y_label = "ms";
  chart.in_text = false;
  StudySeries times = empty_series("windows, causal, every key");
  for (const TileTimes& rule : measured.by_rule) {
    times.x.push_back(static_cast<double>(rule.live));
    times.y.push_back(rule.milliseconds);
  }
  chart.series = {times};
  return chart;
}

}  // namespace

std::vector<StudyTable> attention_cost_tables(const AttentionCostOptions& options,
                                              const MeasuredCosts& measured) {
  std::vector<StudyTable> tables{ladder_table(options)};
  if (!measured.by_length.empty()) {
    tables.push_back(time_table(options, measured));
    tables.push_back(memory_table(measured));
  }
  if (!measured.by_rule.empty()) tables.push_back(tile_table(measured));
  return tables;
}

std::vector<StudyChart> attention_cost_charts(const AttentionCostOptions& options,
                                              const MeasuredCosts& measured) {
  std::vector<StudyChart> charts{ladder_chart(options)};
  if (measured.by_length.size() > 1) charts.push_back(time_chart(measured));
  if (measured.by_rule.size() > 1) charts.push_back(tile_chart(measured));
  return charts;
}

}  // namespace volvelle
