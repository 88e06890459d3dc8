#include "studies/sinusoid_checks.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace volvelle {
namespace {

double length_of(const PositionRows& table, std::int64_t row) {
  double squares = 0;
  for (std::int64_t c = 0; c < table.width; ++c) squares += table.at(row, c) * table.at(row, c);
  return std::sqrt(squares);
}

// By angle addition, with a = p w and b = k w: sin(a + b) = sin a cos b + cos a sin b, and
// cos(a + b) = cos a cos b - sin a sin b. The matrix of cos b and sin b does not know p.
double shift_error(const PositionRows& table, double base, std::int64_t shift) {
  double worst = 0;
  for (std::int64_t i = 0; i < table.width / 2; ++i) {
    const double b =
        static_cast<double>(shift) *
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(table.width));
    for (std::int64_t p = 0; p + shift < table.rows; ++p) {
      const double sine = table.at(p, 2 * i), cosine = table.at(p, 2 * i + 1);
      const double turned_sine = sine * std::cos(b) + cosine * std::sin(b);
      const double turned_cosine = cosine * std::cos(b) - sine * std::sin(b);
      worst = std::max({worst, std::fabs(turned_sine - table.at(p + shift, 2 * i)),
                        std::fabs(turned_cosine - table.at(p + shift, 2 * i + 1))});
    }
  }
  return worst;
}

}  // namespace

std::vector<double> wavelengths(std::int64_t width, double base) {
  std::vector<double> waves;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    waves.push_back(2 * std::numbers::pi *
                    std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(width)));
  }
  return waves;
}

SinusoidFigures sinusoid_figures(const PositionRows& table, double base, std::int64_t shift) {
  SinusoidFigures figures;
  const PositionRows loop = literal_sinusoids(table.rows, table.width, base);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    figures.from_loop = std::max(figures.from_loop, std::fabs(table.values[i] - loop.values[i]));
    figures.largest = std::max(figures.largest, std::fabs(table.values[i]));
  }
  const std::vector<double> wanted = wavelengths(table.width, base);
  for (std::int64_t i = 0; i < table.width / 2; ++i) {
    const double rate = std::atan2(table.at(1, 2 * i), table.at(1, 2 * i + 1));
    figures.waves.push_back(2 * std::numbers::pi / rate);
    figures.waves_off =
        std::max(figures.waves_off,
                 std::fabs(figures.waves.back() / wanted[static_cast<std::size_t>(i)] - 1));
  }
  const double length = std::sqrt(static_cast<double>(table.width) / 2);
  for (std::int64_t p = 0; p < table.rows; ++p) {
    figures.length_off = std::max(figures.length_off, std::fabs(length_of(table, p) - length));
  }
  figures.shift_off = shift_error(table, base, shift);
  return figures;
}

std::int64_t distinct_rows(const PositionRows& table, std::int64_t rows) {
  std::set<std::vector<std::int64_t>> seen;
  for (std::int64_t p = 0; p < rows; ++p) {
    std::vector<std::int64_t> row;
    row.reserve(static_cast<std::size_t>(table.width));
    for (std::int64_t c = 0; c < table.width; ++c) {
      row.push_back(std::llround(table.at(p, c) * 1e6));
    }
    seen.insert(std::move(row));
  }
  return static_cast<std::int64_t>(seen.size());
}

}  // namespace volvelle
