#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct SaturationOptions {
  std::vector<std::int64_t> head_widths = {2, 8, 64, 512};
  std::int64_t tokens = 32;  ///< queries, and keys
  std::int64_t draws = 20;   ///< of queries and keys, for each width
  std::uint64_t seed = 0;
};

/// What the softmax of attention makes of queries and keys with independent normal entries, by head
/// width: with scores as they are, divided by the root of the width, by the width, and by the root
/// of the number of tokens. Entropy, largest weight, and how much of a gradient on the weights
/// reaches scores and queries. In double; the same bits for any number of threads.
/// Throws InvalidArgument: no widths or more than 32, a width twice, sizes that are not positive,
/// fewer than 2 tokens, a matrix of queries above 2^24 numbers.
VOLVELLE_API StudyResult study_saturation(const SaturationOptions& options = {},
                                          const StudyRun& run = {});

}  // namespace volvelle
