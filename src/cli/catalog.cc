#include <array>

#include "cli/attend.h"
#include "cli/bench.h"
#include "cli/check.h"
#include "cli/schemes.h"
#include "cli/study.h"
#include "cli/tour.h"
#include "cli/verb.h"

namespace volvelle::cli {
namespace {

// One line per verb; help, "did you mean" and the dispatch read it.
const std::array kVerbs{
    Verb{"tour", "the worked examples, every step on real numbers", "[PART] [options]",
         kTourExamples, "", run_tour},
    Verb{"attend", "attention on your own arrays, every step shown", "[INPUT] [options]",
         kAttendExamples, kAttendNotes, run_attend},
    Verb{"check", "what is promised, each beside a control that must fail", "[SUBJECT] [options]",
         kCheckExamples, "", run_check},
    Verb{"study", "a question of design, measured on your sizes", "[NAME] [options]",
         kStudyExamples, "", run_study_verb},
    Verb{"schemes", "ways of giving position: facts, frequencies, slopes, buckets",
         "[NAME] [settings] [options]", kSchemesExamples, "", run_schemes},
    Verb{"bench", "how fast this machine is at it, checked first", "[BENCHMARK] [options]",
         kBenchExamples, "", run_bench},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace volvelle::cli
