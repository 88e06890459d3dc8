#pragma once

#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/attention_case.h"

namespace volvelle {

/// One query per head at the end of 4096 keys of eight key heads.
VOLVELLE_API AttentionCase decode_case();

/// Bytes of the keys and values that some query sees, each counted once.
VOLVELLE_API double decode_bytes(const AttentionCase& shape);

/// As `measure_attention`, for few queries over many keys and values of a KeyValueCache. These come
/// from memory: sequences that hold equal ones are taken in turn, so that none is in one of the
/// processor's caches when its turn comes. Figures are against the read bandwidth as well.
/// Throws:  as `measure_attention`; IoError for memory that cannot be had.
VOLVELLE_API AttentionFigures measure_decode(const AttentionCase& shape,
                                             const MeasureOptions& options = {});

/// Eight key heads, one and four query heads on each, widths 64 and 128, 1024 to 32768 keys, in
/// float32 and bfloat16.
VOLVELLE_API const std::vector<AttentionCase>& decode_cases();

}  // namespace volvelle
