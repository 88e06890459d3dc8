#include <algorithm>
#include <cmath>
#include <numbers>

#include "nn/positions/rotary_rules.h"

namespace volvelle {
namespace {

double index_of(std::size_t i) { return static_cast<double>(i); }

// base^(-2i/r) for each pair i.
std::vector<double> plain(double base, std::int64_t columns) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < columns / 2; ++i) {
    frequencies.push_back(
        std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(columns)));
  }
  return frequencies;
}

// NTK-aware: the slowest pair is slowed by `stretch`, the fastest not at all.
double stretched_base(double base, double stretch, std::int64_t columns) {
  if (columns < 4) {
    refuse_rotary("ntk and dynamic scaling need 4 turning columns or more, not " +
                  std::to_string(columns) + ": the exponent is r / (r - 2)");
  }
  const auto r = static_cast<double>(columns);
  return base * std::pow(stretch, r / (r - 2));
}

double dynamic_stretch(const RotaryOptions& o, std::int64_t length) {
  const auto trained = static_cast<double>(*o.original);
  const double reached = std::max(static_cast<double>(length), trained);
  return *o.factor * reached / trained - (*o.factor - 1);
}

// The pair that makes `turns` turns over the positions trained on.
double yarn_bound(const RotaryOptions& o, double turns, std::int64_t columns) {
  return static_cast<double>(columns) *
         std::log(static_cast<double>(*o.original) / (2 * std::numbers::pi * turns)) /
         (2 * std::log(o.base));
}

void scale_yarn(const RotaryOptions& o, std::int64_t columns, std::vector<double>& frequencies) {
  if (o.base == 1) refuse_rotary("scaling=yarn needs a base other than 1");
  double first = yarn_bound(o, o.fast.value_or(32), columns);
  double last = yarn_bound(o, o.slow.value_or(1), columns);
  if (o.truncate.value_or(true)) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(columns - 1));
  if (first == last) last += 0.001;  // as the reference does: a step instead of a ramp
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((index_of(i) - first) / (last - first), 0.0, 1.0);
    frequencies[i] *= ramp / *o.factor + (1 - ramp);
  }
}

double yarn_attention(const RotaryOptions& o) {
  const auto grown = [&](double scale) {
    return *o.factor > 1 ? 0.1 * scale * std::log(*o.factor) + 1 : 1;
  };
  if (o.attention) return *o.attention;
  if (o.mscale) return grown(*o.mscale) / grown(*o.mscale_all);
  return grown(1);
}

void scale_llama3(const RotaryOptions& o, std::vector<double>& frequencies) {
  const auto trained = static_cast<double>(*o.original);
  for (double& frequency : frequencies) {
    const double turns = trained * frequency / (2 * std::numbers::pi);  // original / wavelength
    const double kept = std::clamp((turns - *o.low) / (*o.high - *o.low), 0.0, 1.0);
    frequency *= (1 - kept) / *o.factor + kept;
  }
}

double longrope_attention(const RotaryOptions& o) {
  const double factor = longrope_factor(o);
  if (o.attention) return *o.attention;
  if (factor <= 1) return 1;
  if (*o.original < 2) refuse_rotary("scaling=longrope needs original=2 or more");
  return std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(*o.original)));
}

void scale_longrope(const RotaryOptions& o, std::int64_t length, std::vector<double>& frequencies) {
  check_longrope_lists(o, static_cast<std::int64_t>(frequencies.size()));
  const std::vector<double>& divisors = length > *o.original ? o.long_factors : o.short_factors;
  for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= divisors[i];
}

// Columns that turn at all; `rotary_columns` are those that the frequencies belong to.
std::int64_t turning_columns(const RotaryOptions& o, std::int64_t head_width) {
  if (o.columns != 0 && o.share != 1) refuse_rotary("columns and a share of the head: give one");
  if (o.columns < 0 || o.columns > head_width) {
    refuse_rotary("partial=" + std::to_string(o.columns) + " turning columns; a head has " +
                  std::to_string(head_width));
  }
  if (!(o.share > 0 && o.share <= 1)) {
    refuse_rotary("partial=" + std::to_string(o.share) + " must be above 0 and at most 1");
  }
  const std::int64_t columns =
      o.columns != 0 ? o.columns
                     : static_cast<std::int64_t>(static_cast<double>(head_width) * o.share);
  if (columns >= 2 && columns % 2 == 0) return columns;
  refuse_rotary("columns turn in pairs: " + std::to_string(columns) + " of a head of width " +
                std::to_string(head_width) + " must be an even number of at least 2");
}

}  // namespace

std::int64_t rotary_columns(const RotaryOptions& options, std::int64_t head_width) {
  if (head_width < 1)
    refuse_rotary("head width " + std::to_string(head_width) + " must be positive");
  const std::int64_t turning = turning_columns(options, head_width);
  if (options.scaling != RotaryScaling::proportional) return turning;
  if (head_width % 2 == 0) return head_width;
  refuse_rotary("columns turn in pairs: a head of width " + std::to_string(head_width) +
                " must be even");
}

bool depends_on_length(const RotaryOptions& options) {
  return options.scaling == RotaryScaling::dynamic || options.scaling == RotaryScaling::longrope;
}

RotaryFrequencies rotary_frequencies(const RotaryOptions& options, std::int64_t head_width,
                                     std::int64_t length) {
  check_rotary(options);
  if (length < 0) refuse_rotary("length " + std::to_string(length) + " must not be negative");
  const std::int64_t columns = rotary_columns(options, head_width);
  RotaryFrequencies made{.frequencies = {}, .attention = 1, .base = options.base};
  if (options.scaling == RotaryScaling::ntk) {
    made.base = stretched_base(options.base, *options.factor, columns);
  } else if (options.scaling == RotaryScaling::dynamic) {
    made.base = stretched_base(options.base, dynamic_stretch(options, length), columns);
  }
  made.frequencies = plain(made.base, columns);
  switch (options.scaling) {
    case RotaryScaling::none:
    case RotaryScaling::ntk:
    case RotaryScaling::dynamic:
      break;
    case RotaryScaling::linear:
      for (double& frequency : made.frequencies) frequency /= *options.factor;
      break;
    case RotaryScaling::yarn:
      scale_yarn(options, columns, made.frequencies);
      made.attention = yarn_attention(options);
      break;
    case RotaryScaling::llama3:
      scale_llama3(options, made.frequencies);
      break;
    case RotaryScaling::longrope:
      scale_longrope(options, length, made.frequencies);
      made.attention = longrope_attention(options);
      break;
    case RotaryScaling::proportional:
      for (double& frequency : made.frequencies) frequency /= options.factor.value_or(1);
      std::fill(made.frequencies.begin() + turning_columns(options, head_width) / 2,
                made.frequencies.end(), 0.0);
      break;
  }
  return made;
}

}  // namespace volvelle
