#pragma once

#include <cstdint>
#include <string>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// One parameter that every layer of a stack has, or a third of its packed projections.
struct LayerParameter {
  enum class Part : std::uint8_t { all, query, key, value };

  std::string name = "linear1.weight";
  Part part = Part::all;

  /// "self_attn.in_proj_bias:key". Throws InvalidArgument for a part of another name or of a
  /// parameter that is not packed.
  static LayerParameter parse(const std::string& text);

  /// "layers.3.linear1.weight"
  std::string in_layer(std::int64_t layer) const;
  /// The rows of a gradient that are meant.
  View of(const View& gradient) const;
  /// Whether no loss depends on it: what is added to every key alike adds the same number to all
  /// scores of a query, which softmax does not see.
  bool is_unseen() const;
};

}  // namespace volvelle
