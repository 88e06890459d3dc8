#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/resolved.h"
#include "volvelle/check/compare.h"
#include "volvelle/check/expect_gradients.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// What a gradient is by.
enum class GradientOf : std::uint8_t { q, k, v, bias, slopes, bias_table, bucket_table, sinks };

/// One gradient of ours and the other program's, on the same axes.
struct GradientPair {
  GradientOf of;
  const char* name;  ///< "grad_q"
  View ours;
  View theirs;
  Tensor owned = {};  ///< the memory of `theirs` where it was made of the file's
  CompareOptions options = {};
  Comparison comparison = {};
  bool explained = false;  ///< a fault that reproduces it has been found
};

using GradientPairs = std::vector<GradientPair>;

/// "grad_q", "grad_q and grad_k", "grad_q, grad_k and grad_bias".
std::string names_of(const std::vector<const GradientPair*>& pairs);

}  // namespace volvelle
