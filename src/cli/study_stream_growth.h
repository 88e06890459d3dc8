#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study stream-growth`.
int run_study_stream_growth(const Invocation& call);

extern const char* const kStudyStreamGrowthExamples;
extern const char* const kStudyStreamGrowthNotes;

}  // namespace volvelle::cli
