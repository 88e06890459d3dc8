#include "ops/pair_task.h"

#include <algorithm>
#include <array>

#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "ops/left_pairs.h"
#include "ops/product_finish.h"

namespace volvelle {
namespace {

using kernels::kPanelColumns;

// With few rows: short pieces of a few panels by turns, so that several streams of memory are read
// at a time. A product that goes on where another ended rounds as one that did both.
constexpr int kPanelsOfFew = 4;
constexpr int kDepthOfFew = 128;

constexpr std::int64_t kPairBlock = kPairDepth / 2 * kPanelColumns;

// One thread's memory for one task.
struct TaskMemory {
  float* sums;           // [panels][rows, a multiple of 16][32]
  float* wide;           // a left block on its way to pairs
  std::uint32_t* right;  // kTaskPanels panels
  std::uint16_t* left;

  explicit TaskMemory(std::int64_t sum_count) {
    Workspace& workspace = kept_by_thread<Workspace>();
    const std::int64_t bytes =
        (sum_count + kLeftScratch + kTaskPanels * kPairBlock) * 4 + kPairScratch * 2;
    sums = static_cast<float*>(workspace.at_least(static_cast<std::size_t>(bytes)));
    wide = sums + sum_count;
    right = reinterpret_cast<std::uint32_t*>(wide + kLeftScratch);
    left = reinterpret_cast<std::uint16_t*>(right + kTaskPanels * kPairBlock);
  }
};

class PairTask {
 public:
  PairTask(const Product& product, const ProductTask& task,
           const kernels::PairMultiplier& multiplier)
      : product_(product),
        task_(task),
        multiplier_(multiplier),
        factor_(product.gated ? 2 : 1),
        panels_(static_cast<int>(task.panels) * factor_),
        rows_((task.rows + kPairRows - 1) / kPairRows * kPairRows),
        offsets_(product.batch.offsets(task.place)),
        memory_(rows_ * panels_ * kPanelColumns) {}

  void run() const {
    multiplier_.begin();
    const bool few = task_.rows <= kFewRows;
    const int at_once = few ? std::min(kPanelsOfFew, panels_) : panels_;
    const int at_depth = few ? kDepthOfFew : kPairDepth;
    for (int panel = 0; panel < panels_; panel += at_once) {
      const int count = std::min(at_once, panels_ - panel);
      std::int64_t k = 0;
      do {  // an empty sum is 0: a product of no pairs says so
        add(panel, count, k,
            static_cast<int>(std::min<std::int64_t>(at_depth, product_.depth - k)));
        k += at_depth;
      } while (k < product_.depth);
    }
    multiplier_.end();
    finish_product(product_, task_, offsets_, memory_.sums, rows_ * kPanelColumns);
  }

 private:
  void add(int panel, int count, std::int64_t k, int depth) const {
    static constexpr std::array<float, kPanelColumns> kOnes = [] {
      std::array<float, kPanelColumns> ones{};
      ones.fill(1);
      return ones;
    }();
    const LeftPairs left = left_pairs(product_.left.at(task_.first_row, k, offsets_[kLeft]),
                                      task_.rows, depth, memory_.left, memory_.wide);
    const PairPanels right = product_.right->fetch_pairs(
        offsets_[kRight], task_.first_panel * factor_ + panel, count, k, depth, memory_.right);
    kernels::PairProduct step;
    step.left = left.data;
    step.left_stride = left.row;
    step.right_stride = kPanelColumns;
    step.out_stride = kPanelColumns;
    step.rows = static_cast<int>(rows_);
    step.pairs = (depth + 31) / 32 * 16;
    step.columns = kPanelColumns;
    step.factor = k == 0 ? nullptr : kOnes.data();
    for (int p = 0; p < count; ++p) {
      step.right = right.first + p * right.stride;
      step.out = memory_.sums + (panel + p) * rows_ * kPanelColumns;
      multiplier_.multiply(step);
    }
  }

  const Product& product_;
  const ProductTask& task_;
  const kernels::PairMultiplier& multiplier_;
  const int factor_;  // panels per panel of the output
  const int panels_;
  const std::int64_t rows_;
  const ProductAxes::Offsets offsets_;
  const TaskMemory memory_;
};

}  // namespace

void run_pair_task(const Product& product, const ProductTask& task,
                   const kernels::PairMultiplier& multiplier) {
  PairTask(product, task, multiplier).run();
}

}  // namespace volvelle
