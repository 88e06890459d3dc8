#include "studies/placement_formulas.h"

#include <algorithm>
#include <vector>

#include "volvelle/nn/placement.h"

namespace volvelle {

std::string formulas_of(const std::string& placement, std::int64_t layers) {
  std::vector<std::string> seen;
  std::string text;
  for (const NormPlacement& layer : placements_by_layer(placement, layers)) {
    const std::string formula = to_text(layer);
    if (std::find(seen.begin(), seen.end(), formula) != seen.end()) continue;
    seen.push_back(formula);
    text += (text.empty() ? "" : " | ") + formula;
  }
  return text + words_of_formula(text);
}

std::string words_of_formula(const std::string& formula) {
  std::string words;
  if (formula.find("(n)") != std::string::npos) {
    words = "n is norm(x) by one norm that the branches share";
  }
  if (formula.find("alpha") != std::string::npos) {
    words += std::string(words.empty() ? "" : "; ") +
             "alpha is (2 L)^(1/4) for L layers, and initial values of v, out and the feed-forward "
             "are multiplied by (8 L)^(-1/4)";
  }
  return words.empty() ? "" : " (" + words + ")";
}

}  // namespace volvelle
