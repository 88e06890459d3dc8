#pragma once

#include <string>
#include <vector>

#include "kernels/pair_product.h"

namespace volvelle::kernels {

/// Names of the instruction sets that are both built and supported here, best first. AVX-512 comes
/// up to three times: as itself, and with each way of multiplying bfloat16 pairs.
std::vector<std::string> target_names();
/// The one that the next kernel call uses.
std::string chosen_target();
/// How that one multiplies bfloat16 pairs; null: it widens them first, as it does where the system
/// refuses the matrix unit. To be called by who is about to multiply: the first call may ask for
/// it.
const PairMultiplier* pair_multiplier();
/// Makes later calls use target_names()[index]; -1: the best. Returns false for a bad index.
bool choose_target(int index);

}  // namespace volvelle::kernels
