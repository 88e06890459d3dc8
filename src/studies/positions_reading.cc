#include "studies/positions_reading.h"

#include <algorithm>
#include <cmath>

#include "studies/sinusoid_checks.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

const char* truth(bool value) { return value ? "true" : "false"; }

std::string pair_text(double first, double second) {
  return "(" + rounded(first, 3) + " " + rounded(second, 3) + ")";
}

std::string row_text(const std::vector<double>& row) {
  std::string text;
  for (const double value : row) text += (text.empty() ? "" : " ") + rounded(value, 1);
  return text;
}

// Names of schemes for which something holds.
template <class Holds>
std::string schemes_that(const PositionsMeasured& measured, Holds holds) {
  std::string names;
  for (std::size_t i = 0; i < measured.figures.size(); ++i) {
    const PositionArm& arm = measured.arms[i];
    const bool plain = arm.added_to == AddedTo::input && !arm.causal;
    if (plain && holds(measured.figures[i])) names += (names.empty() ? "" : ", ") + arm.name;
  }
  return names.empty() ? "no scheme" : names;
}

StudyControl order_control(const PositionsMeasured& measured) {
  const ArmFigures& figures = measured.arm("sinusoidal");
  StudyControl control;
  control.what = "Sinusoidal positions added to the shuffled tokens.";
  control.check = "attention of shuffled tokens equals shuffled attention.";
  control.failed = !figures.equivariant();
  control.figures = "they differ by " + rounded(figures.shuffled, 3) + "; without positions by " +
                    rounded(measured.arm("none").shuffled, 2) + ".";
  return control;
}

StudyControl output_control(const PositionsMeasured& measured) {
  const ArmFigures& output = measured.arm("sinusoidal_in_output");
  const ArmFigures& values = measured.arm("sinusoidal_in_values");
  StudyControl control;
  control.what = "Positions added to what attention gives, in place of what it reads.";
  control.check = "the order of the other tokens reaches a token that stays in its place.";
  control.failed = !output.order_reaches();
  control.figures = "its output differs by " + rounded(output.reached, 2) +
                    " when the others change places; added to the input by " +
                    rounded(measured.arm("sinusoidal").reached, 3) +
                    ". Added to the values alone the output does change, but the weights of "
                    "shuffled tokens are still the shuffled weights (" +
                    truth(values.weights_equivariant()) + "): nobody can look for a place.";
  return control;
}

StudyControl projection_control(const PositionsMeasured& measured) {
  StudyControl control;
  control.what = "Queries and keys of the rows by random projections, before they are multiplied.";
  control.check = "products depend on the offset alone: their spread along diagonals is 0.";
  double least = measured.spread_projected;
  for (const DrawnSpread& draw : measured.draws) least = std::min(least, draw.spread);
  control.failed = least > kTableTolerance;
  control.figures = "the spread is " + fixed(measured.spread_projected, 3) + ", and at least " +
                    fixed(least, 2) + " over all draws.";
  return control;
}

std::string equivariance_reading(const PositionsMeasured& measured) {
  return std::string("Without positions, attention of shuffled tokens is shuffled attention: ") +
         truth(measured.arm("none").equivariant()) +
         ", so two texts of the same words look alike. With sinusoidal positions: " +
         truth(measured.arm("sinusoidal").equivariant()) +
         ". Without positions but under a causal mask: " +
         truth(measured.arm("none_causal").equivariant()) +
         ": who may see whom is an order too, though the last token, which sees all, still does "
         "not notice the others change places.";
}

std::string shift_reading(const PositionsMeasured& measured) {
  return "When all positions grow by " + std::to_string(kArmShift) + ", nothing changes with " +
         schemes_that(measured, [](const ArmFigures& f) { return f.shift_changes_nothing(); }) +
         "; outputs change with " +
         schemes_that(measured, [](const ArmFigures& f) { return !f.shift_changes_nothing(); }) +
         ". Relative schemes change the attention formula, not the embeddings: a pattern such as "
         "\"the previous token\" is the same everywhere.";
}

std::string rotation_reading(const PositionsStudyOptions& options,
                             const PositionsMeasured& measured) {
  const std::string k = std::to_string(options.shift);
  const std::vector<double> turned = turned_pair_two(measured.table, options.shift);
  const std::int64_t to = 2 + options.shift;
  return k + " positions on is a fixed rotation in every pair: " +
         truth(measured.shift_off <= kTableTolerance) + ". Pair 0 at position 2, " +
         pair_text(measured.table.at(2, 0), measured.table.at(2, 1)) + ", turned by " + k +
         " radians is " + pair_text(turned[0], turned[1]) + "; pair 0 at position " +
         std::to_string(to) + " is " +
         pair_text(measured.table.at(to, 0), measured.table.at(to, 1)) + ".";
}

std::string spread_reading(const PositionsStudyOptions& options,
                           const PositionsMeasured& measured) {
  const auto [low, high] =
      std::minmax_element(measured.plain.values.begin(), measured.plain.values.end());
  std::string text =
      "The product of two rows is the sum of cosines of (i - j) times each rate, so it depends on "
      "the offset alone: spread along diagonals " +
      fixed(measured.spread_plain < 5e-7 ? 0 : measured.spread_plain, 1) + ", values from " +
      rounded(*low, 2) + " to " + rounded(*high, 2) +
      " (never beyond d/2 = " + std::to_string(options.width / 2) +
      "). After random projections it is " + fixed(measured.spread_projected, 3) +
      " over offsets -" + std::to_string(projected_offsets(options.tokens)) + " to " +
      std::to_string(projected_offsets(options.tokens));
  if (!measured.draws.empty()) {
    const auto [least, most] =
        std::minmax_element(measured.draws.begin(), measured.draws.end(),
                            [](const auto& a, const auto& b) { return a.spread < b.spread; });
    text += ", and " + fixed(least->spread, 2) + " to " + fixed(most->spread, 2) + " over " +
            std::to_string(measured.draws.size()) + " other draws";
  }
  return text + ".";
}

std::string learned_reading(const PositionsStudyOptions& options,
                            const PositionsMeasured& measured) {
  return "A learned table of " + std::to_string(options.learned_rows) + " rows and width " +
         std::to_string(options.width) + " has " + grouped(measured.learned_parameters) +
         " parameters and no row after its last: " + measured.learned_refusal + ".";
}

std::string bias_reading(const PositionsMeasured& measured) {
  return "A bias by offset is the same along every diagonal: row 0 is " +
         row_text(measured.bias.row(0)) + " and row 3 is " + row_text(measured.bias.row(3)) +
         ", which from column 3 on is row 0 again; offset -3 shares the number of offset -2.";
}

}  // namespace

std::vector<double> turned_pair_two(const PositionRows& table, std::int64_t shift) {
  const auto angle = static_cast<double>(shift);
  const double sine = table.at(2, 0), cosine = table.at(2, 1);
  return {sine * std::cos(angle) + cosine * std::sin(angle),
          cosine * std::cos(angle) - sine * std::sin(angle)};
}

std::vector<StudyControl> positions_controls(const PositionsMeasured& measured) {
  return {order_control(measured), output_control(measured), projection_control(measured)};
}

std::vector<std::string> positions_reading(const PositionsStudyOptions& options,
                                           const PositionsMeasured& measured) {
  return {equivariance_reading(measured),      shift_reading(measured),
          rotation_reading(options, measured), spread_reading(options, measured),
          learned_reading(options, measured),  bias_reading(measured)};
}

}  // namespace volvelle
