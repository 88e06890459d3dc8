#pragma once

#include <cstdint>
#include <span>

#include "attention/resolve_layout.h"
#include "attention/resolved.h"

namespace volvelle {

/// A shape that an array of a call must have: the first `length` of `shape`, named by `axes`.
struct WantedShape {
  const char* axes;  ///< "(B,H,T,E)", for messages
  std::int64_t shape[4];
  int length;
};

/// Lays an array of that shape, or without the leading axes that q does not have, out on the
/// problem's axes.
Strided4 on_problem_axes(const NamedView& array, const WantedShape& wanted,
                         const ResolvedAttention& problem);

/// Memory that can be written: no two elements meet.
void check_writable(const NamedView& array);

/// An array that a call writes; absent ones take part in nothing.
struct WrittenArray {
  const char* name;
  const MutableView& view;
};

/// No written array shares a byte with an array of the problem, one of `more_inputs`, or another
/// written one; at most 11 of these.
void check_overlap(const AttentionProblem& problem, std::span<const NamedView> more_inputs,
                   std::span<const WrittenArray> written, const char* operation);

}  // namespace volvelle
