#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench training`: whole training steps of causal language models.
int run_bench_training(const Invocation& call);

extern const char* const kBenchTrainingExamples;
extern const char* const kBenchTrainingNotes;

}  // namespace volvelle::cli
