#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle check [SUBJECT] [options]`: with no subject it lists them.
int run_check(const Invocation& call);

extern const char* const kCheckExamples;

}  // namespace volvelle::cli
