#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study norm-placement`.
int run_study_norm_placement(const Invocation& call);

extern const char* const kStudyNormPlacementExamples;
extern const char* const kStudyNormPlacementNotes;

}  // namespace volvelle::cli
