#pragma once

#include <string>
#include <vector>

#include "cli/attend_run.h"

namespace volvelle::cli {

/// The gradients of a run, and how long they take. `output` and `lse` are the saved ones, on the
/// problem's axes.
BackwardRun run_backward(const AttendInputs& inputs, const AttentionSaved& saved,
                         const AttentionOptions& options);

/// A gradient with the name that files and documents use: "grad_q".
struct NamedGradient {
  const char* name;
  const Tensor& array;
};
/// Those that there are.
std::vector<NamedGradient> named(const AttentionGradientResult& gradients);

}  // namespace volvelle::cli
