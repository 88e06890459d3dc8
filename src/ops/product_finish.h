#pragma once

#include "ops/product.h"
#include "ops/product_cut.h"

namespace volvelle {

/// Adds bias and residual to a task's sums ([panels][rows][32]), applies the curve and writes the
/// rows where they belong.
void finish_product(const Product& product, const ProductTask& task,
                    const ProductAxes::Offsets& offsets, const float* sums);

}  // namespace volvelle
