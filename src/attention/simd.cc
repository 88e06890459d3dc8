#include "volvelle/attention/simd.h"

#include <algorithm>
#include <cctype>

#include "kernels/simd_choice.h"
#include "volvelle/base/error.h"

namespace volvelle {

std::vector<std::string> simd_targets() { return kernels::target_names(); }

std::string simd_target() { return kernels::chosen_target(); }

void set_simd_target(std::string_view name) {
  std::string wanted(name);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (wanted == "avx512" || wanted == "avx-512") wanted = "avx3";
  if (wanted == "amx") wanted = "avx3_amx";
  if (wanted == "best") {
    kernels::choose_target(-1);
    return;
  }
  const std::vector<std::string> names = simd_targets();
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) {
    std::string list;
    for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
    throw InvalidArgument("[simd] this build and CPU have no instruction set \"" +
                          std::string(name) + "\"; choose one of " + list + ", or best");
  }
  kernels::choose_target(static_cast<int>(found - names.begin()));
}

}  // namespace volvelle
