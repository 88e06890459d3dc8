#include "studies/sinusoid_variants.h"

#include <cmath>

#include "volvelle/base/half.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

double in_half(double value) { return static_cast<double>(to_float(to_float16(value))); }
double in_brain(double value) { return static_cast<double>(to_float(to_bfloat16(value))); }

double rate(std::int64_t i, std::int64_t width, double base) {
  return std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
}

// Sines and cosines of angle(p, i), in double.
template <class Angle>
PositionRows table_of(std::int64_t rows, std::int64_t width, Angle angle) {
  PositionRows table{rows, width, std::vector<double>(static_cast<std::size_t>(rows * width))};
  auto value = table.values.begin();
  for (std::int64_t p = 0; p < rows; ++p) {
    for (std::int64_t i = 0; i < width / 2; ++i) {
      const double at = angle(static_cast<double>(p), i);
      *value++ = std::sin(at);
      *value++ = std::cos(at);
    }
  }
  return table;
}

PositionRows by_scheme(std::int64_t rows, std::int64_t width, double base) {
  return added_rows("sinusoidal(base=" + shortest(base) + ")", rows, width);
}

PositionRows half_exponent(std::int64_t rows, std::int64_t width, double base) {
  return table_of(rows, width, [&](double p, std::int64_t i) {
    return p * std::pow(base, -static_cast<double>(i) / static_cast<double>(width));
  });
}

PositionRows half_positions(std::int64_t rows, std::int64_t width, double base) {
  return table_of(rows, width, [&](double p, std::int64_t i) {
    return in_half(in_half(p) * in_half(rate(i, width, base)));
  });
}

PositionRows brain_positions(std::int64_t rows, std::int64_t width, double base) {
  return table_of(rows, width, [&](double p, std::int64_t i) {
    return in_brain(in_brain(p) * in_brain(rate(i, width, base)));
  });
}

PositionRows half_angles(std::int64_t rows, std::int64_t width, double base) {
  return table_of(rows, width,
                  [&](double p, std::int64_t i) { return in_half(p * rate(i, width, base)); });
}

PositionRows half_table(std::int64_t rows, std::int64_t width, double base) {
  PositionRows table = literal_sinusoids(rows, width, base);
  for (double& value : table.values) value = in_half(value);
  return table;
}

}  // namespace

const std::vector<SinusoidVariant>& sinusoid_variants() {
  static const std::vector<SinusoidVariant> kVariants{
      {"scheme", "as the library adds it", by_scheme},
      {"half_exponent", "exponent i/d", half_exponent},
      {"float16_positions", "positions, rates float16", half_positions},
      {"bfloat16_positions", "the same in bfloat16", brain_positions},
      {"float16_angles", "angles cast to float16", half_angles},
      {"float16_table", "table cast to float16", half_table},
  };
  return kVariants;
}

}  // namespace volvelle
