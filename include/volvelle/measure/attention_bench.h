#pragma once

#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/attention_case.h"

namespace volvelle {

/// 2 (D + E) operations for each pair of a query and a key it sees.
VOLVELLE_API double useful_operations(const AttentionCase& shape);

/// Checks `attend` on random inputs against the oracle on sampled rows, then times it. Calls
/// shorter than 200 us are timed in batches of that length.
/// Throws:  InvalidArgument for lengths below 1 and what `attend` refuses; InternalError when the
///          result is beyond the tolerance.
VOLVELLE_API AttentionFigures measure_attention(const AttentionCase& shape,
                                                const MeasureOptions& options = {});

/// The shapes that stand for the rest: lengths 128 to 4096, widths 64 and 128, full, causal and
/// windowed, grouped heads, every dtype, and small problems.
VOLVELLE_API const std::vector<AttentionCase>& attention_cases();

}  // namespace volvelle
