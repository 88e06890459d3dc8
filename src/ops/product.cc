#include "ops/product.h"

#include "base/thread_pool.h"
#include "kernels/matmul.h"
#include "kernels/simd_choice.h"
#include "ops/double_task.h"
#include "ops/float_task.h"
#include "ops/pair_task.h"
#include "ops/product_cut.h"

namespace volvelle {

void compute(const Product& product, int threads) {
  constexpr std::int64_t kColumns = kernels::kPanelColumns;
  const std::int64_t panels =
      product.columns / kColumns + (product.columns % kColumns != 0 ? 1 : 0);
  if (product.batch.count() == 0 || product.rows == 0 || panels == 0) return;
  const ProductCut cut({.places = product.batch.count(),
                        .rows = product.rows,
                        .panels = panels,
                        .depth = product.depth,
                        .panels_per_output = product.gated ? 2 : 1},
                       threads);
  // By dtypes and instruction set alone: a row's bits do not depend on how many there are.
  const bool in_pairs = product.left.dtype == DType::bfloat16 && product.right->is_bfloat16();
  const kernels::PairMultiplier* pairs = in_pairs ? kernels::pair_multiplier() : nullptr;
  parallel_for(cut.tasks(), cut.threads(), [&](std::int64_t index) {
    const ProductTask task = cut.task(index);
    if (product.out.dtype == DType::float64) {
      run_double_task(product, task);
    } else if (pairs != nullptr) {
      run_pair_task(product, task, *pairs);
    } else {
      run_float_task(product, task);
    }
  });
}

}  // namespace volvelle
