#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study positions`.
int run_study_positions(const Invocation& call);

extern const char* const kStudyPositionsExamples;
extern const char* const kStudyPositionsNotes;

}  // namespace volvelle::cli
