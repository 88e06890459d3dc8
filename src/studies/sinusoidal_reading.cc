#include "studies/sinusoidal_reading.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

std::string pair_text(double first, double second) {
  return "(" + rounded(first, 4) + " " + rounded(second, 4) + ")";
}

std::string list(const std::vector<double>& numbers, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < most; ++i) {
    text += (i == 0 ? "" : " ") + fixed(numbers[i], 1);
  }
  return text + (numbers.size() > most ? " ..." : "");
}

std::string passes(bool passed) { return passed ? "pass" : "fail"; }

StudyControl exponent_control(const SinusoidalMeasured& measured) {
  const SinusoidFigures& figures = measured.figures[kHalfExponent];
  StudyControl control;
  control.what =
      "The exponent i/d in place of 2i/d: a mistake that still gives bounded sines and "
      "cosines.";
  control.check = "the table equals the literal loop, and its wavelengths are 2 pi base^(2i/d).";
  control.failed = !figures.equals_loop() && !figures.has_waves();
  control.figures =
      "it is " + rounded(figures.from_loop, 3) + " from the loop, its wavelengths " +
      list(figures.waves, 8) + ". Its rows' lengths " + passes(figures.has_lengths()) + " and " +
      grouped(measured.distinct[kHalfExponent]) + " of " +
      grouped(measured.of_rows[kHalfExponent]) + " rows are distinct: those checks do not see it.";
  return control;
}

StudyControl half_control(const SinusoidalMeasured& measured) {
  const std::int64_t rows = measured.of_rows[kHalfPositions];
  StudyControl control;
  control.what = "Positions and rates held in float16, sines and cosines still made in double.";
  control.check = "all rows are distinct.";
  control.failed = measured.distinct[kHalfPositions] < rows;
  control.figures = grouped(measured.distinct[kHalfPositions]) + " of " + grouped(rows) +
                    " are (float16 has every whole number up to 2048, then every second, from "
                    "4096 every fourth). Angles merely cast to float16 leave " +
                    grouped(measured.distinct[kHalfAngles]) + " of " +
                    grouped(measured.of_rows[kHalfAngles]) + " distinct, a table that was cast " +
                    grouped(measured.distinct[kHalfTable]) + ".";
  return control;
}

std::string shift_reading(const SinusoidalStudyOptions& options,
                          const SinusoidalMeasured& measured) {
  const auto angle = static_cast<double>(options.shift);
  const double sine = measured.table.at(1, 0), cosine = measured.table.at(1, 1);
  const std::string k = std::to_string(options.shift);
  const bool rotates = measured.figures[kByScheme].shift_rotates();
  return "The row " + k + " positions on is " + (rotates ? "" : "NOT ") +
         "the row with every pair turned by " + k +
         " times its rate, the same turn wherever the row stands: pair 0 of position 1, " +
         pair_text(sine, cosine) + ", turned by " + k + " radians is " +
         pair_text(sine * std::cos(angle) + cosine * std::sin(angle),
                   cosine * std::cos(angle) - sine * std::sin(angle)) +
         "; pair 0 of position " + std::to_string(1 + options.shift) + " is " +
         pair_text(measured.table.at(1 + options.shift, 0),
                   measured.table.at(1 + options.shift, 1)) +
         ". A turn is linear, so one layer can in principle read \"" + k + " tokens away\".";
}

std::string wave_reading(const SinusoidalStudyOptions& options,
                         const SinusoidalMeasured& measured) {
  const std::vector<double>& waves = measured.figures[kByScheme].waves;
  const double end = 2 * std::numbers::pi * options.base;
  return "Wavelengths " + list(waves, 8) + ": each " + rounded(waves[1] / waves[0], 1) +
         " times the last. The range 2 pi to base x 2 pi = " + rounded(end, 1) +
         " is reached at no width: width " + std::to_string(options.width) + " stops at " +
         rounded(100 * waves.back() / end, 0) + "% of it, width " +
         std::to_string(options.row_width) + " at " +
         rounded(100 * wavelengths(options.row_width, options.base).back() / end, 0) + "%.";
}

