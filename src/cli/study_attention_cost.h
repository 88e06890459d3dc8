#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle study attention-cost`.
int run_study_attention_cost(const Invocation& call);

extern const char* const kStudyAttentionCostExamples;
extern const char* const kStudyAttentionCostNotes;

}  // namespace volvelle::cli
