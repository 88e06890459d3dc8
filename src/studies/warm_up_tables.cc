#include "studies/warm_up_tables.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "studies/warm_up_findings.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

/// Digits that show the smallest rate with two figures.
int rate_digits(const WarmUpOptions& options) {
  const double smallest = *std::min_element(options.rates.begin(), options.rates.end());
  return std::max(2, 1 - static_cast<int>(std::floor(std::log10(smallest))));
}

StudyColumn rate_column(const WarmUpOptions& options, const char* key = "rate",
                        const char* title = "rate") {
  return {key, title, rate_digits(options), StudyForm::rounded};
}

StudyCell number(const std::optional<double>& value) {
  return value ? StudyCell(*value) : StudyCell();
}

/// Of what the runs lost at the end, the lower middle one.
StudyCell middle_loss(const WarmUpCell& cell) {
  std::vector<double> losses;
  for (const WarmUpOutcome& outcome : cell.outcomes) losses.push_back(outcome.last_loss);
  if (losses.empty()) return {};
  // What is not finite stands last.
  std::sort(losses.begin(), losses.end(),
            [](double a, double b) { return std::isfinite(a) && (!std::isfinite(b) || a < b); });
  return losses[(losses.size() - 1) / 2];
}

std::vector<StudyCell> name_cells(const WarmUpCell& cell) {
  return {cell.depth, cell.placement, cell.arm.name()};
}

