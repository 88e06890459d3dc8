#pragma once

#include <span>

#include "cli/verb.h"

namespace volvelle::cli {

/// How a verb with subjects speaks of them.
struct SubjectWords {
  const char* heading;      ///< "Benchmarks"
  const char* noun;         ///< "benchmark"
  const char* placeholder;  ///< "NAME", in usage lines
};

/// A verb whose first argument names what it is about: `volvelle bench attention`. `subjects` are
/// named with the verb in front. Lists them when called with nothing or for help, else runs one.
/// Throws UsageError for any other name.
int run_subject(const Invocation& call, std::span<const Verb> subjects, const SubjectWords& words);

}  // namespace volvelle::cli
