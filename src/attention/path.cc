#include "attention/path.h"

#include "attention/few_queries.h"
#include "attention/fused.h"
#include "volvelle/base/error.h"

namespace volvelle {

AttentionPath choose_path(const ResolvedAttention& problem, AttentionPath wanted,
                          std::string* reason) {
  if (wanted == AttentionPath::oracle || wanted == AttentionPath::composed) {
    if (reason != nullptr) *reason = "asked for";
    return wanted;
  }
  const char* refusal = fused_refusal(problem);
  if (wanted == AttentionPath::fused && refusal != nullptr) {
    throw Unsupported("[attend] the fused path was asked for and cannot take this problem: " +
                      std::string(refusal) + "; use path automatic or composed");
  }
  if (reason != nullptr) {
    *reason =
        wanted == AttentionPath::fused ? "asked for"
        : refusal != nullptr           ? refusal
        : has_few_queries(problem)
            ? "few queries: their keys are read in parts of 512, once for all heads of a group"
            : "every option of this problem runs in tiles";
  }
  return refusal == nullptr ? AttentionPath::fused : AttentionPath::composed;
}

}  // namespace volvelle
