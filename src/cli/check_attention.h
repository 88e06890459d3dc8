#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

/// `volvelle check attention`: every property of the contract on every route, or some of them.
int run_check_attention(const Invocation& call);

extern const char* const kCheckAttentionExamples;
extern const char* const kCheckAttentionNotes;

}  // namespace volvelle::cli
