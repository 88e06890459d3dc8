#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench attention`: one shape, or a table of them.
int run_bench_attention(const Invocation& call);

extern const char* const kBenchAttentionExamples;
extern const char* const kBenchAttentionNotes;

}  // namespace volvelle::cli
