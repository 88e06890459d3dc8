#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study position-faults`.
int run_study_position_faults(const Invocation& call);

extern const char* const kStudyPositionFaultsExamples;
extern const char* const kStudyPositionFaultsNotes;

}  // namespace volvelle::cli
