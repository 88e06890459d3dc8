#pragma once

#include "ops/product.h"
#include "ops/product_cut.h"

namespace volvelle {

/// Adds bias and residual to a task's sums ([panel][row][32], panels `panel_sums` floats apart),
/// applies the curve and writes the rows where they belong.
void finish_product(const Product& product, const ProductTask& task,
                    const ProductAxes::Offsets& offsets, const float* sums,
                    std::int64_t panel_sums);

}  // namespace volvelle
