#include <cmath>
#include <numbers>
#include <string>

#include "studies/rotary_by_hand.h"
#include "studies/rotary_report.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

StudyTable frequency_table(const RotaryStudyOptions& options, const RotaryMeasured& measured) {
  const std::int64_t head_width = options.width / options.heads;
  StudyTable table{.key = "rows",
                   .title = "Pairs of a head of width " + std::to_string(head_width) +
                            ": radians per position, positions to a turn, and what another base "
                            "makes of them",
                   .columns = {{"pair", "pair", 0},
                               {"rate", "radians", 4},
                               {"turn", "a turn in", 1},
                               {"turn_at_500000", "base 500000", 1},
                               {"turn_at_100", "base 100", 1}},
                   .rows = {}};
  for (std::size_t i = 0; i < measured.rates.size(); ++i) {
    const auto turn_at = [&](double base) {
      return kTurn * std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(head_width));
    };
    table.rows.push_back({static_cast<std::int64_t>(i), measured.rates[i],
                          kTurn / measured.rates[i], turn_at(500000), turn_at(100)});
  }
  table.text_rows = 16;
  return table;
}

StudyTable hand_table() {
  StudyTable table{.key = "by_hand",
                   .title =
                       "The rotation on small numbers, pairs (x0 x2) and (x1 x3) by 90 and "
                       "45 degrees",
                   .columns = {{"what", "what"}, {"numbers", "numbers", 4, StudyForm::rounded}},
                   .rows = {}};
  const std::vector<double> right{std::numbers::pi / 2};
  const std::vector<double> numbers{1, 2, 3, 4};
  const std::vector<double> angles{std::numbers::pi / 2, std::numbers::pi / 4};
  const auto clean = [](std::vector<double> values) {
    for (double& value : values) value = std::fabs(value) < 1e-12 ? 0 : value;
    return values;
  };
  const auto add = [&](const char* what, const std::vector<double>& values) {
    table.rows.push_back({std::string(what), clean(values)});
  };
  const std::vector<double> turned = turned_by_library({1, 2}, right);
  add("(1 0) by 90 degrees", turned_by_library({1, 0}, right));
  add("(1 2) by 90 degrees", turned);
  add("its length before, after", {length_of({1, 2}), length_of(turned)});
  add("rotate_half of (1 2 3 4)", rotate_half(numbers));
  add("x cos + rotate_half(x) sin", turned_by_formula(numbers, angles));
  add("a matrix for each pair", turned_by_matrices(numbers, angles));
  add("as the library turns it", turned_by_library(numbers, angles));
  return table;
}

StudyTable shape_table(const RotaryMeasured& measured) {
  StudyTable table{.key = "shapes",
                   .title = "Shapes",
                   .columns = {{"array", "array"}, {"shape", "shape", 0}},
                   .rows = {}};
  const auto add = [&](const char* name, const Shape& shape) {
    std::vector<double> sizes;
    for (int axis = 0; axis < shape.rank(); ++axis)
      sizes.push_back(static_cast<double>(shape[axis]));
    table.rows.push_back({std::string(name), sizes});
  };
  add("x", measured.x_shape);
  add("q, k, v", measured.head_shape);
  add("output", measured.output_shape);
  return table;
}

StudyTable score_table(const RotaryMeasured& measured) {
  StudyTable table{.key = "scores",
                   .title = "Scores of one query and one key, by where they stand",
                   .columns = {{"query", "query at", 0},
                               {"key", "key at", 0},
                               {"offset", "offset", 0},
                               {"score", "score", 5}},
                   .rows = {}};
  const std::pair<std::int64_t, std::int64_t> places[] = {
      {5, 2}, {12, 9}, {23, 20}, {5, 3}, {12, 10}};
  for (const auto& [i, j] : places) {
    table.rows.push_back({i, j, i - j, measured.scores.at(i, j)});
  }
  return table;
}

StudyTable fault_table(const RotaryMeasured& measured) {
  StudyTable table{.key = "faults",
                   .title =
                       "What each check sees of a layer with a mistake (yes: passes): equal to "
                       "the layer, the same when all positions grow by " +
                       std::to_string(kRotaryShift) + ", earlier outputs the same when the last " +
                       std::to_string(kRotaryChanged) + " tokens change",
                   .columns = {{"fault", ""},
                               {"layer", "layer"},
                               {"equals_layer", "equal"},
                               {"by_offset", "shift"},
                               {"causal", "causal"},
                               {"from_layer", "off by", 4, StudyForm::rounded},
                               {"shifted", ""},
                               {"leaked", ""}},
                   .rows = {}};
  for (const FaultFigures& figures : measured.faults) {
    table.rows.push_back({figures.key, figures.name, figures.equals_layer(), figures.by_offset(),
                          figures.causal(), figures.from_layer, figures.shifted, figures.leaked});
  }
  return table;
}

}  // namespace

std::vector<StudyTable> rotary_report_tables(const RotaryStudyOptions& options,
                                             const RotaryMeasured& measured) {
  return {frequency_table(options, measured), hand_table(), shape_table(measured),
          score_table(measured), fault_table(measured)};
}

std::vector<StudyChart> rotary_report_charts(const RotaryMeasured& measured) {
  StudyChart scores;
  scores.key = "scores";
  scores.title = "Score of one query and one key by the offset between them";
  scores.x_label = "query's position - key's position";
  scores.y_label = "score";
  StudySeries by_offset{
      .label = "key at 0, or query at 0", .x = {}, .y = {}, .low = {}, .high = {}};
  for (std::int64_t offset = 1 - measured.scores.rows; offset < measured.scores.rows; ++offset) {
    by_offset.x.push_back(static_cast<double>(offset));
    by_offset.y.push_back(measured.scores.at(offset > 0 ? offset : 0, offset < 0 ? -offset : 0));
  }
  scores.series = {by_offset};

  StudyChart hands;
  hands.key = "hands";
  hands.title = "Clock hands: cosine of each pair's angle by position";
  hands.x_label = "position";
  hands.y_label = "cosine";
  hands.in_text = false;
  for (std::size_t i = 0; i < measured.rates.size() && i < 6; ++i) {
    StudySeries hand{.label = "pair " + std::to_string(i), .x = {}, .y = {}, .low = {}, .high = {}};
    for (std::int64_t p = 0; p <= 128; ++p) {
      hand.x.push_back(static_cast<double>(p));
      hand.y.push_back(std::cos(static_cast<double>(p) * measured.rates[i]));
    }
    hands.series.push_back(std::move(hand));
  }

  StudyChart map;
  map.kind = StudyChart::Kind::heat_map;
  map.key = "score_map";
  map.title = "The same over all places: one value along each diagonal";
  map.x_label = "key's position";
  map.y_label = "query's position";
  map.in_text = false;
  for (std::int64_t i = 0; i < measured.scores.rows; ++i) {
    map.columns.push_back(i % 4 == 0 ? std::to_string(i) : "");
    map.lines.push_back(std::to_string(i));
    map.cells.push_back(measured.scores.row(i));
    map.cell_labels.emplace_back(static_cast<std::size_t>(measured.scores.width));
  }
  return {scores, hands, map};
}

}  // namespace volvelle
