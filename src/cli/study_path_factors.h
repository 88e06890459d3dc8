#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study path-factors`.
int run_study_path_factors(const Invocation& call);

extern const char* const kStudyPathFactorsExamples;
extern const char* const kStudyPathFactorsNotes;

}  // namespace volvelle::cli
