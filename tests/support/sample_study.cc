#include "support/sample_study.h"

#include <cmath>

namespace volvelle::testing {

StudyResult sample_study() {
  StudyResult result;
  result.name = "sample";
  result.question = "Does a longer lever lift more?";
  result.setup = {{"lever", "oak"}, {"length", "1 to 3 m"}};
  result.facts = {{"weights", std::int64_t{3}}, {"mean", 1.5}};
  result.tables.push_back(
      {.key = "rows",
       .title = "Lift by length",
       .columns = {{"length", "length", 1},
                   {"lift", "lift", 3},
                   {"share", "share", 0, StudyForm::percent},
                   {"held", "held", 0},
                   {"note", "note", 0},
                   {"samples", "", 2}},
       .rows = {{1.0, 0.1, 0.25, true, "a \"first\", try", std::vector{0.5, 1.0}},
                {2.0, 0.0801, 0.775, false, StudyCell(), StudyCell()}}});
  result.tables.push_back({.key = "layers",
                           .title = "By layer",
                           .columns = {{"layer", "layer", 0}, {"norm", "norm", 2}},
                           .rows = {{std::int64_t{1}, std::nan("")}}});
  StudyChart lines;
  lines.key = "lift";
  lines.title = "Lift";
  lines.x_label = "length";
  lines.y_label = "kilograms";
  lines.log_y = true;
  lines.series = {{"oak", {1, 2, 3}, {1, 10, 100}, {0.5, 5, 50}, {2, 20, 200}},
                  {"pine", {1, 2, 3}, {0, 1, 5}, {}, {}}};
  StudyChart bars;
  bars.kind = StudyChart::Kind::bars;
  bars.key = "woods";
  bars.title = "Woods";
  bars.columns = {"oak", "pine"};
  bars.series = {{"mean", {}, {4, -2}, {3, -3}, {5, -1}}};
  StudyChart map;
  map.kind = StudyChart::Kind::heat_map;
  map.key = "grid";
  map.title = "Grid";
  map.x_label = "rate";
  map.y_label = "depth";
  map.columns = {"0.1", "1"};
  map.lines = {"6", "12"};
  map.cells = {{0, 0.5}, {1, std::nan("")}};
  map.cell_labels = {{"0/3", "1/2"}, {"3/3", ""}};
  result.charts = {lines, bars, map};
  result.controls.push_back(
      {.what = "The lever without a pivot.",
       .check = "it lifts more than 1 kg.",
       .failed = true,
       .figures = "0 kg.",
       .tables = {
           {.key = "rows", .title = "", .columns = {{"lift", "lift", 1}}, .rows = {{0.0}}}}});
  result.reading = {"Longer lifts more."};
  result.limits = {"One lever & one pivot."};
  return result;
}

}  // namespace volvelle::testing
