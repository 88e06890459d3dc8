#pragma once

#include <string>
#include <vector>

#include "cli/attend_inputs.h"
#include "cli/attend_run.h"

namespace volvelle::cli {

/// True when every step of a problem fits a page or two: the default view of it.
bool is_small(const AttentionPlan& plan);

/// One step of one head: its name for programs, its title, and the tables under it.
struct StepSection {
  std::string name;
  std::string title;
  std::string body;
};
std::vector<StepSection> step_sections(const AttendInputs& inputs, const AttendRun& run,
                                       std::int64_t batch, std::int64_t head, int digits);
std::string section_text(const StepSection& section, int number);

/// The steps of a run as text, from the dot products to the output; `run.steps` must be there.
std::string steps_text(const AttendInputs& inputs, const AttendRun& run, int digits);

}  // namespace volvelle::cli
