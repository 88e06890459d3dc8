#include "studies/stream_reading.h"

#include <utility>

#include "studies/placement_phrases.h"
#include "volvelle/nn/placement.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

double median_copy_through(const CaseSummary& one) {
  std::vector<double> through;
  for (const PlacementRun& run : one.runs) through.push_back(run.copy_through);
  return lower_median(through);
}

double median_copy(const CaseSummary& one) {
  std::vector<double> copies;
  for (const PlacementRun& run : one.runs) copies.push_back(lower_median(run.copies));
  return lower_median(copies);
}

bool norm_is_on_stream(const std::string& placement, std::int64_t depth) {
  return leaves_stream_normalised(placements_by_layer(placement, depth).back());
}

std::string what_passes(const CaseSummary& one) {
  if (norm_is_on_stream(one.of.placement, one.of.depth)) {
    return ": norms on the stream rescale what passes, so no clean copy arrives.";
  }
  // Branches without a norm can add many times what came.
  const double through = median_copy_through(one);
  if (through > 0.5 && through < 2) {
    return ": the stream is a sum, so an untouched copy passes beside what the branches add.";
  }
  return ": the stream is a sum and a copy passes, but what the branches add outgrows it.";
}

void say_copies(const PlacementPlan& plan, const CaseSummary& one,
                std::vector<std::string>& lines) {
  std::vector<double> factors;
  for (const PlacementRun& run : one.runs) factors.push_back(lower_median(run.factors));
  lines.push_back(title_of(plan, one.of) + ": a layer multiplies the gradient's norm by " +
                  rounded(lower_median(factors), 3) + "; of the gradient at its output " +
                  rounded(median_copy(one), 2) +
                  " is found again in that at its input, and through all layers " +
                  rounded(median_copy_through(one), 2) + what_passes(one));
}

void say_jacobian(const PlacementPlan& plan, const CaseSummary& one,
                  std::vector<std::string>& lines) {
  if (!one.close || !one.close->jacobian || !norm_is_on_stream(one.of.placement, one.of.depth)) {
    return;
  }
  const NormJacobian& norm = *one.close->jacobian;
  std::string line =
      "The norm on the stream of " + title_of(plan, one.of) + " divides by the spread, " +
      rounded(norm.spread, 2) + ": " + rounded(norm.passed, 2) +
      " of the gradient's length comes through (1 / spread is " + rounded(1 / norm.spread, 2) + ")";
  if (one.of.norm == NormKind::layer) {
    line += "; it removes the mean direction, which held " + rounded(norm.mean_before, 3) +
            " of the gradient and holds " + rounded(norm.mean_behind, 1) + " behind it";
  } else {
    line += "; it keeps the mean direction (" + rounded(norm.mean_behind, 3) + " behind it)";
  }
  lines.push_back(line + ", and the token's own direction (" + rounded(norm.along_before, 3) +
                  ", then " + rounded(norm.along_behind, 1) + ").");
}

}  // namespace

void say_stream(const PlacementPlan& plan, const PlacementSummary& summary,
                std::vector<std::string>& lines) {
  for (const NormKind norm : plan.options.norms) {
    for (const std::string& placement : plan.options.placements) {
      const auto cases = readable_cases(summary, placement, norm);
      if (cases.empty()) continue;
      say_copies(plan, *cases.back(), lines);
      say_jacobian(plan, *cases.back(), lines);
    }
  }
}

}  // namespace volvelle
