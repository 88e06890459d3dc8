#pragma once

#include <cstdint>
#include <vector>

#include "attention/resolved.h"
#include "check/row_reader.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// A row of the answer.
struct RowPlace {
  std::int64_t batch = 0, head = 0, query = 0;
};

/// The rows on which faults are tried, the one that differs most first: `first` come from the
/// heads that differ most and from everywhere, `confirm` from the rest of the heads, the rows
/// where masks begin and end, and everywhere (small problems: every row).
struct RowChoice {
  std::vector<RowPlace> first, confirm;
};
RowChoice choose_rows(const ResolvedAttention& problem, const FourAxes& ours,
                      const FourAxes& theirs, const DiagnoseOptions& options);

}  // namespace volvelle
