#include "studies/norm_placement_reading.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "studies/placement_comparison.h"
#include "studies/placement_phrases.h"
#include "studies/stream_reading.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

using Lines = std::vector<std::string>;

std::string reason_of_noise(const PlacementPlan& plan) {
  if (plan.options.loss == PlacementLoss::degenerate) {
    return " The mean square of a normalised output is close to 1 whatever goes in: this loss does "
           "not depend on the network, and a ratio of such gradients means nothing.";
  }
  if (plan.options.measure == PlacementMeasure::parameter && plan.parameter.is_unseen()) {
    return " What is added to every key alike adds one number to all scores of a query, which "
           "softmax does not see: this gradient is 0, and what is measured is rounding.";
  }
  return "";
}

void say_noise(const PlacementPlan& plan, const PlacementSummary& summary, Lines& lines) {
  std::vector<std::string> noise;
  double least = INFINITY;
  for (const CaseSummary& one : summary.cases) {
    if (!one.close || !one.close->agreement.is_noise()) continue;
    noise.push_back(title_of(plan, one.of));
    least = std::min(least, one.close->agreement.disagreement);
  }
  if (noise.empty()) return;
  lines.push_back("Rounding noise, so no reading: " + listed(noise) +
                  ". Measured again in double, with a millionth of epsilon, these gradients differ "
                  "by " +
                  rounded(least, 2) + " or more of their length, where " +
                  rounded(kAgreementBound, 2) + " is the bound." + reason_of_noise(plan));
}

std::string where_the_gradient_goes(const std::vector<double>& medians) {
  const auto above = std::count_if(medians.begin(), medians.end(), [](double m) { return m > 1; });
  if (above == static_cast<std::ptrdiff_t>(medians.size())) {
    return " puts more gradient on the layers nearest the output";
  }
  if (above == 0)
    return " stays below 1 by its medians and puts more gradient on the layers nearest the input";
  return " favours one end or the other, as the depth goes";
}

std::string with_depth(const std::vector<double>& medians) {
  if (medians.size() < 2) return "";
  std::vector<double> uneven;
  for (const double median : medians) uneven.push_back(std::abs(std::log2(median)));
  if (std::is_sorted(uneven.begin(), uneven.end())) return ", and more so with depth";
  if (std::is_sorted(uneven.rbegin(), uneven.rend())) return ", and less so with depth";
  return "";
}

void say_trends(const PlacementPlan& plan, const PlacementSummary& summary, Lines& lines) {
  for (const NormKind norm : plan.options.norms) {
    for (const std::string& placement : plan.options.placements) {
      const auto cases = readable_cases(summary, placement, norm);
      if (cases.empty()) continue;
      std::vector<double> medians;
      for (const CaseSummary* one : cases) medians.push_back(one->ratio.median);
      lines.push_back(named(plan, placement, norm) + where_the_gradient_goes(medians) +
                      with_depth(medians) + ": median last/first " + figures(medians, 2) + " at " +
                      depths_of(cases) + " layers.");
    }
  }
}

std::string by_one_rate(const CaseSummary& one) {
  return std::string(" One learning rate serves all layers: by plain gradient steps its ") +
         (one.ratio.median > 1 ? "last layer would move that much further than its first."
                               : "first layer would move that much further than its last.");
}

void say_size(const PlacementPlan& plan, const PlacementSummary& summary, Lines& lines) {
  const CaseSummary* most = nullptr;
  for (const CaseSummary& one : summary.cases) {
    if (!one.readable()) continue;
    if (most == nullptr || one.unevenness.median > most->unevenness.median) most = &one;
  }
  if (most == nullptr) return;
  const double factor = std::exp2(most->unevenness.median);
  lines.push_back(std::string(factor < 10 ? "The effect is modest, not an order of magnitude"
                                          : "The effect is large") +
                  ": the most uneven is " + title_of(plan, most->of) + ", by a factor of " +
                  rounded(factor, 1) + " in the median, with last/first from " +
                  rounded(most->ratio.minimum, 2) + " to " + rounded(most->ratio.maximum, 2) +
                  " over seeds." +
                  (plan.options.measure == PlacementMeasure::parameter ? by_one_rate(*most) : ""));
}