StudyTable run_table(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyTable table{.key = "rows",
                   .title = "How runs ended",
                   .columns = {{"depth", "layers", 0},
                               {"placement", "placement", 0},
                               {"arm", "warm-up", 0},
                               rate_column(options),
                               {"learned", "learned", 0},
                               {"stuck", "stuck", 0},
                               {"broke", "broke", 0},
                               {"runs", "of", 0},
                               {"learned_low", "", 3},
                               {"learned_high", "", 3},
                               {"last_loss", "last loss", 3},
                               {"gradient_first", "", 4},
                               {"gradient_last", "", 4},
                               {"update_first", "", 4},
                               {"update_last", "", 4}},
                   .rows = {},
                   .text_rows = 1000};
  for (const WarmUpRow& row : grid.rows) {
    for (const WarmUpCell& cell : row.cells) {
      const ShareInterval share = share_interval(cell.count(RunVerdict::learned), cell.runs());
      std::vector<StudyCell> cells = name_cells(cell);
      cells.insert(cells.end(), {cell.rate, cell.count(RunVerdict::learned),
                                 cell.count(RunVerdict::stuck), cell.count(RunVerdict::broke),
                                 cell.runs(), share.low, share.high, middle_loss(cell)});
      const auto layers = stack_figures(cell);
      if (!layers.empty()) {
        cells.insert(cells.end(), {layers.front().gradient_norm, layers.back().gradient_norm,
                                   layers.front().update_ratio, layers.back().update_ratio});
      }
      cells.resize(table.columns.size());
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

StudyTable failing_table(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyTable table{
      .key = "failing_rates",
      .title =
          "The smallest rate that failed where a lower rate, or a warm-up to it, learned; it lies "
          "between the rate at which all learned and that at which none did",
      .columns = {{"depth", "layers", 0},
                  {"placement", "placement", 0},
                  {"arm", "warm-up", 0},
                  rate_column(options, "fails_from", "fails from"),
                  rate_column(options, "all_learned_at", "all at"),
                  rate_column(options, "none_learned_at", "none at"),
                  {"because", "learned", 0}},
      .rows = {},
      .identifying = 3};
  for (const WarmUpRow& row : grid.rows) {
    std::vector<StudyCell> cells = name_cells(row.front());
    if (const auto failing = failing_rate(grid, row)) {
      const char* because = failing->lower_rate_learned ? "lower rate" : "warm-up";
      if (failing->lower_rate_learned && failing->warm_up_learned) because = "both";
      cells.insert(cells.end(), {failing->rate(), number(failing->low), number(failing->high),
                                 std::string(because)});
    } else {
      const bool learned =
          std::any_of(row.cells.begin(), row.cells.end(),
                      [](const WarmUpCell& cell) { return cell.runs() > 0; }) &&
          std::all_of(row.cells.begin(), row.cells.end(), [](const WarmUpCell& cell) {
            return cell.runs() == 0 || cell.mostly_learned();
          });
      cells.insert(cells.end(), {StudyCell(), StudyCell(), StudyCell(),
                                 std::string(learned ? "all rates" : "none")});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

StudyTable pair_table(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyTable table{
      .key = "pairs",
      .title =
          "Runs in pairs of one rate, seed and sequence of batches: how many "
          "learned: both, only the first, only the second, none (without a number of layers: at "
          "all depths)",
      .columns = {{"depth", "layers", 0},
                  {"pair", "pair", 0},
                  {"first", "", 0},
                  {"second", "", 0},
                  {"both", "both", 0},
                  {"only_first", "1st", 0},
                  {"only_second", "2nd", 0},
                  {"neither", "none", 0},
                  {"chance", "p", 3}},
      .rows = {},
      .identifying = 2};
  // One comparison: a row for each depth, and one for all of them.
  const auto compare = [&](const std::string& name, const std::string& first_placement,
                           const WarmUpArm& first_arm, const std::string& second_placement,
                           const WarmUpArm& second_arm) {
    PairedRuns all;
    const auto add = [&](StudyCell depth, const PairedRuns& pairs) {
      table.rows.push_back({std::move(depth), name, first_placement + ", " + first_arm.name(),
                            second_placement + ", " + second_arm.name(), pairs.both,
                            pairs.only_first, pairs.only_second, pairs.neither, pairs.chance()});
    };
    for (const std::int64_t depth : options.depths) {
      const WarmUpRow* first = grid.row(first_placement, depth, first_arm);
      const WarmUpRow* second = grid.row(second_placement, depth, second_arm);
      if (first == nullptr || second == nullptr) return;
      const PairedRuns pairs = paired_runs(*first, *second);
      all.both += pairs.both;
      all.only_first += pairs.only_first;
      all.only_second += pairs.only_second;
      all.neither += pairs.neither;
      add(depth, pairs);
    }
    if (options.depths.size() > 1) add({}, all);
  };
  const auto arms = warm_up_arms(options.warm_up);
  for (const WarmUpArm& arm : arms) {
    for (std::size_t i = 1; i < options.placements.size(); ++i) {
      const std::string& first = options.placements.front();
      const std::string& second = options.placements[i];
      compare(arm.name() + ": " + first + " / " + second, first, arm, second, arm);
    }
  }
  for (const std::string& placement : options.placements) {
    for (const WarmUpArm& arm : arms) {
      if (arm.kind != WarmUpArm::Kind::warm_up) continue;
      for (const WarmUpArm& other : {WarmUpArm{WarmUpArm::Kind::constant, 0},
                                     WarmUpArm{WarmUpArm::Kind::mean, arm.warm_up}}) {
        compare(placement + ": " + arm.name() + " / " + other.name(), placement, arm, placement,
                other);
      }
    }
  }
  return table;
}

/// The first steps of the first and the last layer, at one rate for each depth.
StudyTable telling_table(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyTable table{.key = "first_and_last_layer",
                   .title =
                       "Gradient and update over weight of the first and of the last layer in the "
                       "first " +
                       std::to_string(kFirstSteps) + " steps (means of the first seed)",
                   .columns = {{"depth", "layers", 0},
                               {"placement", "placement", 0},
                               {"arm", "warm-up", 0},
                               rate_column(options),
                               {"gradient_first", "gradient", 3},
                               {"gradient_last", "last", 3},
                               {"update_first", "update", 4},
                               {"update_last", "last", 4}},
                   .rows = {},
                   .identifying = 4};
  for (const WarmUpRow& row : grid.rows) {
    const WarmUpCell& cell = row.cells[telling_rate(grid, row.front().depth)];
    const auto layers = stack_figures(cell);
    if (layers.empty()) continue;
    std::vector<StudyCell> cells = name_cells(cell);
    cells.insert(cells.end(), {cell.rate, layers.front().gradient_norm, layers.back().gradient_norm,
                               layers.front().update_ratio, layers.back().update_ratio});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

StudyTable first_steps_table(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyTable table{.key = "first_steps",
                   .title = "First steps, layer by layer",
                   .columns = {{"depth", "layers", 0},
                               {"placement", "placement", 0},
                               {"arm", "warm-up", 0},
                               rate_column(options),
                               {"layer", "layer", 0},
                               {"gradient_norm", "gradient", 4},
                               {"weight_norm", "weight", 3},
                               {"update_norm", "update", 5},
                               {"update_ratio", "update/weight", 5}},
                   .rows = {},
                   .text_rows = 0};
  for (const WarmUpRow& row : grid.rows) {
    for (const WarmUpCell& cell : row.cells) {
      if (cell.outcomes.empty()) continue;
      for (const LayerFigures& layer : cell.outcomes.front().layers) {
        std::vector<StudyCell> cells = name_cells(cell);
        cells.insert(cells.end(), {cell.rate, layer.layer, layer.gradient_norm, layer.weight_norm,
                                   layer.update_norm, layer.update_ratio});
        table.rows.push_back(std::move(cells));
      }
    }
  }
  return table;
}

StudyChart learned_chart(const WarmUpOptions& options, const WarmUpGrid& grid) {
  StudyChart chart;
  chart.kind = StudyChart::Kind::heat_map;
  chart.shades_to = 1;
  chart.key = "learned";
  chart.title = "Share of runs that learned (learned/stuck/broke)";
  chart.x_label = "full rate";
  chart.y_label = "layers, placement, warm-up";
  for (const double rate : options.rates) chart.columns.push_back(rate_text(rate));
  for (const WarmUpRow& row : grid.rows) {
    const WarmUpCell& front = row.front();
    chart.lines.push_back(std::to_string(front.depth) + " " + front.placement + ", " +
                          front.arm.name());
    auto& shares = chart.cells.emplace_back();
    auto& labels = chart.cell_labels.emplace_back();
    for (const WarmUpCell& cell : row.cells) {
      const std::int64_t learned = cell.count(RunVerdict::learned);
      shares.push_back(static_cast<double>(learned) / static_cast<double>(cell.runs()));
      labels.push_back(cell.runs() == 0 ? ""
                                        : std::to_string(learned) + "/" +
                                              std::to_string(cell.count(RunVerdict::stuck)) + "/" +
                                              std::to_string(cell.count(RunVerdict::broke)));
    }
  }
  return chart;
}

StudyChart gradient_chart(const WarmUpOptions& options, const WarmUpGrid& grid) {
  const std::int64_t depth = *std::max_element(options.depths.begin(), options.depths.end());
  StudyChart chart;
  chart.key = "first_gradients";
  chart.title = "Gradient norm by layer over the first " + std::to_string(kFirstSteps) +
                " steps, " + std::to_string(depth) + " layers, the lowest rate";
  chart.x_label = "layer";
  chart.y_label = "gradient norm";
  chart.log_y = true;
  for (const WarmUpRow& row : grid.rows) {
    const WarmUpCell& cell = row.front();
    const WarmUpRow* first = grid.row(cell.placement, depth, warm_up_arms(options.warm_up).front());
    if (cell.depth != depth || first != &row) continue;
    StudySeries series{.label = cell.placement, .x = {}, .y = {}, .low = {}, .high = {}};
    for (const LayerFigures& layer : stack_figures(cell)) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(layer.gradient_norm);
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<StudyTable> warm_up_tables(const WarmUpOptions& options, const WarmUpGrid& grid) {
  return {run_table(options, grid), failing_table(options, grid), pair_table(options, grid),
          telling_table(options, grid), first_steps_table(options, grid)};
}

std::vector<StudyChart> warm_up_charts(const WarmUpOptions& options, const WarmUpGrid& grid) {
  std::vector<StudyChart> charts{learned_chart(options, grid)};
  if (StudyChart gradients = gradient_chart(options, grid); !gradients.series.empty()) {
    charts.push_back(std::move(gradients));
  }
  return charts;
}

}  // namespace volvelle
