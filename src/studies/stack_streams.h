#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volvelle/base/any_generator.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

/// One layer's part of a stream, by the root mean square over all tokens.
struct LayerStream {
  double length = 0;           ///< after the layer, over that before the first
  double attention_share = 0;  ///< length of the branch over that of stream and branch together
  double feed_forward_share = 0;
};

struct StackStreams {
  std::vector<LayerStream> pre, post;  ///< as many as were done
};

struct StackStreamOptions {
  StackOptions block;  ///< sizes; its layers and placement are set here
  std::int64_t layers = 24;
  std::int64_t batch = 4, tokens = 32;
  RandomStream stream = RandomStream::numpy;
  std::uint64_t seed = 0;
  int threads = 0;
};

/// Runs normal token vectors through a pre-LN and a post-LN stack of the same initial values
/// (PyTorch's), one layer of both after another, so that memory does not grow with depth. `begins`
/// is told which layer comes and returns false to stop.
StackStreams measure_stack_streams(const StackStreamOptions& options,
                                   const std::function<bool(std::int64_t)>& begins);

}  // namespace volvelle
