#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench backward`: attention's gradients, one shape or a table of them.
int run_bench_backward(const Invocation& call);

extern const char* const kBenchBackwardExamples;
extern const char* const kBenchBackwardNotes;

}  // namespace volvelle::cli
