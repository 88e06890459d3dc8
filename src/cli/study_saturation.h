#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study saturation`.
int run_study_saturation(const Invocation& call);

extern const char* const kStudySaturationExamples;
extern const char* const kStudySaturationNotes;

}  // namespace volvelle::cli
