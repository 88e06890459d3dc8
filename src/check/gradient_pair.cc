#include "check/gradient_pair.h"

#include <string>

namespace volvelle {

std::string names_of(const std::vector<const GradientPair*>& pairs) {
  std::string text;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) text += i + 1 == pairs.size() ? " and " : ", ";
    text += pairs[i]->name;
  }
  return text;
}

}  // namespace volvelle
