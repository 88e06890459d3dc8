#include "volvelle/training/remarks.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "volvelle/nn/placement.h"
#include "volvelle/training/layer_log.h"

namespace volvelle {
namespace {

// DeepNorm's factor on the stream is what keeps its first steps small.
bool norms_the_stream(const NormPlacement& placement) {
  return std::any_of(placement.steps.begin(), placement.steps.end(), [](const PlacementStep& step) {
    return step.stream != NormSlot::none && step.stream_factor.has_value();
  });
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string gradient_norms(const StepReport& report) {
  LayerLog log;
  log.add(report);
  std::string text = "gradient norms of step " + std::to_string(report.step) + ":";
  const char* between = " ";
  for (const LayerFigures& layer : log.records().front().layers) {
    text += between + layer.layer + " " + short_number(layer.gradient_norm);
    between = ", ";
  }
  return text;
}

}  // namespace

std::vector<std::string> training_remarks(const StackOptions& stack,
                                          const ScheduleOptions& schedule,
                                          const StepReport* report) {
  const std::vector<NormPlacement> layers = placements_by_layer(stack.placement, stack.layers);
  const auto count = std::count_if(layers.begin(), layers.end(), norms_the_stream);
  if (count == 0 || schedule.warm_up > 0) return {};
  std::vector<std::string> remarks{
      "placement '" + stack.placement + "' normalises the stream itself in " +
      std::to_string(count) + " of " + std::to_string(stack.layers) +
      " layers, and the rate starts at " + short_number(schedule.rate) +
      " without a warm-up: such runs may break in their first steps (set warm_up, lower the rate, "
      "or take placement 'pre')"};
  if (report != nullptr && !report->parameters.empty()) {
    remarks.push_back(gradient_norms(*report));
  }
  return remarks;
}

}  // namespace volvelle
