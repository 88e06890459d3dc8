#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench matmul`: products with packed weights, one shape or a table of them.
int run_bench_matmul(const Invocation& call);

extern const char* const kBenchMatmulExamples;
extern const char* const kBenchMatmulNotes;

}  // namespace volvelle::cli
