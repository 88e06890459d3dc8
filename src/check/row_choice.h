#pragma once

#include <cstdint>
#include <vector>

#include "attention/oracle.h"
#include "attention/resolved.h"
#include "check/row_reader.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// The rows on which faults are tried, the one that differs most first: `first` come from the
/// heads that differ most and from everywhere, `confirm` from the rest of the heads, the rows
/// where masks begin and end, and everywhere (small problems: every row). For the gradients of
/// keys and values a row's head and query are a key head and a key.
struct RowChoice {
  std::vector<QueryRow> first, confirm;
};
RowChoice choose_rows(const ResolvedAttention& problem, const FourAxes& ours,
                      const FourAxes& theirs, const DiagnoseOptions& options);

}  // namespace volvelle
