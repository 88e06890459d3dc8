#include "kernels/simd_choice.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_choice.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
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

// An instruction set, and the way of multiplying bfloat16 pairs that goes with it.
struct Choice {
  std::string name;
  int64_t target;
  const PairMultiplier* multiplier;
};

// Built here and supported by this CPU, best first; unaffected by an earlier choice.
const std::vector<Choice>& available() {
  static const std::vector<Choice> kChoices = [] {
    std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
    std::sort(targets.begin(), targets.end());  // Highway numbers better targets lower
    std::vector<Choice> choices;
    for (const int64_t target : targets) {
      const Choice plain{lower_name(target), target, nullptr};
      if (plain.name != "avx3") {
        choices.push_back(plain);
        continue;
      }
      const auto add = [&](const PairMultiplier* multiplier) {
        if (multiplier != nullptr) choices.push_back({multiplier->name, target, multiplier});
      };
      add(matrix_multiplier());
      if (dot_multiplier_pays()) add(dot_multiplier());
      choices.push_back(plain);
      if (!dot_multiplier_pays()) add(dot_multiplier());
    }
    return choices;
  }();
  return kChoices;
}

std::atomic<int>& chosen_index() {
  static std::atomic<int> index{0};
  return index;
}

// What the next kernel call uses, as the dispatch itself says.
const Choice* chosen() {
  const Choice& choice = available()[static_cast<std::size_t>(chosen_index().load())];
  return choice.target == HWY_DYNAMIC_DISPATCH(Target)() ? &choice : nullptr;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Choice& choice : available()) names.push_back(choice.name);
  return names;
}

std::string chosen_target() {
  const Choice* choice = chosen();
  return choice != nullptr ? choice->name : lower_name(HWY_DYNAMIC_DISPATCH(Target)());
}

const PairMultiplier* pair_multiplier() {
  const Choice* choice = chosen();
  if (choice == nullptr || choice->multiplier == nullptr) return nullptr;
  return choice->multiplier->granted() ? choice->multiplier : nullptr;
}

bool choose_target(int index) {
  const std::vector<Choice>& choices = available();
  if (index >= static_cast<int>(choices.size())) return false;
  hwy::SetSupportedTargetsForTest(index < 0 ? 0 : choices[static_cast<std::size_t>(index)].target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  chosen_index() = std::max(index, 0);
  return true;
}

}  // namespace volvelle::kernels
#endif
