#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct PathFactorsOptions {
  std::int64_t layers = 24;
  std::vector<double> factors = {0.9, 1.02, 0.98};  ///< each of one path, the same in every layer
};

/// What is left of a gradient that walks back through `layers` layers, each of which multiplies it
/// by one factor: factor^layers, layer by layer. An illustration, not a model of a network.
/// Throws InvalidArgument: no layers or more than 100,000, no factor, a factor that is not a
/// positive number, or one that is given twice.
VOLVELLE_API StudyResult study_path_factors(const PathFactorsOptions& options = {},
                                            const StudyRun& run = {});

}  // namespace volvelle
