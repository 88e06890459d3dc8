#pragma once

#include <memory>
#include <utility>

#include "nn/split_positions.h"
#include "volvelle/nn/embedding.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {

/// The last product of a language model; its weight may be somebody else's, under a second name.
class LanguageHead : public Module {
 public:
  LanguageHead(Variable weight, Variable bias)
      : weight_(std::move(weight)), bias_(std::move(bias)) {
    add_parameter("weight", weight_);
    add_parameter("bias", bias_);
  }
  /// x (...,C) -> (...,V).
  Variable forward(const Variable& x, const ForwardOptions& how) const;
  void initialize(Initializer& initializer) { initializer.linear(weight_, bias_); }

 private:
  Variable weight_, bias_;
};

struct LanguageModel::Parts {
  Parts(const LanguageModelOptions& given, const SplitPositions& split);

  /// What the head is given. ids (B,T), positions (B,T) or (T).
  Variable hidden(const View& ids, const View& positions, const ForwardOptions& how,
                  StackTrace* trace = nullptr) const;

  LanguageModelOptions options;
  Stack stack;
  Embedding embedding;
  std::shared_ptr<PositionScheme> positions;  // absent: none that is added to token vectors
  LanguageHead head;
};

}  // namespace volvelle
