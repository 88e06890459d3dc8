#include "volvelle/studies/positions.h"

#include <algorithm>
#include <string>

#include "studies/positions_measured.h"
#include "studies/positions_reading.h"
#include "studies/positions_tables.h"
#include "studies/sinusoid_checks.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument("[positions] " + std::string(name) + " must be " + grouped(least) + " to " +
                        grouped(most) + ", not " + std::to_string(value));
}

void check(const PositionsStudyOptions& options) {
  check_range("tokens", options.tokens, 4, 256);
  check_range("width", options.width, 2, 512);
  if (options.width % 2 != 0) {
    throw InvalidArgument("[positions] width " + std::to_string(options.width) +
                          " is odd: sinusoidal and rotary positions take columns in pairs; take " +
                          std::to_string(options.width + 1));
  }
  check_range("draws", options.draws, 0, 10'000);
  check_range("shift", options.shift, 1, 10'000);
  check_range("learned-rows", options.learned_rows, 1, 1'000'000);
}

void add_facts(StudyResult& result, const PositionsStudyOptions& options,
               const PositionsMeasured& measured) {
  const auto add = [&](const char* key, StudyCell value) {
    result.facts.emplace_back(key, std::move(value));
  };
  add("equivariant_without_positions", measured.arm("none").equivariant());
  add("equivariant_with_sinusoidal", measured.arm("sinusoidal").equivariant());
  add("equivariant_with_causal_mask", measured.arm("none_causal").equivariant());
  add("values_weights_equivariant", measured.arm("sinusoidal_in_values").weights_equivariant());
  add("output_order_reaches", measured.arm("sinusoidal_in_output").order_reaches());
  for (const char* scheme : {"sinusoidal", "rotary", "alibi"}) {
    result.facts.emplace_back(std::string("shift_keeps_") + scheme,
                              measured.arm(scheme).shift_changes_nothing());
  }
  add("shift_is_rotation", measured.shift_off <= kTableTolerance);
  const auto pair = [&](std::int64_t p) {
    return std::vector<double>{measured.table.at(p, 0), measured.table.at(p, 1)};
  };
  add("pair_before", pair(2));
  add("pair_turned", turned_pair_two(measured.table, options.shift));
  add("pair_shifted", pair(2 + options.shift));
  const auto [low, high] =
      std::minmax_element(measured.plain.values.begin(), measured.plain.values.end());
  add("plain_least", *low);
  add("plain_largest", *high);
  add("spread_plain", measured.spread_plain);
  add("spread_projected", measured.spread_projected);
  if (!measured.draws.empty()) {
    const auto by_spread = [](const auto& a, const auto& b) { return a.spread < b.spread; };
    const auto [least, most] =
        std::minmax_element(measured.draws.begin(), measured.draws.end(), by_spread);
    add("draws_least", least->spread);
    add("draws_largest", most->spread);
  }
  add("learned_parameters", measured.learned_parameters);
  add("learned_last", options.learned_rows - 1);
  add("learned_refusal", measured.learned_refusal);
  add("bias_row_0", measured.bias.row(0));
  add("bias_row_3", measured.bias.row(3));
}

}  // namespace

StudyResult study_positions(const PositionsStudyOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "positions";
  result.question =
      "Which ways of giving position let attention see order, and what does each keep?";
  result.setup = {
      {"tokens", std::to_string(options.tokens) + " of width " + std::to_string(options.width) +
                     ", one head, projections of deviation 0.4, PyTorch's random numbers, seed " +
                     std::to_string(options.seed)},
      {"schemes", "every one of `volvelle schemes`, tables drawn; no mask unless said"},
      {"counts as equal", "within " + shortest(ArmFigures::kTolerance)}};
  PositionsMeasured measured;
  result.complete = measure_positions(options, run, measured);
  if (!result.complete) {
    result.tables.push_back(positions_tables(measured).front());
    return result;
  }
  add_facts(result, options, measured);
  result.tables = positions_tables(measured);
  result.charts = positions_charts(options, measured);
  result.controls = positions_controls(measured);
  result.reading = positions_reading(options, measured);
  result.limits = {
      "The spread after projections is of random, untrained matrices: one draw, and others beside "
      "it. It is not evidence about a trained model, which may learn projections that keep the "
      "offset; whether one does has to be measured.",
      "A formula for every position is no promise for every length: whether a model uses unseen "
      "positions well has to be tested (`volvelle study extrapolation`).",
      "The bias table is an illustration, not learned. That rarely seen rows of a learned table "
      "are trained poorly is not measured here."};
  return result;
}

}  // namespace volvelle
