#pragma once

#include <memory>
#include <string>

#include "measure/attention_arrays.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {

/// Attention over given arrays with positions by a scheme, as plain views: what modules hand to
/// `attend`, without the tape. Numbers that train are drawn.
class PositionedAttention {
 public:
  PositionedAttention(const AttentionArrays& arrays, const std::string& scheme);

  const AttentionProblem& problem() const { return problem_; }
  /// The arrays that gradients of the scheme's parameters go to are its own.
  AttentionGradients gradients(const AttentionGradients& of_q_k_v);

 private:
  void add(const Variable& parameter, View AttentionProblem::* place,
           MutableView AttentionGradients::* gradient);

  std::shared_ptr<PositionScheme> scheme_;
  AttendVariableOptions entered_;
  AttentionProblem problem_;
  AttentionGradients gradients_;
  std::vector<Tensor> memory_;
};

/// Refuses schemes that do not enter attention: their cost is not to be seen there.
std::shared_ptr<PositionScheme> scheme_of_attention(const std::string& text,
                                                    const AttentionCase& shape);

}  // namespace volvelle
