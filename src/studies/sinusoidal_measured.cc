#include "studies/sinusoidal_measured.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kHalfRows = 5000;  // float16 has whole numbers up to 2048 only

std::string with_base(const SinusoidalStudyOptions& options, const std::string& further) {
  return "sinusoidal(base=" + shortest(options.base) + further + ")";
}

// Interleaved column 2i is column i of the concatenated kind, 2i + 1 is d/2 + i.
bool is_permuted(const PositionRows& interleaved, const PositionRows& concatenated) {
  const std::int64_t half = interleaved.width / 2;
  for (std::int64_t p = 0; p < interleaved.rows; ++p) {
    for (std::int64_t i = 0; i < half; ++i) {
      if (interleaved.at(p, 2 * i) != concatenated.at(p, i) ||
          interleaved.at(p, 2 * i + 1) != concatenated.at(p, half + i)) {
        return false;
      }
    }
  }
  return true;
}

double far_difference(const SinusoidalStudyOptions& options) {
  constexpr std::int64_t kRows = 8;
  const PositionRows rows = added_rows(with_base(options, ""), kRows, options.width, kFarPosition);
  double worst = 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const double angle =
          static_cast<double>(kFarPosition + r) /
          std::pow(options.base, static_cast<double>(c - c % 2) / static_cast<double>(rows.width));
      worst = std::max(worst,
                       std::fabs(rows.at(r, c) - (c % 2 == 0 ? std::sin(angle) : std::cos(angle))));
    }
  }
  return worst;
}

std::vector<PrecisionBand> bands_up_to(std::int64_t rows) {
  std::vector<PrecisionBand> bands;
  std::int64_t first = 0;
  for (std::int64_t end = 256; first < rows; end *= 2) {
    bands.push_back({.first = first, .last = std::min(end, rows) - 1, .error = {}, .distinct = {}});
    first = end;
  }
  return bands;
}

double largest_difference(const PositionRows& a, const PositionRows& b, std::int64_t first,
                          std::int64_t last) {
  double worst = 0;
  for (auto i = static_cast<std::size_t>(first * a.width);
       i < static_cast<std::size_t>((last + 1) * a.width); ++i) {
    worst = std::max(worst, std::fabs(a.values[i] - b.values[i]));
  }
  return worst;
}

}  // namespace

bool measure_sinusoidal(const SinusoidalStudyOptions& options, const StudyRun& run,
                        SinusoidalMeasured& measured) {
  const PositionRows loop = literal_sinusoids(options.rows, options.row_width, options.base);
  measured.bands = bands_up_to(options.rows);
  for (std::size_t kind = 0; kind < kTableVariants; ++kind) {
    if (run.stopped && run.stopped()) return false;
    const SinusoidVariant& variant = sinusoid_variants()[kind];
    if (run.progress) {
      run.progress(static_cast<double>(kind) / static_cast<double>(kTableVariants), variant.name);
    }
    PositionRows small = variant.make(options.length, options.width, options.base);
    measured.figures.push_back(sinusoid_figures(small, options.base, options.shift));
    if (kind == kByScheme) measured.table = std::move(small);
    // The control of positions needs some that float16 does not have.
    const std::int64_t rows =
        kind == kHalfPositions ? std::max(options.rows, kHalfRows) : options.rows;
    const PositionRows large = variant.make(rows, options.row_width, options.base);
    measured.distinct.push_back(distinct_rows(large, rows));
    measured.of_rows.push_back(rows);
    for (PrecisionBand& band : measured.bands) {
      band.error.push_back(largest_difference(large, loop, band.first, band.last));
      band.distinct.push_back(distinct_rows(large, band.last + 1));
    }
  }
  const std::int64_t furthest = options.rows - 1;
  measured.geometric = geometric_ladder(options.width, options.base);
  measured.linear = linear_ladder(options.width, options.base);
  measured.closest_geometric = closest_rows(measured.geometric, furthest);
  measured.closest_linear = closest_rows(measured.linear, furthest);
  measured.linear_pairs = linear_pairs_for_two_slowest(options.width, options.base);
  measured.scales = embedding_scales(options.row_width, options.seed);
  const auto scheme = make_positions(
      with_base(options, ""), {.width = options.width, .heads = 1, .head_width = options.width});
  measured.parameters = scheme->facts().parameters + scheme->parameter_count();
  measured.concatenated_is_permuted = is_permuted(
      measured.table,
      added_rows(with_base(options, ", layout=concatenated"), options.length, options.width));
  measured.far_off = far_difference(options);
  return true;
}

}  // namespace volvelle
