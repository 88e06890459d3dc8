#pragma once

#include "check/positions/subject.h"

namespace volvelle::positions {

// How far a scheme is from having each property: see the catalog for what they say.
double shift_error(const PositionSubject& subject);
double permutation_error(const PositionSubject& subject);
double order_error(const PositionSubject& subject);
double cache_error(const PositionSubject& subject);
double chunk_error(const PositionSubject& subject);
double padding_error(const PositionSubject& subject);
double packing_error(const PositionSubject& subject);
double pairing_error(const PositionSubject& subject);
double gradient_error(const PositionSubject& subject);
double end_error(const PositionSubject& subject);
double half_precision_error(const PositionSubject& subject);

/// All positions grow by it in `shift_error`, which starts at 0: its controls tell the two apart.
constexpr std::int64_t kShift = 37;

}  // namespace volvelle::positions
