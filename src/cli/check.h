#pragma once

#include <span>

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle check [SUBJECT] [options]`: with no subject it lists them.
int run_check(const Invocation& call);

/// What can be checked, each a verb of its own behind `check`.
std::span<const Verb> check_subjects();

extern const char* const kCheckExamples;

}  // namespace volvelle::cli
