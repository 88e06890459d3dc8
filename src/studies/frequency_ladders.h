#pragma once

#include <cstdint>
#include <vector>

namespace volvelle {

/// Rates of the pairs of a table, from 1 radian per position down.
struct FrequencyLadder {
  std::vector<double> rates;
};

/// base^(-2i/d): each the same part of the last.
FrequencyLadder geometric_ladder(std::int64_t width, double base);
/// As many rates with the same first and last, in equal steps.
FrequencyLadder linear_ladder(std::int64_t width, double base);

/// Pairs that a linear ladder from 1 needs so that its two slowest are those of the geometric one.
std::int64_t linear_pairs_for_two_slowest(std::int64_t width, double base);

/// Of two rows `offset` positions apart: sqrt(sum of 2 - 2 cos(offset w)). It does not depend on
/// where they stand.
double distance_at(const FrequencyLadder& ladder, std::int64_t offset);

/// The offset from 1 to `furthest` at which rows lie closest together.
struct ClosestRows {
  std::int64_t offset = 0;
  double distance = 0;
};
ClosestRows closest_rows(const FrequencyLadder& ladder, std::int64_t furthest);

}  // namespace volvelle
