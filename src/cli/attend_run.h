#pragma once

#include <optional>

#include "cli/attend_inputs.h"
#include "cli/attend_options.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/backward_steps.h"
#include "volvelle/attention/steps.h"

namespace volvelle::cli {

/// The way back.
struct BackwardRun {
  AttentionBackwardPlan plan;
  AttentionGradientResult gradients;  ///< each in the order of its input's axes
  View q_bhtd, k_bgsd, v_bgse;        ///< the same memory on the problem's axes
  std::optional<AttentionBackwardSteps> steps;
  double milliseconds = 0;  ///< of one call: the median of `calls`
  int calls = 0;
};

/// Everything one call of `volvelle attend` has computed.
struct AttendRun {
  AttentionPlan plan;
  AttentionResult result;  ///< output in the order of the input's axes
  View output_bhte;        ///< the same memory on the problem's axes
  std::optional<AttentionSteps> steps;
  Tensor turned_q, turned_k;  ///< with the steps, where a problem turns them, on its axes
  std::optional<BackwardRun> backward;
  double milliseconds = 0;  ///< of one call: the median of `calls`
  int calls = 0;
  int threads = 0;
};

/// Which extra arrays are wanted besides the output.
struct AttendWishes {
  bool entropy = false;
  bool column_sums = false;
  bool steps = false;
};

AttentionOptions attention_options(const AttendOptions& options);

/// Runs the problem and times it; with a grad_output the way back too.
AttendRun run_attention(const AttendInputs& inputs, const AttentionOptions& options,
                        const AttendWishes& wishes);

}  // namespace volvelle::cli
