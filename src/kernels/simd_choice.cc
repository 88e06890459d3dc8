#include "kernels/simd_choice.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_choice.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cctype>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {

int64_t Target() { return HWY_TARGET; }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(Target);

namespace {

std::string lower_name(int64_t target) {
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// Built here and supported by this CPU, best first; unaffected by an earlier choice.
const std::vector<int64_t>& available() {
  static const std::vector<int64_t> kTargets = [] {
    std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
    std::sort(targets.begin(), targets.end());  // Highway numbers better targets lower
    return targets;
  }();
  return kTargets;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const int64_t target : available()) names.push_back(lower_name(target));
  return names;
}

std::string chosen_target() {
  available();
  return lower_name(HWY_DYNAMIC_DISPATCH(Target)());
}

bool choose_target(int index) {
  const std::vector<int64_t>& targets = available();
  if (index >= static_cast<int>(targets.size())) return false;
  hwy::SetSupportedTargetsForTest(index < 0 ? 0 : targets[static_cast<std::size_t>(index)]);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return true;
}

}  // namespace volvelle::kernels
#endif
