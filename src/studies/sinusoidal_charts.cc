#include <algorithm>
#include <numbers>
#include <string>

#include "studies/sinusoidal_tables.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostCells = 64;  // of a heat map, each way

// Columns of the table down, positions across: bands that get wider from pair to pair.
StudyChart table_chart(const SinusoidalMeasured& measured) {
  const PositionRows& table = measured.table;
  const std::int64_t positions = std::min(table.rows, kMostCells);
  const std::int64_t width = std::min(table.width, kMostCells);
  StudyChart chart;
  chart.kind = StudyChart::Kind::heat_map;
  chart.key = "table";
  chart.title = "The table: sines and cosines of each pair below each other";
  chart.x_label = "position";
  chart.y_label = "column";
  chart.shades_from = -1;
  chart.shades_to = 1;
  chart.in_text = false;
  for (std::int64_t p = 0; p < positions; ++p) {
    chart.columns.push_back(p % 5 == 0 ? std::to_string(p) : "");
  }
  for (std::int64_t c = 0; c < width; ++c) {
    chart.lines.push_back((c % 2 == 0 ? "sin " : "cos ") + std::to_string(c / 2));
    chart.cells.emplace_back();
    for (std::int64_t p = 0; p < positions; ++p) chart.cells.back().push_back(table.at(p, c));
    chart.cell_labels.emplace_back(static_cast<std::size_t>(positions));
  }
  return chart;
}

StudyChart wave_chart(const SinusoidalMeasured& measured) {
  StudyChart chart;
  chart.key = "wavelengths";
  chart.title = "Positions that a pair needs for a turn";
  chart.x_label = "pair";
  chart.y_label = "positions";
  chart.log_y = true;
  StudySeries geometric{
      .label = "equal ratios (the table)", .x = {}, .y = {}, .low = {}, .high = {}};
  StudySeries linear{.label = "equal steps", .x = {}, .y = {}, .low = {}, .high = {}};
  const std::vector<double>& waves = measured.figures[kByScheme].waves;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    geometric.x.push_back(static_cast<double>(i));
    geometric.y.push_back(waves[i]);
    linear.x.push_back(static_cast<double>(i));
    linear.y.push_back(2 * std::numbers::pi / measured.linear.rates[i]);
  }
  chart.series = {geometric, linear};
  return chart;
}

StudyChart distance_chart(const SinusoidalStudyOptions& options,
                          const SinusoidalMeasured& measured) {
  constexpr std::int64_t kFurthest = 240;
  StudyChart chart;
  chart.key = "distances";
  chart.title = "How far rows lie apart, by the positions between them";
  chart.x_label = "positions between the rows";
  chart.y_label = "distance";
  const auto series = [&](const char* label, const FrequencyLadder& ladder) {
    StudySeries line{.label = label, .x = {}, .y = {}, .low = {}, .high = {}};
    for (std::int64_t k = 0; k <= std::min(kFurthest, options.rows - 1); ++k) {
      line.x.push_back(static_cast<double>(k));
      line.y.push_back(distance_at(ladder, k));
    }
    return line;
  };
  chart.series = {series("equal ratios (the table)", measured.geometric),
                  series("equal steps", measured.linear)};
  chart.in_text = false;
  return chart;
}

StudyChart precision_chart(const SinusoidalMeasured& measured) {
  StudyChart chart;
  chart.key = "precision";
  chart.title = "Largest error of a value, by position";
  chart.x_label = "position";
  chart.y_label = "error";
  chart.log_x = true;
  chart.log_y = true;
  chart.in_text = false;
  for (const TableVariant kind : {kHalfPositions, kBrainPositions, kHalfAngles, kHalfTable}) {
    StudySeries line{
        .label = sinusoid_variants()[kind].name, .x = {}, .y = {}, .low = {}, .high = {}};
    for (const PrecisionBand& band : measured.bands) {
      if (band.error.size() < kTableVariants || band.last < 1) continue;
      line.x.push_back(static_cast<double>(band.last));
      line.y.push_back(band.error[kind]);
    }
    chart.series.push_back(std::move(line));
  }
  return chart;
}

}  // namespace

std::vector<StudyChart> sinusoidal_charts(const SinusoidalStudyOptions& options,
                                          const SinusoidalMeasured& measured) {
  return {table_chart(measured), wave_chart(measured), distance_chart(options, measured),
          precision_chart(measured)};
}

}  // namespace volvelle