void say_slopes(const PlacementPlan& plan, const PlacementSummary& summary, Lines& lines) {
  if (plan.options.measure != PlacementMeasure::parameter) return;
  std::vector<std::string> parts;
  for (const NormKind norm : plan.options.norms) {
    for (const std::string& placement : plan.options.placements) {
      const auto cases = readable_cases(summary, placement, norm);
      if (cases.empty() || cases.back()->of.depth < 3) continue;
      const CaseSummary& deepest = *cases.back();
      parts.push_back(
          title_of(plan, deepest.of) + " " +
          rounded(std::exp2(deepest.slope.median * static_cast<double>(deepest.of.depth - 1)), 2));
    }
  }
  if (parts.empty()) return;
  lines.push_back(
      "By the slope over all layers, which no single layer decides, the norm grows from "
      "first to last by a factor of: " +
      listed(parts) + ".");
}

void say_near_output(const PlacementPlan& plan, const PlacementSummary& summary, Lines& lines) {
  for (const NormKind norm : plan.options.norms) {
    const DepthSummary* post = nullptr;
    const DepthSummary* pre = nullptr;
    for (const DepthSummary& one : summary.depths) {
      if (one.norm != norm || !one.readable) continue;
      if (one.placement == "post") post = &one;
      if (one.placement == "pre") pre = &one;
    }
    if (post == nullptr || pre == nullptr) continue;
    const auto part = [&](const DepthSummary& one) {
      const auto cases = readable_cases(summary, one.placement, norm);
      std::vector<double> norms;
      for (const CaseSummary* of : cases) norms.push_back(of->last.median);
      return named(plan, one.placement, norm) + " " + figures(norms, 3) + " (depth^" +
             rounded(one.exponent, 2) + ")";
    };
    const bool as_theory = post->interval.low > pre->interval.high;
    lines.push_back(
        "The gradient of the last layer itself, with depth: " + part(*post) + ", " + part(*pre) +
        ". " +
        (as_theory
             ? "That is the direction of Xiong et al. 2020, where post's does not shrink with "
               "depth and pre's does (depth^-0.5): near the output post's is the larger, the "
               "more so the deeper, which is what makes a large first step unsafe."
             : "The intervals of the two exponents overlap: the direction of Xiong et al. "
               "2020, where post's does not shrink with depth and pre's does, is not seen."));
  }
}

}  // namespace

Lines placement_reading(const PlacementPlan& plan, const PlacementSummary& summary) {
  Lines lines;
  if (summary.cases.empty()) return {"Stopped before anything was measured."};
  say_noise(plan, summary, lines);
  if (plan.options.measure == PlacementMeasure::stream) say_stream(plan, summary, lines);
  say_trends(plan, summary, lines);
  say_comparisons(plan, summary, lines);
  say_size(plan, summary, lines);
  say_slopes(plan, summary, lines);
  if (plan.options.measure == PlacementMeasure::parameter) say_near_output(plan, summary, lines);
  return lines;
}

Lines placement_limits() {
  return {
      "At initialization only: nothing was trained, no run was seen to diverge, and training "
      "changes "
      "the weights that these gradients come from.",
      "Random tokens and random labels on a small stack: other sizes, data and parameters move the "
      "figures.",
      "A direction, not a threshold: how large a ratio breaks a run depends on optimizer, rate and "
      "data. Log the gradient norm of each layer over your own first few hundred steps.",
      "Nothing about final quality: a ratio of gradients proves nothing about accuracy after "
      "training.",
      "Post-LN is a choice for a shallow model with a tuned recipe where restarts are affordable; "
      "pre-LN, with its final norm, where a failed run costs days.",
      "What would change the call: a published recipe that is being reproduced, or one's own "
      "evaluation where post-LN ends higher after tuning."};
}

}  // namespace volvelle
