#pragma once

#include <cstdint>
#include <optional>

#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// What layer_norm and rms_norm are cases of: rows of x, less their mean where `centred`, over the
/// root of their mean square plus epsilon, times weight_offset + weight, plus bias.
struct NormCall {
  const char* operation = "";
  Variable weight = {};  ///< (C) or absent: factors are 1
  Variable bias = {};    ///< (C) or absent
  double epsilon = 0;
  double weight_offset = 0;
  std::optional<DType> dtype = {};
  int threads = 0;
  bool centred = true;
};

Variable normalise_rows(const Variable& x, const NormCall& call);

}  // namespace volvelle
