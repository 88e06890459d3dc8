#include "ops/float_task.h"

#include <algorithm>

#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "kernels/matmul.h"
#include "ops/left_block.h"
#include "ops/product_finish.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr std::int64_t kPanelBlock = std::int64_t{kDepthBlock} * kPanelColumns;
// With few rows: a few panels over the whole depth, then the next ones.
constexpr int kPanelsOfFew = 4;

// One thread's memory for one task.
struct TaskMemory {
  float* sums;   // [panels][rows][32]
  float* right;  // kTaskPanels panels of one block of depth
  float* left;

  explicit TaskMemory(std::int64_t sum_count) {
    Workspace& workspace = kept_by_thread<Workspace>();
    const std::int64_t floats = sum_count + kTaskPanels * kPanelBlock + kLeftScratch;
    sums =
        static_cast<float*>(workspace.at_least(static_cast<std::size_t>(floats) * sizeof(float)));
    right = sums + sum_count;
    left = right + kTaskPanels * kPanelBlock;
  }
};

class FloatTask {
 public:
  FloatTask(const Product& product, const ProductTask& task)
      : product_(product),
        task_(task),
        factor_(product.gated ? 2 : 1),
        panels_(static_cast<int>(task.panels) * factor_),
        offsets_(product.batch.offsets(task.place)),
        memory_(task.rows * panels_ * kPanelColumns) {}

  void run() const {
    if (task_.rows <= kFewRows) {
      for (int panel = 0; panel < panels_; panel += kPanelsOfFew) {
        const int count = std::min(kPanelsOfFew, panels_ - panel);
        for_blocks_of_depth(
            [&](std::int64_t k, int depth) { add(left_at(k, depth), panel, count, k, depth); });
      }
    } else {
      for_blocks_of_depth(
          [&](std::int64_t k, int depth) { add(left_at(k, depth), 0, panels_, k, depth); });
    }
    finish_product(product_, task_, offsets_, memory_.sums, task_.rows * kPanelColumns);
  }

 private:
  template <class Body>
  void for_blocks_of_depth(Body&& body) const {
    std::int64_t k = 0;
    do {  // an empty sum is 0: one block of depth 0 says so
      body(k, static_cast<int>(std::min<std::int64_t>(kDepthBlock, product_.depth - k)));
      k += kDepthBlock;
    } while (k < product_.depth);
  }

  LeftBlock left_at(std::int64_t k, int depth) const {
    const Matrix from = product_.left.at(task_.first_row, k, offsets_[kLeft]);
    return left_block(from, task_.rows, depth, memory_.left);
  }

  void add(const LeftBlock& left, int panel, int count, std::int64_t k, int depth) const {
    const std::int64_t first = task_.first_panel * factor_ + panel;
    const Panels right =
        product_.right->fetch(offsets_[kRight], first, count, k, depth, memory_.right);
    kernels::MatmulStep step;
    step.left = left.data;
    step.row_stride = left.row;
    step.left_step = left.step;
    step.right = right.first;
    step.right_panel = right.stride;
    step.rows = static_cast<int>(task_.rows);
    step.panels = count;
    step.depth = depth;
    step.out_panel = task_.rows * kPanelColumns;
    step.out = memory_.sums + panel * step.out_panel;
    step.fresh = k == 0;
    kernels::matmul_kernels().step(step);
  }

  const Product& product_;
  const ProductTask& task_;
  const int factor_;  // panels per panel of the output
  const int panels_;
  const ProductAxes::Offsets offsets_;
  const TaskMemory memory_;
};

}  // namespace

void run_float_task(const Product& product, const ProductTask& task) {
  FloatTask(product, task).run();
}

}  // namespace volvelle
