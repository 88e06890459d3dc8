#pragma once

#include "ops/product.h"
#include "ops/product_cut.h"

namespace volvelle {

/// One task of a product in float64.
void run_double_task(const Product& product, const ProductTask& task);

}  // namespace volvelle
