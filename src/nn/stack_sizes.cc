#include "nn/stack_sizes.h"

#include <string>

#include "nn/parameter.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostLayers = 1'000'000;

}  // namespace

void check_layers(std::int64_t layers) {
  check_size("stack", "layers", layers);
  if (layers <= kMostLayers) return;
  throw InvalidArgument("[stack] layers=" + std::to_string(layers) + " must be at most " +
                        std::to_string(kMostLayers));
}

}  // namespace volvelle
