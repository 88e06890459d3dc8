#include "studies/rotary_report.h"

#include <numbers>

#include "studies/rotary_by_hand.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

const char* truth(bool value) { return value ? "true" : "false"; }

const FaultFigures& fault(const RotaryMeasured& measured, RotaryFault wanted) {
  for (const FaultFigures& figures : measured.faults) {
    if (figures.fault == wanted) return figures;
  }
  return measured.faults.front();
}

StudyControl control(std::string what, std::string check, bool failed, std::string figures) {
  StudyControl made;
  made.what = std::move(what);
  made.check = std::move(check);
  made.failed = failed;
  made.figures = std::move(figures);
  return made;
}

std::string row_text(const std::vector<double>& row, int digits) {
  std::string text;
  for (const double value : row) text += (text.empty() ? "" : " ") + rounded(value, digits);
  return text;
}

std::string hand_reading() {
  const std::vector<double> numbers{1, 2, 3, 4};
  const std::vector<double> angles{std::numbers::pi / 2, std::numbers::pi / 4};
  const std::vector<double> formula = turned_by_formula(numbers, angles);
  double apart = 0;
  for (const auto& other :
       {turned_by_matrices(numbers, angles), turned_by_library(numbers, angles)}) {
    for (std::size_t i = 0; i < formula.size(); ++i)
      apart = std::max(apart, std::abs(formula[i] - other[i]));
  }
  return "Turning keeps lengths. (1 2 3 4) with its pairs turned by 90 and 45 degrees is " +
         row_text(formula, 4) +
         " by cosine, sine and half-turn, by a matrix for each pair, and by "
         "the library: equal: " +
         truth(apart < 1e-6) + ".";
}

std::string layer_reading(const RotaryStudyOptions& options, const RotaryMeasured& measured) {
  return "The layer's output equals the library's fused causal attention of its turned heads: " +
         std::string(truth(measured.from_attention <= FaultFigures::kTolerance)) +
         "; its turned queries and keys equal a loop over positions and pairs: " +
         truth(measured.from_pairs <= FaultFigures::kTolerance) +
         "; its values are as they were projected: " +
         truth(measured.from_values <= FaultFigures::kTolerance) + ". It has " +
         std::to_string(measured.parameters) +
         " parameters, 4 C^2 = " + std::to_string(4 * options.width * options.width) +
         "; turning has " + std::to_string(measured.scheme_parameters) +
         ", and nothing is added to the tokens.";
}

std::string score_reading(const RotaryMeasured& measured) {
  return "A score depends on the content and the offset: score(5,2) = " +
         fixed(measured.score_5_2, 5) + " and score(12,9) = " + fixed(measured.score_12_9, 5) +
         ", score(5,3) = " + fixed(measured.score_5_3, 5) + ". Over all places up to " +
         std::to_string(measured.scores.rows - 1) + " scores of one offset differ by at most " +
         rounded(measured.score_spread, 7) + ".";
}

std::string causal_reading(const RotaryMeasured& measured) {
  return "With the mask, earlier outputs stay when later tokens change: " +
         std::string(truth(measured.leak_with_mask <= 1e-6)) +
         ". With the mask switched off: " + truth(measured.leak_without_mask <= 1e-6) +
         " (they move by " + rounded(measured.leak_without_mask, 3) + "), so the check can fail.";
}

std::string pairing_reading(const RotaryMeasured& measured) {
  const FaultFigures& swapped = fault(measured, RotaryFault::pairing_swapped);
  return "Both pairings are right, weights belong to one: the same weights turned by the other "
         "are " +
         rounded(swapped.from_layer, 3) +
         " from the layer, though offsets and causality hold; weights that were converted give "
         "the layer's output by the other pairing within " +
         rounded(measured.from_converted, 8) + ".";
}

}  // namespace

std::vector<StudyControl> rotary_report_controls(const RotaryMeasured& measured) {
  const FaultFigures& values = fault(measured, RotaryFault::values_turned);
  const FaultFigures& rates = fault(measured, RotaryFault::rates_of_width);
  const FaultFigures& pairing = fault(measured, RotaryFault::pairing_swapped);
  return {
      control("The layer with its mask switched off.",
              "earlier outputs stay when the last " + std::to_string(kRotaryChanged) +
                  " tokens change.",
              measured.leak_without_mask > 1e-6,
              "they move by " + rounded(measured.leak_without_mask, 3) + "; with the mask by " +
                  rounded(measured.leak_with_mask, 3) + "."),
      control("Values turned as queries and keys are.",
              "the output stays when all positions grow by " + std::to_string(kRotaryShift) + ".",
              !values.by_offset(),
              "it moves by " + rounded(values.shifted, 3) + "; with values as they are by " +
                  rounded(measured.faults.front().shifted, 2) + "."),
      control("Rates with the model's width in the exponent, in place of the head's.",
              "the output equals the layer's.", !rates.equals_layer(),
              "it is " + rounded(rates.from_layer, 3) +
                  " from it. A shift of all positions does not see it."),
      control("Neighbouring columns turned together, with weights of the split halves.",
              "the output equals the layer's.", !pairing.equals_layer(),
              "it is " + rounded(pairing.from_layer, 3) +
                  " from it. A shift of all positions does not see it.")};
}

std::vector<std::string> rotary_report_reading(const RotaryStudyOptions& options,
                                               const RotaryMeasured& measured) {
  return {hand_reading(), layer_reading(options, measured), score_reading(measured),
          causal_reading(measured), pairing_reading(measured)};
}

}  // namespace volvelle
