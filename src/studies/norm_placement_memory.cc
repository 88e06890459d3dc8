#include "studies/norm_placement_memory.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/machine_memory.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr double kFloat = 4;
constexpr double kDouble = 8;

std::string gibibytes(double bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g GiB", bytes / (1024.0 * 1024.0 * 1024.0));
  return text;
}

// Matrices and biases of one layer; norms are small beside them.
double layer_parameters(const NormPlacementOptions& options) {
  const auto width = static_cast<double>(options.width);
  const auto hidden = static_cast<double>(options.feed_forward);
  return 4 * width * width + 2 * width * hidden + 5 * width + hidden;
}

// What one layer keeps for the way back: its input, q, k, v, what attention read, the stream
// between the sublayers, both norms' outputs, what the feed-forward has between its products.
double layer_activations(const NormPlacementOptions& options) {
  const double tokens = static_cast<double>(options.batch) * static_cast<double>(options.tokens);
  return tokens *
         (9 * static_cast<double>(options.width) + static_cast<double>(options.feed_forward));
}

}  // namespace

double bytes_needed(const PlacementPlan& plan) {
  const NormPlacementOptions& options = plan.options;
  const auto depth =
      static_cast<double>(*std::max_element(options.depths.begin(), options.depths.end()));
  const double parameters = depth * layer_parameters(options);
  const double activations = depth * layer_activations(options);
  // The numbers themselves, those of a stack about to share them, both packed forms, gradients.
  const double run = kFloat * (5 * parameters + activations);
  // One seed goes through double as well, while its float32 gradients are still there.
  const double repeated = kDouble * (4 * parameters + activations);
  const double logits = static_cast<double>(options.batch) * static_cast<double>(options.tokens) *
                        static_cast<double>(options.classes) * 2 * (kFloat + kDouble);
  return plan.runs_at_once * run + repeated + logits;
}

void check_memory(const PlacementPlan& plan) {
  const double bytes = bytes_needed(plan);
  const auto memory = static_cast<double>(machine_memory());
  if (bytes < 0x1p62 && (memory == 0 || bytes <= memory)) return;
  throw InvalidArgument("[norm-placement] these sizes need about " + gibibytes(bytes) + " with " +
                        std::to_string(plan.runs_at_once) + " runs at once; this machine has " +
                        gibibytes(memory) +
                        ": take fewer layers, tokens or threads, or a smaller width");
}

}  // namespace volvelle
