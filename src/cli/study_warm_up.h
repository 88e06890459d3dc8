#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study warm-up`.
int run_study_warm_up(const Invocation& call);

extern const char* const kStudyWarmUpExamples;
extern const char* const kStudyWarmUpNotes;

}  // namespace volvelle::cli
