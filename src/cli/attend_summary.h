#pragma once

#include <string>

#include "cli/attend_inputs.h"
#include "cli/attend_run.h"

namespace volvelle::cli {

/// Which path would run, why, and how many tiles it would meet.
std::string plan_text(const AttendInputs& inputs, const AttentionPlan& plan, int threads);

/// The same of the way back: a line.
std::string backward_plan_text(const AttentionBackwardPlan& plan);

/// A large run on one page: shapes, path, output, time, entropy per head.
std::string summary_text(const AttendInputs& inputs, const AttendRun& run, int digits);

/// Entropy of the rows: a table when there are few, else how it runs along the queries.
std::string entropy_text(const AttendRun& run, int digits);

/// How much each key is read: a table or, for many keys, a chart.
std::string column_sums_text(const AttendRun& run, int digits);

}  // namespace volvelle::cli
