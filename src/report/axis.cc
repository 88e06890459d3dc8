#include "report/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::size_t kFew = 8;                  // values that get a mark each
constexpr double kTiny = 1e-300, kHuge = 1e300;  // beyond, the next power is no number
constexpr double kLeastApart = 0.055;            // of the axis, between two of them

// 1, 2 or 5 times a power of ten, the nearest above a `count`-th of the range.
double nice_step(double range, int count) {
  const double raw = range / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string linear_label(double value, double step) {
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return std::fabs(value) < step / 2 ? "0" : rounded(value, digits);
}

void mark_linear(Axis& axis, const AxisOptions& options) {
  const double step = nice_step(axis.high - axis.low, options.marks);
  if (options.whole_steps) {
    axis.low = std::floor(axis.low / step + 1e-9) * step;
    axis.high = std::ceil(axis.high / step - 1e-9) * step;
  }
  const double first = std::ceil(axis.low / step - 1e-9);
  const double last = std::floor(axis.high / step + 1e-9);
  for (double n = first; n <= last; ++n) {
    axis.marks.push_back({n * step, linear_label(n * step, step)});
  }
}

// The 1, 2 or 5 times a power of ten next below a value, or next above it.
double step_below(double value) {
  if (value < kTiny) return value;
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}
double step_above(double value) {
  if (value > kHuge) return value;
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Powers of ten (every k-th where there are many); 1, 2 and 5 of each when they are few.
void mark_powers(Axis& axis, const AxisOptions& options) {
  if (options.whole_steps) {
    axis.low = step_below(axis.low);
    axis.high = step_above(axis.high);
  }
  const double first = std::floor(std::log10(axis.low) + 1e-9);
  const double last = std::ceil(std::log10(axis.high) - 1e-9);
  const bool few = std::log10(axis.high) - std::log10(axis.low) < 2.5;
  const double every = std::max(1.0, std::ceil((last - first) / std::max(options.marks, 1)));
  for (double power = first; power <= last; power += few ? 1 : every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10.0, power);
      if (at < axis.low * (1 - 1e-9) || at > axis.high * (1 + 1e-9)) continue;
      if (factor == 1.0 || few) axis.marks.push_back({at, rounded(at, at < 1e-3 ? 1 : 4)});
    }
  }
  if (axis.marks.size() >= 2) return;
  axis.marks.clear();  // less than one step of these: the ends say where it is
  for (const double at : {axis.low, axis.high}) axis.marks.push_back({at, rounded(at, 4)});
}

}  // namespace

bool Axis::places(double value) const { return std::isfinite(value) && (!log || value > 0); }

double Axis::share(double value) const {
  if (log) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return (value - low) / (high - low);
}

Axis axis_over(const std::vector<double>& values, const AxisOptions& options) {
  Axis axis{.log = options.log, .marks = {}};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!axis.places(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high)) low = high = 1;
  if (options.from_zero && !options.log) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  if (low == high) {  // a flat line stands in the middle
    const double room = low == 0 ? 1 : std::fabs(low) * 0.5;
    low = options.log && low > kTiny ? low / 2 : options.log ? low : low - room;
    high = options.log ? high * 2 : high + room;
  }
  axis.low = low;
  axis.high = high;
  if (options.log) {
    mark_powers(axis, options);
  } else {
    mark_linear(axis, options);
  }
  return axis;
}

Axis axis_at(std::vector<double> values, const AxisOptions& options) {
  Axis axis = axis_over(values, options);
  std::erase_if(values, [&](double value) { return !axis.places(value); });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty() || values.size() > kFew) return axis;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (axis.share(values[i]) - axis.share(values[i - 1]) < kLeastApart) return axis;
  }
  axis.marks.clear();
  for (const double value : values) axis.marks.push_back({value, rounded(value, 4)});
  return axis;
}

}  // namespace volvelle
