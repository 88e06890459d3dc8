#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle schemes`: the table of position schemes, or one of them on the caller's sizes.
int run_schemes(const Invocation& call);

extern const char* const kSchemesExamples;

}  // namespace volvelle::cli
