#include "studies/positions_measured.h"

#include <algorithm>

#include "studies/sinusoid_checks.h"
#include "volvelle/attention/steps.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

// Queries and keys of zeros leave the bias alone in the scores.
PositionRows clamped_bias(std::int64_t tokens) {
  const auto scheme = make_positions("clamped(max=2)", {.width = 8, .heads = 1, .causal = false});
  for (const NamedParameter& parameter : scheme->parameters()) {
    Variable variable = parameter.variable;
    const MutableView table = variable.change();
    std::copy(std::begin(kExampleBias), std::end(kExampleBias), static_cast<float*>(table.data()));
  }
  AttendVariableOptions options;
  scheme->enter(options, {.positions = tokens});
  const Tensor zeros = Tensor::zeros(DType::float32, Shape{tokens, 1});
  const AttentionSteps steps = attention_steps({.q = zeros.view(),
                                                .k = zeros.view(),
                                                .v = zeros.view(),
                                                .bias_table = options.bias_table.view()});
  const float* biased = steps.biased.data<float>();
  return {tokens, tokens, {biased, biased + tokens * tokens}};
}

void measure_learned(std::int64_t rows, std::int64_t width, PositionsMeasured& measured) {
  const auto learned = make_positions("learned(rows=" + std::to_string(rows) + ")",
                                      {.width = width, .heads = 1, .head_width = width});
  measured.learned_parameters = learned->parameter_count();
  const Variable token(Tensor::zeros(DType::float32, Shape{1, 1, width}));
  try {
    learned->add_to_tokens(token, View(&rows, Shape{1}));
  } catch (const InvalidArgument& error) {
    measured.learned_refusal = error.what();
  }
}

PositionRows first_rows(const PositionRows& table, std::int64_t rows) {
  const auto begin = table.values.begin();
  return {rows, table.width, {begin, begin + rows * table.width}};
}

}  // namespace

const ArmFigures& PositionsMeasured::arm(const std::string& key) const {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (arms[i].key == key) return figures[i];
  }
  throw InternalError("[positions] no arm is called '" + key + "'; please report this");
}

bool measure_positions(const PositionsStudyOptions& options, const StudyRun& run,
                       PositionsMeasured& measured) {
  const PositionProblem problem =
      draw_position_problem(options.tokens, options.width, options.seed);
  measured.arms =
      position_arms(options.width, std::max(options.learned_rows, options.tokens + kArmShift));
  for (const PositionArm& arm : measured.arms) {
    if (run.stopped && run.stopped()) return false;
    if (run.progress) {
      run.progress(
          static_cast<double>(measured.figures.size()) / static_cast<double>(measured.arms.size()),
          arm.name);
    }
    measured.figures.push_back(measure_arm(arm, problem));
  }
  const std::int64_t rows = std::max<std::int64_t>(options.tokens, 3) + options.shift;
  measured.table = added_rows("sinusoidal", rows, options.width);
  measured.shift_off = sinusoid_figures(measured.table, 10000, options.shift).shift_off;
  const PositionRows table = first_rows(measured.table, options.tokens);
  measured.plain = row_products(table);
  measured.projected = projected_products(table, problem);
  measured.plain_spreads = offset_spreads(measured.plain);
  measured.projected_spreads = offset_spreads(measured.projected);
  measured.spread_plain = widest_spread(measured.plain_spreads, options.tokens);
  const std::int64_t most = projected_offsets(options.tokens);
  measured.spread_projected = widest_spread(measured.projected_spreads, most);
  for (std::int64_t draw = 1; draw <= options.draws; ++draw) {
    const auto seed = static_cast<std::uint64_t>(draw);
    const PositionProblem other = draw_position_problem(options.tokens, options.width, seed);
    measured.draws.push_back(
        {seed, widest_spread(offset_spreads(projected_products(table, other)), most)});
  }
  measure_learned(options.learned_rows, options.width, measured);
  measured.bias = clamped_bias(options.tokens);
  return true;
}

}  // namespace volvelle
