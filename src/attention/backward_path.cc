#include "attention/backward_path.h"

#include "attention/fused_backward.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

AttentionBackwardPlan plan_for(const ResolvedAttention& problem, const ResolvedBackward& backward,
                               const AttentionOptions& options) {
  AttentionBackwardPlan plan;
  plan.path = choose_backward_path(problem, backward, options.path, &plan.reason);
  plan.simd = plan.path == AttentionPath::fused    ? simd_target()
              : plan.path == AttentionPath::oracle ? "double loops"
                                                   : "plain loops";
  return plan;
}

}  // namespace

AttentionPath choose_backward_path(const ResolvedAttention& problem,
                                   const ResolvedBackward& backward, AttentionPath wanted,
                                   std::string* reason) {
  if (reason != nullptr) *reason = "asked for";
  if (wanted == AttentionPath::oracle || wanted == AttentionPath::composed) return wanted;
  const char* refusal = fused_backward_refusal(problem, backward);
  if (wanted == AttentionPath::fused) {
    if (refusal == nullptr) return wanted;
    throw Unsupported(
        "[attend_backward] the fused path was asked for and cannot take this problem: " +
        std::string(refusal) + "; use path automatic or composed");
  }
  if (reason != nullptr) {
    *reason = refusal != nullptr ? refusal : "every option of this problem runs in tiles";
  }
  return refusal == nullptr ? AttentionPath::fused : AttentionPath::composed;
}

AttentionBackwardPlan explain_backward(const AttentionProblem& problem, const AttentionSaved& saved,
                                       const View& grad_output, const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  return plan_for(resolved, resolve_backward(resolved, problem, saved, grad_output, {}), options);
}

AttentionBackwardPlan explain_backward(const AttentionProblem& problem,
                                       const AttentionOptions& options) {
  return plan_for(resolve(problem), {}, options);
}

}  // namespace volvelle
