#include "cli/check.h"

#include <array>

#include "cli/check_attention.h"
#include "cli/check_positions.h"
#include "cli/subjects.h"

namespace volvelle::cli {
namespace {

const std::array kSubjects{
    Verb{"check attention", "what attention promises, each property beside a control", "[options]",
         kCheckAttentionExamples, kCheckAttentionNotes, run_check_attention},
    Verb{"check positions", "what each position scheme promises, beside controls", "[options]",
         kCheckPositionsExamples, kCheckPositionsNotes, run_check_positions},
};

}  // namespace

int run_check(const Invocation& call) {
  return run_subject(call, kSubjects, {"Subjects", "check", "SUBJECT"});
}

const char* const kCheckExamples =
    "volvelle check # lists what can be checked\n"
    "volvelle check attention # every property on this machine, beside its control\n"
    "volvelle check attention --list # what each property says\n"
    "volvelle check positions --scheme rotary # what rotary positions promise";

}  // namespace volvelle::cli
