#pragma once

#include "cli/verb.h"

namespace volvelle::cli {

int run_attend(const Invocation& call);
extern const char* const kAttendExamples;
extern const char* const kAttendNotes;

}  // namespace volvelle::cli
