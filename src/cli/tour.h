#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

int run_tour(const Invocation& call);
extern const char* const kTourExamples;

}  // namespace volvelle::cli
