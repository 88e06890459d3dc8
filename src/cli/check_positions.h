#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle check positions`.
int run_check_positions(const Invocation& call);

extern const char* const kCheckPositionsExamples;
extern const char* const kCheckPositionsNotes;

}  // namespace volvelle::cli
