#include "volvelle/studies/rotary.h"

#include <cmath>
#include <numbers>
#include <string>

#include "studies/rotary_by_hand.h"
#include "studies/rotary_report.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[rotary] " + text); }

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(std::string(name) + " must be " + grouped(least) + " to " + grouped(most) + ", not " +
         std::to_string(value));
}

void check(const RotaryStudyOptions& options) {
  check_range("width", options.width, 2, 512);
  check_range("heads", options.heads, 1, 256);
  check_range("tokens", options.tokens, kRotaryChanged + 1, 256);
  check_range("batch", options.batch, 1, 64);
  if (options.width % options.heads != 0) {
    refuse("width " + std::to_string(options.width) + " is not a multiple of " +
           std::to_string(options.heads) + " heads");
  }
  const std::int64_t head_width = options.width / options.heads;
  if (head_width % 2 != 0) {
    refuse("heads of width " + std::to_string(head_width) +
           " are odd: columns turn in pairs; take another number of heads");
  }
  if (!std::isfinite(options.base) || options.base <= 1) {
    refuse("base must be above 1, not " + shortest(options.base) +
           ": the rates fall from pair to pair by a power of it");
  }
}

void add_facts(StudyResult& result, const RotaryMeasured& measured) {
  const auto add = [&](const char* key, StudyCell value) {
    result.facts.emplace_back(key, std::move(value));
  };
  constexpr double kTolerance = FaultFigures::kTolerance;
  add("score_5_2", measured.score_5_2);
  add("score_12_9", measured.score_12_9);
  add("score_5_3", measured.score_5_3);
  add("score_spread", measured.score_spread);
  add("matches_attention", measured.from_attention <= kTolerance);
  add("equals_pairwise", measured.from_pairs <= kTolerance);
  add("values_untouched", measured.from_values <= kTolerance);
  add("length_change", measured.length_change);
  add("causal_with_mask", measured.leak_with_mask <= 1e-6);
  add("causal_without_mask", measured.leak_without_mask <= 1e-6);
  add("parameters", measured.parameters);
  add("rotation_parameters", measured.scheme_parameters);
  const std::vector<double> numbers{1, 2, 3, 4};
  const std::vector<double> angles{std::numbers::pi / 2, std::numbers::pi / 4};
  const std::vector<double> formula = turned_by_formula(numbers, angles);
  const std::vector<double> library = turned_by_library(numbers, angles);
  bool equal = true;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    equal = equal && std::fabs(formula[i] - library[i]) < 1e-6 &&
            std::fabs(formula[i] - turned_by_matrices(numbers, angles)[i]) < 1e-6;
  }
  add("three_ways_equal", equal);
  add("converted_difference", measured.from_converted);
}

}  // namespace

StudyResult study_rotary(const RotaryStudyOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "rotary";
  result.question =
      "What does turning queries and keys by their positions do, and which mistakes does each "
      "check see?";
  result.setup = {
      {"layer", "causal, width " + std::to_string(options.width) + ", " +
                    std::to_string(options.heads) + " heads, base " + shortest(options.base) +
                    ", no biases, PyTorch's initial values, seed " + std::to_string(options.seed)},
      {"tokens", std::to_string(options.batch) + " x " + std::to_string(options.tokens)},
      {"a pair",
       "(a b) at position p becomes (a cos - b sin, a sin + b cos) of the angle p w_i, "
       "w_i = base^(-2i/D)"},
      {"counts as equal", "within " + shortest(FaultFigures::kTolerance)}};
  RotaryMeasured measured;
  result.complete = measure_rotary(options, run, measured);
  add_facts(result, measured);
  result.tables = rotary_report_tables(options, measured);
  result.charts = rotary_report_charts(measured);
  if (!result.complete) return result;
  result.controls = rotary_report_controls(measured);
  result.reading = rotary_report_reading(options, measured);
  result.limits = {
      "Angles at positions beyond those a model was trained on are outside what it knows: longer "
      "texts do not come for free and have to be measured (`volvelle study extrapolation`).",
      "The layer is untrained: what a mistake costs a trained model is `volvelle study "
      "position-faults`."};
  return result;
}

}  // namespace volvelle
