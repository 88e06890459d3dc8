#include "volvelle/nn/placement.h"

#include <charconv>
#include <cmath>

#include "nn/placement_parser.h"

namespace volvelle {
namespace {

std::string shortest(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

std::string around(NormSlot slot, const std::string& inner) {
  return slot == NormSlot::none ? inner : std::string(word_of(slot)) + "(" + inner + ")";
}

std::string text_of(const PlacementBranch& branch) {
  const std::string argument = branch.shared ? "n" : around(branch.before, "x");
  const std::string call = std::string(word_of(branch.sublayer)) + "(" + argument + ")";
  const std::string factor = branch.factor == 1 ? "" : shortest(branch.factor) + " * ";
  return factor + around(branch.after, call);
}

std::string text_of(const PlacementStep& step) {
  std::string sum = !step.stream_factor        ? "alpha * x"
                    : *step.stream_factor == 1 ? "x"
                                               : shortest(*step.stream_factor) + " * x";
  for (const PlacementBranch& branch : step.branches) sum += " + " + text_of(branch);
  return around(step.stream, sum);
}

}  // namespace

std::string to_text(const NormPlacement& placement) {
  std::string text;
  for (const PlacementStep& step : placement.steps) {
    text += (text.empty() ? "" : "; ") + text_of(step);
  }
  return text;
}

std::string placement_formula(std::string_view text) {
  const NormPlacement placement = parse_placement(text);
  return to_text(placement) +
         (leaves_stream_normalised(placement) ? "" : "; after the last block norm(x)");
}

bool leaves_stream_normalised(const NormPlacement& placement) {
  return placement.steps.back().stream != NormSlot::none;
}

bool has_depth_factor(const NormPlacement& placement) {
  for (const PlacementStep& step : placement.steps) {
    if (!step.stream_factor) return true;
  }
  return false;
}

DepthFactors depth_factors(std::int64_t layers) {
  const auto depth = static_cast<double>(layers);
  return {.alpha = std::pow(2 * depth, 0.25), .beta = std::pow(8 * depth, -0.25)};
}

}  // namespace volvelle
