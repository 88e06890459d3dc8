#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/any_generator.h"

namespace volvelle {

/// Lengths and branches' shares of a stream, layer by layer.
struct StreamLengths {
  std::vector<double> length;  ///< of the stream after each layer; 1 before the first
  std::vector<double> share;   ///< length of the layer's branch over that of their sum
};

/// What happens to the sum before the next branch is added.
enum class AfterAdding {
  nothing,      ///< pre-LN's stream
  back_to_one,  ///< divided by its length, as a norm on the stream does
};

/// Adds branches of length 1 in random directions to a stream of length 1.
StreamLengths add_unit_branches(AnyGenerator random, std::int64_t layers, std::int64_t width,
                                AfterAdding after);

}  // namespace volvelle
