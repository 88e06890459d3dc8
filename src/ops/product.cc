#include "ops/product.h"

#include "base/thread_pool.h"
#include "kernels/matmul.h"
#include "kernels/simd_choice.h"
#include "ops/double_task.h"
#include "ops/float_task.h"
#include "ops/packed_panels.h"
#include "ops/pair_task.h"
#include "ops/product_cut.h"

namespace volvelle {

namespace {

// A right operand that many cuts of rows would pack again and again is packed once, unless keeping
// it would cost more memory than that is worth.
constexpr std::int64_t kFewestCuts = 3;
constexpr std::int64_t kMostBytes = 16 << 20;

PackedPanels::Extent extent_of(const Product& product, bool in_pairs) {
  PackedPanels::Extent extent;
  extent.depth = product.depth;
  extent.columns = product.columns;
  extent.offset = product.batch.offsets(0)[kRight];
  extent.format = in_pairs                              ? WeightFormat::bfloat16
                  : product.out.dtype == DType::float64 ? WeightFormat::float64
                                                        : WeightFormat::float32;
  return extent;
}

}  // namespace

void compute(const Product& product, int threads) {
  constexpr std::int64_t kColumns = kernels::kPanelColumns;
  const std::int64_t panels =
      product.columns / kColumns + (product.columns % kColumns != 0 ? 1 : 0);
  if (product.batch.count() == 0 || product.rows == 0 || panels == 0) return;
  // By dtypes and instruction set alone: a row's bits do not depend on how many there are.
  const bool in_pairs = product.left.dtype == DType::bfloat16 && product.right->is_bfloat16();
  const kernels::PairMultiplier* pairs = in_pairs ? kernels::pair_multiplier() : nullptr;
  const ProductCut cut({.places = product.batch.count(),
                        .rows = product.rows,
                        .panels = panels,
                        .depth = product.depth,
                        .panels_per_output = product.gated ? 2 : 1,
                        .in_pairs = pairs != nullptr,
                        .copies_left = product.left.column != 1},
                       threads);
  const auto run = [&](const Product& cut_up) {
    parallel_for(cut.tasks(), cut.threads(), [&](std::int64_t index) {
      const ProductTask task = cut.task(index);
      if (product.out.dtype == DType::float64) {
        run_double_task(cut_up, task);
      } else if (pairs != nullptr) {
        run_pair_task(cut_up, task, *pairs);
      } else {
        run_float_task(cut_up, task);
      }
    });
  };
  const PackedPanels::Extent extent = extent_of(product, pairs != nullptr);
  const bool pays = !product.right->is_packed() && cut.row_cuts() >= kFewestCuts &&
                    product.batch.count() == 1 && PackedPanels::bytes(extent) <= kMostBytes;
  if (!pays) return run(product);
  const PackedPanels right(*product.right, extent, cut.threads());
  Product packed = product;
  packed.right = &right;
  run(packed);
}

}  // namespace volvelle
