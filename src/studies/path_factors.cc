#include "volvelle/studies/path_factors.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostLayers = 100'000;
constexpr std::int64_t kMostPoints = 240;  // of a line in the chart
constexpr double kSteady = 0.01;           // a share within this of 1 counts as unchanged

void check(const PathFactorsOptions& options) {
  if (options.layers < 1 || options.layers > kMostLayers) {
    throw InvalidArgument("[path-factors] layers must be 1 to " + grouped(kMostLayers) + ", not " +
                          std::to_string(options.layers));
  }
  if (options.factors.empty()) {
    throw InvalidArgument(
        "[path-factors] no factor is given; 0.9 is one, for a layer that takes "
        "a tenth of the gradient away");
  }
  for (std::size_t i = 0; i < options.factors.size(); ++i) {
    const double factor = options.factors[i];
    if (!std::isfinite(factor) || factor <= 0) {
      throw InvalidArgument("[path-factors] a factor must be a number above 0, not " +
                            shortest(factor) + "; sizes have no sign");
    }
    if (std::count(options.factors.begin(), options.factors.end(), factor) > 1) {
      throw InvalidArgument("[path-factors] the factor " + shortest(factor) +
                            " is given twice; each is a row of its own");
    }
  }
}

// The shares that are left on the way, layer by layer: every so many, the first and the last
// always.
StudySeries walk(double factor, std::int64_t layers) {
  StudySeries series{
      .label = "factor " + shortest(factor), .x = {0}, .y = {1}, .low = {}, .high = {}};
  const std::int64_t every = 1 + (layers - 1) / kMostPoints;
  double share = 1;
  for (std::int64_t layer = 1; layer <= layers; ++layer) {
    share *= factor;
    if (layer % every != 0 && layer != layers) continue;
    series.x.push_back(static_cast<double>(layer));
    series.y.push_back(share);
  }
  return series;
}

bool moves(double share) { return std::fabs(share - 1) > kSteady; }

std::string layers_text(std::int64_t layers) {
  return grouped(layers) + (layers == 1 ? " layer" : " layers");
}

// Three significant digits.
std::string brief(double value) {
  if (value == 0) return "0";
  const double size = std::fabs(value);
  if (size >= 1e4 || size < 1e-3) return rounded(value, size < 1e-3 ? 3 : 0);
  return rounded(value, std::max(0, 2 - static_cast<int>(std::floor(std::log10(size)))));
}

// Layers until a factor has halved or doubled a gradient.
StudyCell layers_to_two(double factor) {
  const double rate = std::fabs(std::log2(factor));
  return rate > 0 ? StudyCell(1 / rate) : StudyCell();
}

std::string reading(double factor, double left, std::int64_t layers) {
  const std::string about = "A factor of " + shortest(factor) + " a layer ";
  if (left == 0 || !std::isfinite(left)) {
    return about + (left == 0 ? "leaves less than" : "makes more than") +
           " a double can hold after " + layers_text(layers) + '.';
  }
  if (!moves(left)) {
    return about + "keeps the gradient's size over " + layers_text(layers) + " (" + fixed(left, 3) +
           " of it).";
  }
  const std::string halves = rounded(1 / std::fabs(std::log2(factor)), 1) +
                             (left < 1 ? " layers halve it." : " layers double it.");
  return about + (left < 1 ? "leaves " : "makes ") + fixed(left, 3) + " of the gradient " +
         (left < 1 ? "after " : "over ") + layers_text(layers) + ": " +
         (left < 1 ? brief(1 / left) + " times less" : brief(left) + " times as much") +
         (left < 1 ? " at the first layer than" : " at the first layer as") + " at the last; " +
         halves;
}

StudyChart chart_of(const PathFactorsOptions& options) {
  StudyChart chart;
  chart.key = "shares";
  chart.title = "Share of the gradient that is left";
  chart.x_label = "layers walked back";
  chart.y_label = "share left";
  chart.log_y = true;
  for (const double factor : options.factors) {
    chart.series.push_back(walk(factor, options.layers));
  }
  return chart;
}

StudyControl control_of(std::int64_t layers) {
  const double left = walk(1, layers).y.back();
  StudyControl control;
  control.what =
      "The same walk with a factor of 1: the untouched copy that a residual connection "
      "passes on.";
  control.check = "what is left differs from 1 by more than " + rounded(kSteady, 2) + ".";
  control.failed = !moves(left);
  control.figures = fixed(left, 3) + " is left after " + layers_text(layers) + '.';
  return control;
}

}  // namespace

StudyResult study_path_factors(const PathFactorsOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "path-factors";
  result.question =
      "If each layer multiplies a gradient by one factor on its way back, what is "
      "left of it at the first layer?";
  std::string factors;
  for (const double factor : options.factors) {
    factors += (factors.empty() ? "" : ", ") + shortest(factor);
  }
  result.setup = {{"layers", grouped(options.layers)}, {"factors", factors}};
  result.facts = {{"layers", options.layers}};
  StudyTable table{.key = "rows",
                   .title = "Share of the gradient left after " + layers_text(options.layers),
                   .columns = {{"factor", "factor a layer", 6, StudyForm::rounded},
                               {"left", "left", 3},
                               {"changed", "differs from 1", 0},
                               {"layers_to_two", "layers to half or double", 1}},
                   .rows = {}};
  for (std::size_t i = 0; i < options.factors.size(); ++i) {
    if (run.stopped && run.stopped()) {
      result.complete = false;
      break;
    }
    const double factor = options.factors[i];
    const double left = walk(factor, options.layers).y.back();
    table.rows.push_back({factor, left, moves(left), layers_to_two(factor)});
    result.reading.push_back(reading(factor, left, options.layers));
  }
  result.tables.push_back(std::move(table));
  result.charts.push_back(chart_of(options));
  result.controls.push_back(control_of(options.layers));
  result.limits = {
      "Illustrative: not a model of a real network. A layer's factor differs from layer to layer "
      "and from direction to direction; norm-placement measures what reaches each layer."};
  return result;
}

}  // namespace volvelle
