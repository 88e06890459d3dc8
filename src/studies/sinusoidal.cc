#include "volvelle/studies/sinusoidal.h"

#include <cmath>
#include <string>

#include "studies/sinusoidal_measured.h"
#include "studies/sinusoidal_reading.h"
#include "studies/sinusoidal_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;
constexpr std::int64_t kWidest = 4096;

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[sinusoidal] " + text); }

void check_table(const char* rows_name, std::int64_t rows, const char* width_name,
                 std::int64_t width) {
  const std::string name(width_name);
  if (width % 2 != 0) {
    refuse(name + " " + std::to_string(width) +
           " is odd: a sine without its cosine keeps neither the rows' length nor the rotation; "
           "take " +
           std::to_string(width + 1) +
           ", or pad one column (the scheme itself then gives the "
           "last column a sine alone)");
  }
  if (width < 4 || width > kWidest) {
    refuse(name + " must be 4 to " + grouped(kWidest) + ", not " + std::to_string(width));
  }
  if (rows < 3 || rows > kMostNumbers / width) {
    refuse(std::string(rows_name) + " must be 3 to " + grouped(kMostNumbers / width) +
           " at width " + std::to_string(width) + ", not " + std::to_string(rows));
  }
}

void check(const SinusoidalStudyOptions& options) {
  check_table("length", options.length, "width", options.width);
  check_table("rows", options.rows, "row-width", options.row_width);
  if (options.shift < 1 || options.shift + 2 > options.length) {
    refuse("shift must be 1 to length - 2 = " + std::to_string(options.length - 2) + ", not " +
           std::to_string(options.shift) + ": rows this far apart must both be in the table");
  }
  if (!std::isfinite(options.base) || options.base <= 1) {
    refuse("base must be above 1, not " + shortest(options.base) +
           ": the rates fall from pair to pair by a power of it");
  }
}

// Pair 0 of position 1, turned by `shift` radians as its rate is 1.
std::vector<double> turned_pair(const SinusoidalMeasured& measured, std::int64_t shift) {
  const double sine = measured.table.at(1, 0), cosine = measured.table.at(1, 1);
  const auto angle = static_cast<double>(shift);
  return {sine * std::cos(angle) + cosine * std::sin(angle),
          cosine * std::cos(angle) - sine * std::sin(angle)};
}

void add_facts(StudyResult& result, const SinusoidalStudyOptions& options,
               const SinusoidalMeasured& measured) {
  const SinusoidFigures& figures = measured.figures[kByScheme];
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const auto add = [&](const char* key, StudyCell value) {
    result.facts.emplace_back(key, std::move(value));
  };
  add("shape", std::vector<double>{number(measured.table.rows), number(measured.table.width)});
  add("matches_loop", figures.equals_loop());
  add("wavelengths", figures.waves);
  add("row_length", std::sqrt(number(options.width) / 2));
  add("equal_lengths", figures.has_lengths());
  add("within_unit", figures.is_bounded());
  add("shift_is_rotation", figures.shift_rotates());
  add("pair_turned", turned_pair(measured, options.shift));
  add("pair_shifted", std::vector<double>{measured.table.at(1 + options.shift, 0),
                                          measured.table.at(1 + options.shift, 1)});
  add("distinct_rows", measured.distinct[kByScheme]);
  add("concatenated_is_permuted", measured.concatenated_is_permuted);
  add("parameters", measured.parameters);
  add("table_bytes", options.length * options.width * 4);
  add("far_position", kFarPosition);
  add("far_difference", measured.far_off);
  add("linear_pairs", measured.linear_pairs);
}

}  // namespace

StudyResult study_sinusoidal(const SinusoidalStudyOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "sinusoidal";
  result.question =
      "What does the table of sines and cosines promise, and which mistakes would nobody notice?";
  result.setup = {
      {"table", grouped(options.length) + " positions, width " + grouped(options.width) +
                    ", base " + shortest(options.base) +
                    ": what the scheme 'sinusoidal' adds to token vectors"},
      {"formula", "column 2i: sin(p w_i), column 2i + 1: cos(p w_i), w_i = base^(-2i/d)"},
      {"rows told apart", grouped(options.rows) + " at width " + grouped(options.row_width) +
                              ", rounded to 6 decimals"},
      {"counts as equal", "within " + shortest(kTableTolerance)}};
  SinusoidalMeasured measured;
  result.complete = measure_sinusoidal(options, run, measured);
  if (!result.complete) return result;
  add_facts(result, options, measured);
  result.tables = sinusoidal_tables(options, measured);
  result.charts = sinusoidal_charts(options, measured);
  result.controls = sinusoidal_controls(measured);
  result.reading = sinusoidal_reading(options, measured);
  result.limits = {
      "The rotation is checked on the table; whether a trained model uses it is an empirical "
      "matter.",
      "The table exists at any length; whether a model attends well at lengths it has not seen is "
      "another matter (`volvelle study extrapolation`).",
      "Why the original paper multiplies tokens by sqrt(d) it does not say; that small embeddings "
      "would be swamped is a common argument, and the lengths here are what it is about."};
  return result;
}

}  // namespace volvelle
