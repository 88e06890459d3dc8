#include "studies/placement_comparison.h"

#include <utility>

#include "studies/placement_phrases.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

struct Compared {
  const CaseSummary* first;
  const CaseSummary* second;
};

// Both placements at every depth that can be read of both.
std::vector<Compared> compared(const PlacementSummary& summary, const std::string& first,
                               const std::string& second, NormKind norm) {
  std::vector<Compared> found;
  for (const CaseSummary* one : readable_cases(summary, first, norm)) {
    for (const CaseSummary* other : readable_cases(summary, second, norm)) {
      if (one->of.depth == other->of.depth) found.push_back({one, other});
    }
  }
  return found;
}

std::string more_even(const PlacementPlan& plan, const std::string& first,
                      const std::string& second, NormKind norm,
                      const std::vector<Compared>& depths) {
  std::vector<std::string> parts;
  for (const Compared& both : depths) {
    const double a = both.first->unevenness.median;
    const double b = both.second->unevenness.median;
    parts.push_back(std::to_string(both.first->of.depth) + " layers " + (a < b ? first : second) +
                    " (" + rounded(a, 2) + " against " + rounded(b, 2) + ")");
  }
  return "Last/first alone misleads; the more even of " + named(plan, first, norm) + " and " +
         named(plan, second, norm) + ", by the median |log2 ratio|, is at " + listed(parts) + ".";
}

std::string seed_by_seed(const PlacementPlan& plan, const PlacementSummary& summary,
                         const std::string& first, const std::string& second, NormKind norm) {
  std::vector<std::string> parts;
  for (const CaseSummary* one : readable_cases(summary, first, norm)) {
    for (const PairSummary& pair : summary.pairs) {
      if (pair.depth != one->of.depth || pair.norm != norm || pair.second != second ||
          !pair.readable) {
        continue;
      }
      parts.push_back("in " + std::to_string(pair.signs.above) + " of " +
                      std::to_string(pair.factors.size()) + " at " + std::to_string(pair.depth) +
                      " layers, by a factor of " + rounded(pair.median, 2) + " (" +
                      rounded(pair.interval.low, 2) + " to " + rounded(pair.interval.high, 2) +
                      ")");
    }
  }
  if (parts.empty()) return "";
  return "Seed by seed " + named(plan, first, norm) + "'s ratio is larger than " +
         named(plan, second, norm) + "'s " + listed(parts) +
         "; the median of all seeds lies in the brackets with the probability in the table, "
         "whatever the distribution.";
}

// Whether the first's median is the larger, depth by depth.
std::vector<std::pair<std::int64_t, bool>> order_of(const std::vector<Compared>& depths) {
  std::vector<std::pair<std::int64_t, bool>> order;
  for (const Compared& both : depths) {
    order.emplace_back(both.first->of.depth, both.first->ratio.median > both.second->ratio.median);
  }
  return order;
}

void say_kinds(const PlacementPlan& plan, const PlacementSummary& summary, const std::string& first,
               const std::string& second, std::vector<std::string>& lines) {
  if (plan.options.norms.size() < 2) return;
  const auto by_layer = order_of(compared(summary, first, second, NormKind::layer));
  const auto by_rms = order_of(compared(summary, first, second, NormKind::rms));
  if (by_layer.empty() || by_rms.empty()) return;
  lines.push_back(
      by_layer == by_rms
          ? "RMS norm in place of layer norm leaves " + first + " and " + second +
                " in the same order at every depth: the kind of norm does not settle where to put "
                "it."
          : "RMS norm in place of layer norm does not leave " + first + " and " + second +
                " in the same order at every depth here.");
}

}  // namespace

void say_comparisons(const PlacementPlan& plan, const PlacementSummary& summary,
                     std::vector<std::string>& lines) {
  const std::string& first = plan.options.placements.front();
  for (const std::string& second : plan.options.placements) {
    if (second == first) continue;
    for (const NormKind norm : plan.options.norms) {
      const std::vector<Compared> depths = compared(summary, first, second, norm);
      if (depths.empty()) continue;
      std::string pairs = seed_by_seed(plan, summary, first, second, norm);
      if (!pairs.empty()) lines.push_back(std::move(pairs));
      lines.push_back(more_even(plan, first, second, norm, depths));
    }
    say_kinds(plan, summary, first, second, lines);
  }
}

}  // namespace volvelle
