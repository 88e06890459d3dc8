#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench [BENCHMARK] [options]`: with no benchmark it lists them.
int run_bench(const Invocation& call);

extern const char* const kBenchExamples;

}  // namespace volvelle::cli
