#pragma once

#include <optional>
#include <span>
#include <string>

#include "volvelle/autograd/variable.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A trained network, and what it is asked.
struct FaultSubject {
  const LanguageModel& model;
  PositionFacts facts;  ///< of its scheme
  const Tensor& ids;    ///< (B,T)
};

/// Logits (B,T,V) of the same tokens.
struct FaultLogits {
  Variable right, wrong;
  std::int64_t places = 0;  ///< of the first so many tokens; 0: of all
};

/// One mistake.
struct PositionFault {
  const char* name;
  const char* sentence;  ///< what was done
  /// Why a scheme has no place for it; null where it has.
  const char* (*absent)(const FaultSubject& subject);
  FaultLogits (*run)(const FaultSubject& subject);
};

/// In the order in which the study shows them.
std::span<const PositionFault> position_faults();

}  // namespace volvelle
