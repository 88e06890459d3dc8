#pragma once

#include <cstdint>

#include "volvelle/base/any_generator.h"
#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct StreamGrowthOptions {
  std::int64_t layers = 24;
  std::int64_t width = 64;
  std::uint64_t seed = 0;
  RandomStream stream = RandomStream::numpy;
};

/// How a residual stream grows, and what share of it each layer's branch is: once for branches of
/// length 1 in random directions added to a stream of length 1, and once measured in pre-LN and
/// post-LN stacks with PyTorch's initial values. The first draws `layers` + 1 vectors of normal
/// numbers, the stream and then one branch a layer, as numpy.random.default_rng(seed) gives them.
/// Throws InvalidArgument: layers or width outside 1 to 100,000 and 2 to 65,536, blocks that would
/// not fit in memory.
VOLVELLE_API StudyResult study_stream_growth(const StreamGrowthOptions& options = {},
                                             const StudyRun& run = {});

}  // namespace volvelle
