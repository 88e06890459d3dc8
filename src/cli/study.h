#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study [NAME] [options]`: with no name it lists the studies.
int run_study_verb(const Invocation& call);

extern const char* const kStudyExamples;

}  // namespace volvelle::cli
