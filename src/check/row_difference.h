#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/check/compare.h"

namespace volvelle {

/// |theirs - ours|; 0 for equal infinities and for two NaN, infinite where only one is finite.
double difference(double ours, double theirs);

/// What the tolerance allows at one element of a row whose root mean square is `row_size`.
double allowed(const Tolerance& tolerance, double ours, double theirs, double row_size);

/// difference / allowed, at most 1 when the element passes; 0 for no difference.
double excess(double ours, double theirs, const Tolerance& tolerance, double row_size);

/// The largest excess of a row.
double row_excess(const std::vector<double>& ours, const std::vector<double>& theirs,
                  const Tolerance& tolerance);

}  // namespace volvelle
