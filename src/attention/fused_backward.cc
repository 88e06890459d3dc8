#include "attention/fused_backward.h"

#include "volvelle/base/error.h"

namespace volvelle {

const char* fused_backward_refusal(const ResolvedAttention&, const ResolvedBackward&) {
  return "the fused backward is not there";
}

void attend_backward_fused(const ResolvedAttention&, const ResolvedBackward&, int) {
  throw InternalError("[attend_backward] the fused backward was run where it refuses");
}

}  // namespace volvelle
