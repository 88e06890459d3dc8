#include "volvelle/studies/layer_log_tables.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

struct Figure {
  const char* key;
  const char* title;
  double LayerFigures::* member;
};

constexpr std::array kFigures{
    Figure{"gradient_norm", "gradient norm", &LayerFigures::gradient_norm},
    Figure{"weight_norm", "weight norm", &LayerFigures::weight_norm},
    Figure{"update_norm", "update norm", &LayerFigures::update_norm},
    Figure{"update_ratio", "update / weight", &LayerFigures::update_ratio},
    Figure{"activation_rms", "activation RMS", &LayerFigures::activation_rms},
};

const Figure& figure_named(const std::string& key) {
  std::vector<std::string> keys;
  for (const Figure& figure : kFigures) {
    if (key == figure.key) return figure;
    keys.emplace_back(figure.key);
  }
  throw InvalidArgument("[layer log] no figure is called '" + key + "'" + suggestion(key, keys));
}

StudyCell cell(double value) {
  return std::isnan(value) ? StudyCell(std::monostate()) : StudyCell(value);
}

}  // namespace

StudyTable layer_table(const LayerLog& log) {
  StudyTable table{
      .key = "rows",
      .title = "Layer by layer",
      .columns = {{"step", "step"}, {"loss", "loss"}, {"rate", "rate"}, {"layer", "layer"}},
      .rows = {}};
  for (const Figure& figure : kFigures) table.columns.push_back({figure.key, figure.title});
  for (const LayerRecord& record : log.records()) {
    if (record.layers.empty()) {
      std::vector<StudyCell> row{record.step, record.loss, record.rate};
      row.resize(table.columns.size());
      table.rows.push_back(std::move(row));
    }
    for (const LayerFigures& layer : record.layers) {
      std::vector<StudyCell> row{record.step, record.loss, record.rate, layer.layer};
      for (const Figure& figure : kFigures) row.push_back(cell(layer.*figure.member));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

StudyChart layer_chart(const LayerLog& log, const std::string& figure) {
  const Figure& wanted = figure_named(figure);
  StudyChart chart;
  chart.key = wanted.key;
  chart.title = std::string(wanted.title) + " by layer";
  chart.x_label = "step";
  chart.y_label = wanted.title;
  chart.log_y = true;
  for (const std::string& name : log.layers()) {
    StudySeries series{.label = name, .x = {}, .y = {}, .low = {}, .high = {}};
    for (const LayerRecord& record : log.records()) {
      for (const LayerFigures& layer : record.layers) {
        const double value = layer.*wanted.member;
        if (layer.layer != name || std::isnan(value)) continue;
        series.x.push_back(static_cast<double>(record.step));
        series.y.push_back(value);
      }
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace volvelle
