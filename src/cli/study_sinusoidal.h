#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study sinusoidal`.
int run_study_sinusoidal(const Invocation& call);

extern const char* const kStudySinusoidalExamples;
extern const char* const kStudySinusoidalNotes;

}  // namespace volvelle::cli
