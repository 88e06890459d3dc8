#include "studies/placement_phrases.h"

#include <algorithm>

#include "volvelle/report/number.h"

namespace volvelle {

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string figures(const std::vector<double>& values, int digits) {
  std::vector<std::string> parts;
  for (const double value : values) parts.push_back(rounded(value, digits));
  return listed(parts);
}

std::string named(const PlacementPlan& plan, const std::string& placement, NormKind norm) {
  if (plan.options.norms.size() == 1) return placement;
  return placement + " (" + std::string(name_of(norm)) + " norm)";
}

std::vector<const CaseSummary*> readable_cases(const PlacementSummary& summary,
                                               const std::string& placement, NormKind norm) {
  std::vector<const CaseSummary*> found;
  for (const CaseSummary& one : summary.cases) {
    if (one.of.placement == placement && one.of.norm == norm && one.readable()) {
      found.push_back(&one);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const CaseSummary* a, const CaseSummary* b) { return a->of.depth < b->of.depth; });
  return found;
}

std::string depths_of(const std::vector<const CaseSummary*>& cases) {
  std::vector<std::string> depths;
  for (const CaseSummary* one : cases) depths.push_back(std::to_string(one->of.depth));
  return listed(depths);
}

}  // namespace volvelle
