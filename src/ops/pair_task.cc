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

class PairTask {
 public:
  PairTask(const Product& product, const ProductTask& task,
           const kernels::PairMultiplier& multiplier)
      : product_(product),
        task_(task),
        multiplier_(multiplier),
        factor_(product.gated ? 2 : 1),
        few_(task.rows <= kFewRows),
        at_once_(few_ ? kPanelsOfFew : factor_),
        rows_(whole_pair_rows(task.rows)),
        offsets_(product.batch.offsets(task.place)) {
    const Matrix left = product.left.at(task.first_row, 0, offsets_[kLeft]);
    const bool copies = !lie_as_pairs(left, task.rows, product.depth);
    const std::int64_t sums = at_once_ * rows_ * kPanelColumns;
    const std::int64_t words = copies ? interleaved_words(task.rows) : 0;
    const std::int64_t numbers = copies ? pair_scratch(task.rows, product.depth) : 0;
    const std::int64_t bytes = (sums + at_once_ * kPairBlock + words) * 4 + numbers * 2;
    sums_ =
        static_cast<float*>(kept_by_thread<Workspace>().at_least(static_cast<std::size_t>(bytes)));
    right_ = reinterpret_cast<std::uint32_t*>(sums_ + sums);
    std::uint32_t* const woven = right_ + at_once_ * kPairBlock;
    left_ = copies ? copy_pairs(left, task.rows, product.depth,
                                reinterpret_cast<std::uint16_t*>(woven + words), woven)
                   : LeftPairs{static_cast<const std::uint16_t*>(left.data), left.row};
  }

  void run() const {
    const int at_depth = few_ ? kDepthOfFew : kPairDepth;
    const int panels = static_cast<int>(task_.panels) * factor_;
    multiplier_.begin();
    for (int panel = 0; panel < panels; panel += at_once_) {
      const int count = std::min(at_once_, panels - panel);
      std::int64_t k = 0;
      do {  // an empty sum is 0: a product of no pairs says so
        add(panel, count, k,
            static_cast<int>(std::min<std::int64_t>(at_depth, product_.depth - k)));
        k += at_depth;
      } while (k < product_.depth);
      finish(panel / factor_, count / factor_);
    }
    multiplier_.end();
  }

 private:
  void add(int panel, int count, std::int64_t k, int depth) const {
    static constexpr std::array<float, kPanelColumns> kOnes = [] {
      std::array<float, kPanelColumns> ones{};
      ones.fill(1);
      return ones;
    }();
    const PairPanels right = product_.right->fetch_pairs(
        offsets_[kRight], task_.first_panel * factor_ + panel, count, k, depth, right_);
    kernels::PairProduct step;
    step.left = left_.data + k;
    step.left_stride = left_.row;
    step.right_stride = kPanelColumns;
    step.out_stride = kPanelColumns;
    step.rows = static_cast<int>(rows_);
    step.pairs = (depth + 31) / 32 * 16;
    step.columns = kPanelColumns;
    step.factor = k == 0 ? nullptr : kOnes.data();
    const bool more =
        product_.right->is_packed() && panel + count < static_cast<int>(task_.panels) * factor_;
    for (int p = 0; p < count; ++p) {
      step.right = right.first + p * right.stride;
      step.next_right = more || p + 1 < count ? step.right + right.stride : nullptr;
      step.out = sums_ + p * rows_ * kPanelColumns;
      multiplier_.multiply(step);
    }
  }

  // Panels of the output, while their sums are near.
  void finish(int panel, int count) const {
    ProductTask part = task_;
    part.first_panel += panel;
    part.panels = count;
    finish_product(product_, part, offsets_, sums_, rows_ * kPanelColumns);
  }

  const Product& product_;
  const ProductTask& task_;
  const kernels::PairMultiplier& multiplier_;
  const int factor_;  // panels per panel of the output
  const bool few_;
  const int at_once_;  // panels
  const std::int64_t rows_;
  const ProductAxes::Offsets offsets_;
  // This thread's memory: [at_once][rows][32], and a piece of the right operand.
  float* sums_;
  std::uint32_t* right_;
  LeftPairs left_;
};

}  // namespace

void run_pair_task(const Product& product, const ProductTask& task,
                   const kernels::PairMultiplier& multiplier) {
  PairTask(product, task, multiplier).run();
}

}  // namespace volvelle
