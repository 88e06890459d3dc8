#pragma once

#include <span>

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle bench [BENCHMARK] [options]`: with no benchmark it lists them.
int run_bench(const Invocation& call);

/// The benchmarks, each a verb of its own behind `bench`.
std::span<const Verb> benchmarks();

extern const char* const kBenchExamples;

}  // namespace volvelle::cli
