#include "cli/study.h"

#include <vector>

#include "cli/study_attention_cost.h"
#include "cli/study_extrapolation.h"
#include "cli/study_norm_placement.h"
#include "cli/study_path_factors.h"
#include "cli/study_position_faults.h"
#include "cli/study_positions.h"
#include "cli/study_rotary.h"
#include "cli/study_saturation.h"
#include "cli/study_sinusoidal.h"
#include "cli/study_stream_growth.h"
#include "cli/study_warm_up.h"
#include "cli/subjects.h"
#include "volvelle/studies/study.h"

namespace volvelle::cli {
namespace {

// Its sentence stands in the catalog of studies.
Verb study(const char* name, const char* examples, const char* notes,
           int (*run)(const Invocation&)) {
  const std::string wanted = std::string(name).substr(std::string("study ").size());
  const char* sentence = "";
  for (const StudyEntry& entry : studies()) {
    if (wanted == entry.name) sentence = entry.sentence;
  }
  return {name, sentence, "[options]", examples, notes, run};
}

const std::vector<Verb>& study_verbs() {
  static const std::vector<Verb> verbs{
      study("study path-factors", kStudyPathFactorsExamples, kStudyPathFactorsNotes,
            run_study_path_factors),
      study("study stream-growth", kStudyStreamGrowthExamples, kStudyStreamGrowthNotes,
            run_study_stream_growth),
      study("study norm-placement", kStudyNormPlacementExamples, kStudyNormPlacementNotes,
            run_study_norm_placement),
      study("study saturation", kStudySaturationExamples, kStudySaturationNotes,
            run_study_saturation),
      study("study warm-up", kStudyWarmUpExamples, kStudyWarmUpNotes, run_study_warm_up),
      study("study extrapolation", kStudyExtrapolationExamples, kStudyExtrapolationNotes,
            run_study_extrapolation),
      study("study position-faults", kStudyPositionFaultsExamples, kStudyPositionFaultsNotes,
            run_study_position_faults),
      study("study sinusoidal", kStudySinusoidalExamples, kStudySinusoidalNotes,
            run_study_sinusoidal),
      study("study positions", kStudyPositionsExamples, kStudyPositionsNotes, run_study_positions),
      study("study rotary", kStudyRotaryExamples, kStudyRotaryNotes, run_study_rotary),
      study("study attention-cost", kStudyAttentionCostExamples, kStudyAttentionCostNotes,
            run_study_attention_cost),
  };
  return verbs;
}

}  // namespace

int run_study_verb(const Invocation& call) {
  return run_subject(call, study_verbs(), {"Studies", "study", "NAME"});
}

const char* const kStudyExamples =
    "volvelle study # lists the studies\n"
    "volvelle study norm-placement # question, table, chart, control, reading, limits\n"
    "volvelle study path-factors --json --plot factors.svg # for a program, and as a picture";

}  // namespace volvelle::cli
