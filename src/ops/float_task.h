#pragma once

#include "ops/product.h"
#include "ops/product_cut.h"

namespace volvelle {

/// One task of a product in float32: what is stored in half precision is widened on the way.
void run_float_task(const Product& product, const ProductTask& task);

}  // namespace volvelle
