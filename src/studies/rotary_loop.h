#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Weights and tokens of one causal layer with rotary positions.
struct RotaryLayer {
  std::int64_t width = 0, heads = 1;
  double base = 10000;
  Tensor qkv;  ///< (3C,C), float32
  Tensor out;  ///< (C,C)
};

/// What may go wrong with it.
enum class RotaryFault : std::uint8_t {
  none,
  no_mask,              ///< every key is seen
  mask_after_softmax,   ///< hidden weights are made 0 after the rows were made to sum to 1
  diagonal_masked,      ///< a token does not see itself
  values_turned,        ///< values are turned as queries and keys are
  rates_of_width,       ///< exponents with the model's width in place of the head's
  pairing_swapped,      ///< neighbouring columns turn together, with weights of the split halves
  turned_before_split,  ///< the whole width is turned as one head would be
};

/// A double loop written from the definition: project, split, turn, score, mask, softmax, blend,
/// merge, project. x (B,T,C); tokens stand at first, first + 1, ...
std::vector<double> rotary_layer_loop(const RotaryLayer& layer, const Tensor& x,
                                      RotaryFault fault = RotaryFault::none,
                                      std::int64_t first = 0);

/// A third (0: queries, 1: keys, 2: values) of the projected tokens, (B,H,T,D), turned pair by pair
/// where it is not values.
std::vector<double> rotary_heads_loop(const RotaryLayer& layer, const Tensor& x, int third,
                                      RotaryFault fault = RotaryFault::none,
                                      std::int64_t first = 0);

}  // namespace volvelle
