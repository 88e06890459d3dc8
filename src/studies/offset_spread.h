#pragma once

#include <cstdint>
#include <vector>

#include "studies/position_problem.h"
#include "studies/position_rows.h"

namespace volvelle {

/// Products of rows i and j over all pairs of one offset i - j.
struct OffsetSpread {
  std::int64_t offset = 0;
  double least = 0, largest = 0;
  double spread() const { return largest - least; }
};

/// By offset, from -(T - 1) to T - 1, of a (T,T) matrix.
std::vector<OffsetSpread> offset_spreads(const PositionRows& products);

/// The widest of them over offsets from -most to most.
double widest_spread(const std::vector<OffsetSpread>& spreads, std::int64_t most);

/// Rows i and j multiplied: P P^T, and (P Wq)(P Wk)^T, in double.
PositionRows row_products(const PositionRows& rows);
PositionRows projected_products(const PositionRows& rows, const PositionProblem& problem);

}  // namespace volvelle
