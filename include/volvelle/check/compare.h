#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// How far two values may lie apart: |theirs - ours| <= atol + rtol * size, where size is |theirs|
/// or, with `by_row`, the larger of |ours| and the root mean square of ours along the last axis
/// (what rounding errors follow when large terms cancel in one element of a row).
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  bool by_row = false;
};

/// How far two correct attention programs may differ, relative to the size of a row: for float32
/// and float64 (16 + 4 sqrt(width) + 2 sqrt(keys)) units of rounding of the coarser dtype, since
/// a score is a sum of `width` products and an output one of `keys` terms; for float16 and
/// bfloat16 two steps (at 1) of that dtype besides (weights and scores may have been rounded to
/// it).
VOLVELLE_API double relative_tolerance(DType ours, DType theirs, std::int64_t width,
                                       std::int64_t keys);

/// What a comparison goes by. Absent tolerances come from `relative_tolerance` (by row), with atol
/// the same share of the root mean square of all of ours.
struct CompareOptions {
  std::optional<double> atol = {};
  std::optional<double> rtol = {};
  std::int64_t width = 1;                 ///< D
  std::int64_t keys = 1;                  ///< S
  std::optional<DType> computed_in = {};  ///< q's dtype where the arrays do not show it
  double times = 1;                       ///< of `relative_tolerance`
};

/// What differs within one part (a head over the whole batch, or a batch row over all heads).
struct PartDifference {
  std::int64_t index = 0;
  std::int64_t failing = 0;  ///< elements
  std::int64_t failing_rows = 0;
  double max_abs = 0;
};

/// One row along the last axis.
struct RowDifference {
  std::int64_t batch = 0, head = 0, row = 0;
  std::int64_t failing = 0;  ///< elements
  double max_abs = 0;
  double excess = 0;  ///< largest difference / what is allowed; above 1 fails
};

/// Two arrays beside each other.
struct Comparison {
  bool matches = true;
  double max_abs = 0;                 ///< infinite where one is finite and the other is not
  double max_rel = 0;                 ///< |theirs - ours| / the larger magnitude of the two
  std::vector<std::int64_t> at;       ///< index of max_abs on our axes; empty: all bits equal
  std::vector<std::int64_t> at_rel;   ///< index of max_rel
  double ours_at = 0, theirs_at = 0;  ///< the values at `at`
  Tolerance tolerance;
  std::int64_t elements = 0;
  std::int64_t failing = 0;       ///< elements beyond the tolerance
  std::int64_t failing_rows = 0;  ///< rows that hold one
  std::int64_t rows = 0;
  std::int64_t nonfinite = 0;             ///< failing elements where one value is NaN or infinite
  std::vector<PartDifference> heads;      ///< the heads that fail
  std::vector<PartDifference> batches;    ///< the batch rows that fail
  std::vector<RowDifference> worst_rows;  ///< at most eight, largest excess first
};

/// Compares arrays of equal shape, axes of length 1 aside. Both are read as (B,H,T,E), missing
/// leading axes being 1 (`compare_rows`: as (B,H,T), each element a row of its own). Equal
/// infinities match; NaN matches NaN.
/// Throws InvalidArgument when the shapes differ (the message has both), for a rank above 4 and
/// for a tolerance that is negative or NaN.
VOLVELLE_API Comparison compare(const View& ours, const View& theirs,
                                const CompareOptions& options);
VOLVELLE_API Comparison compare_rows(const View& ours, const View& theirs,
                                     const CompareOptions& options);

}  // namespace volvelle
