#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study extrapolation`.
int run_study_extrapolation(const Invocation& call);

extern const char* const kStudyExtrapolationExamples;
extern const char* const kStudyExtrapolationNotes;

}  // namespace volvelle::cli
