#pragma once

#include "kernels/pair_product.h"
#include "ops/product.h"
#include "ops/product_cut.h"

namespace volvelle {

/// One task of a product whose operands are both bfloat16, in pairs.
void run_pair_task(const Product& product, const ProductTask& task,
                   const kernels::PairMultiplier& multiplier);

}  // namespace volvelle
