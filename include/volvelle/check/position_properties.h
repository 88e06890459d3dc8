#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "volvelle/attention/rotary_turn.h"
#include "volvelle/base/export.h"
#include "volvelle/check/attention_properties.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/model_cache.h"
#include "volvelle/nn/positions/pairing.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// A model as its users run it: what the properties of position schemes are asked of. An empty
/// function stands for this library's; anything else with the same meaning can be held to them.
struct PositionOperation {
  /// ids (B,T) -> logits (B,T,V), in one pass.
  std::function<Tensor(const LanguageModel& model, const View& ids, const ForwardOptions& how)>
      logits = {};
  /// LanguageModel::extend.
  std::function<Tensor(const LanguageModel& model, const View& ids, ModelCache& cache,
                       std::span<const Sequence> sequences, const ExtendOptions& how_much,
                       const ForwardOptions& how)>
      extend = {};
  /// Of the cross entropy of labels (B,T), by each of the model's parameters, in their order.
  std::function<std::vector<Tensor>(const LanguageModel& model, const View& ids, const View& labels,
                                    const ForwardOptions& how)>
      gradients = {};
  /// packed_with_pairing.
  std::function<Tensor(const View& rows, RotaryPairing from, RotaryPairing to,
                       const PackedHeads& heads)>
      convert_pairing = {};
};

struct PositionPropertyOptions {
  std::string property;  ///< one name; empty: all
  /// A name of nn/positions/catalog.h: all settings of it that are checked; or a text with settings
  /// in brackets: that one. Empty: all of position_settings().
  std::string scheme;
  int threads = 0;         ///< 0: the process's setting
  std::uint64_t seed = 1;  ///< of all numbers drawn
  PositionOperation operation = {};
  std::function<bool()> stopped = {};  ///< true: end early with what there is
  std::function<void(const std::string& property)> begins = {};  ///< told before each property
};

/// Measures what position schemes promise, in small models of two layers with grouped heads: each
/// scheme and setting beside controls that must fail. A property that a scheme cannot have is left
/// out for it. What the operation throws becomes a row that fails.
/// Throws:  InvalidArgument for an unknown property or scheme, and for settings that do not fit
///          heads of width 8.
VOLVELLE_API PropertyReport check_positions(const PositionPropertyOptions& options = {});

/// All properties, in the order they are measured.
VOLVELLE_API const std::vector<PropertyEntry>& position_properties();

/// Every scheme with the settings that are checked, as text.
VOLVELLE_API const std::vector<std::string>& position_settings();

}  // namespace volvelle
