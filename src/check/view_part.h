#pragma once

#include <cstdint>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Some places of an axis.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// The last axis whole, and of the three before it these places, of an array of rank 0 to 4 that
/// is or broadcasts to four axes: on four axes, those it is broadcast along with length 1.
View part_of(const View& view, const Span& batch, const Span& head, const Span& rows);

/// Some places of one axis of a small array; an axis of length 1, which serves all, stays.
View cut(const View& view, int axis, const Span& span);

}  // namespace volvelle