std::string ladder_reading(const SinusoidalStudyOptions& options,
                           const SinusoidalMeasured& measured) {
  const ClosestRows& near = measured.closest_geometric;
  const ClosestRows& linear = measured.closest_linear;
  const std::int64_t pairs = measured.linear_pairs;
  return "Fast pairs tell neighbours apart, slow ones far positions. Rates in equal steps between "
         "the same ends lose that: rows " +
         grouped(linear.offset) + " apart are only " + rounded(linear.distance, 3) +
         " from each other, where no two of the table's are closer than " +
         rounded(near.distance, 3) + " (" + grouped(near.offset) +
         " apart). For its two slowest hands to be those of the table, a linear ladder needs " +
         grouped(pairs) + " pairs, " + grouped(2 * pairs) + " columns in place of " +
         grouped(options.width) + ".";
}

std::string promise_reading(const SinusoidalStudyOptions& options,
                            const SinusoidalMeasured& measured) {
  const SinusoidFigures& figures = measured.figures[kByScheme];
  return "Every row has length sqrt(" + std::to_string(options.width) +
         "/2) = " + rounded(std::sqrt(static_cast<double>(options.width) / 2), 4) + " (" +
         passes(figures.has_lengths()) + "), every value is within -1 and 1 (" +
         passes(figures.is_bounded()) + "), " + grouped(measured.distinct[kByScheme]) + " of " +
         grouped(options.rows) + " rows are distinct at width " +
         std::to_string(options.row_width) + ". It has " + std::to_string(measured.parameters) +
         " parameters, it is not learned; positions " + grouped(kFarPosition) +
         " and on exist too, " + rounded(measured.far_off, 2) +
         " from a loop in double. All sines before all cosines is the same table with its columns "
         "in another order: " +
         (measured.concatenated_is_permuted ? "equal bit for bit." : "NOT EQUAL.");
}

std::string precision_reading(const SinusoidalMeasured& measured) {
  const PrecisionBand& first = measured.bands.front();
  const PrecisionBand& last = measured.bands.back();
  double cast = 0;
  for (const PrecisionBand& band : measured.bands) cast = std::max(cast, band.error[kHalfTable]);
  return "In 16 bits far positions lose their resolution: with positions and rates in float16 a "
         "value is wrong by up to " +
         rounded(first.error[kHalfPositions], 2) + " up to position " + grouped(first.last) +
         " and by " + rounded(last.error[kHalfPositions], 2) + " at " + grouped(last.last) +
         ", with angles cast by " + rounded(last.error[kHalfAngles], 2) +
         " though every row is still distinct. Made wide and cast after, no value is off by more "
         "than " +
         rounded(cast, 5) + ".";
}

std::string embedding_reading(const SinusoidalStudyOptions& options,
                              const SinusoidalMeasured& measured) {
  const EmbeddingScale& small = measured.scales[0];
  const EmbeddingScale& scaled = measured.scales[1];
  return "Beside embeddings whose entries are about 1/sqrt(" + std::to_string(options.row_width) +
         "), a row is " + rounded(small.row_length / small.token_length, 1) +
         " times as long as its token; multiplied by sqrt(d) first, the token is " +
         rounded(scaled.token_length / scaled.row_length, 1) + " times as long as its row.";
}

}  // namespace

std::vector<StudyControl> sinusoidal_controls(const SinusoidalMeasured& measured) {
  return {exponent_control(measured), half_control(measured)};
}

std::vector<std::string> sinusoidal_reading(const SinusoidalStudyOptions& options,
                                            const SinusoidalMeasured& measured) {
  return {promise_reading(options, measured), wave_reading(options, measured),
          shift_reading(options, measured),   ladder_reading(options, measured),
          precision_reading(measured),        embedding_reading(options, measured)};
}

}  // namespace volvelle
