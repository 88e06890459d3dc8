#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study rotary`.
int run_study_rotary(const Invocation& call);

extern const char* const kStudyRotaryExamples;
extern const char* const kStudyRotaryNotes;

}  // namespace volvelle::cli
