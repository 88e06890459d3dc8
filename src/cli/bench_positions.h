#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench positions`: position schemes at one kind of work or at all.
int run_bench_positions(const Invocation& call);

extern const char* const kBenchPositionsExamples;
extern const char* const kBenchPositionsNotes;

}  // namespace volvelle::cli
