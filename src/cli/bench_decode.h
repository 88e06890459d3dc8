#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench decode`: few queries over many keys, one shape or a table of them.
int run_bench_decode(const Invocation& call);

extern const char* const kBenchDecodeExamples;
extern const char* const kBenchDecodeNotes;

}  // namespace volvelle::cli
