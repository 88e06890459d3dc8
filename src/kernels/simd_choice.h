#pragma once

#include <string>
#include <vector>

namespace volvelle::kernels {

/// Names of the instruction sets that are both built and supported here, best first.
std::vector<std::string> target_names();
/// The one that the next kernel call uses.
std::string chosen_target();
/// Makes later calls use target_names()[index]; -1: the best. Returns false for a bad index.
bool choose_target(int index);

}  // namespace volvelle::kernels
