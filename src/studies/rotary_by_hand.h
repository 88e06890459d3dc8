#pragma once

#include <vector>

#include "volvelle/attention/rotary_turn.h"

namespace volvelle {

/// Numbers turned by the library, pair i by angles[i], paired as weights with split halves are.
std::vector<double> turned_by_library(const std::vector<double>& numbers,
                                      const std::vector<double>& angles,
                                      RotaryPairing pairing = RotaryPairing::split_half);

/// The second half with its sign changed, then the first: (1 2 3 4) is (-3 -4 1 2).
std::vector<double> rotate_half(const std::vector<double>& numbers);

/// x cos + rotate_half(x) sin: the rotation without its matrix.
std::vector<double> turned_by_formula(const std::vector<double>& numbers,
                                      const std::vector<double>& angles);

/// A matrix (cos -sin; sin cos) for each pair (i, i + n/2).
std::vector<double> turned_by_matrices(const std::vector<double>& numbers,
                                       const std::vector<double>& angles);

double length_of(const std::vector<double>& numbers);

}  // namespace volvelle
