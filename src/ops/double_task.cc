#include "ops/double_task.h"

#include <algorithm>

#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"
#include "kernels/activation_double.h"
#include "kernels/matmul.h"
#include "ops/left_block.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr std::int64_t kPanelBlock = std::int64_t{kDepthBlock} * kPanelColumns;
// Panels at a time: doubles fill the caches twice as fast.
constexpr int kPanelsAtOnce = 4;

const double* at(const Matrix& matrix, std::int64_t i, std::int64_t j, std::int64_t offset = 0) {
  return static_cast<const double*>(matrix.at(i, j, offset).data);
}

// The numbers of a line, 0 where there is no such array.
double number(const Matrix& line, std::int64_t column) {
  return line.data == nullptr ? 0 : *at(line, 0, column);
}

class DoubleTask {
 public:
  DoubleTask(const Product& product, const ProductTask& task)
      : product_(product),
        task_(task),
        factor_(product.gated ? 2 : 1),
        offsets_(product.batch.offsets(task.place)) {
    const std::int64_t sums = task.rows * kPanelsAtOnce * kPanelColumns;
    const std::int64_t all = sums + kPanelsAtOnce * kPanelBlock + kLeftScratch;
    sums_ = static_cast<double*>(
        kept_by_thread<Workspace>().at_least(static_cast<std::size_t>(all) * sizeof(double)));
    right_ = sums_ + sums;
    left_ = right_ + kPanelsAtOnce * kPanelBlock;
  }

  void run() const {
    const int at_once = kPanelsAtOnce / factor_;
    for (std::int64_t panel = 0; panel < task_.panels; panel += at_once) {
      const int count = static_cast<int>(std::min<std::int64_t>(at_once, task_.panels - panel));
      const std::int64_t first = task_.first_panel + panel;
      std::int64_t k = 0;
      do {  // an empty sum is 0: one block of depth 0 says so
        add(first * factor_, count * factor_, k,
            static_cast<int>(std::min<std::int64_t>(kDepthBlock, product_.depth - k)));
        k += kDepthBlock;
      } while (k < product_.depth);
      for (int p = 0; p < count; ++p) finish(first + p, p * factor_);
    }
  }

 private:
  void add(std::int64_t panel, int count, std::int64_t k, int depth) const {
    kernels::BasicMatmulStep<double> step;
    step.left = at(product_.left, task_.first_row, k, offsets_[kLeft]);
    step.row_stride = product_.left.row;
    if (product_.left.column != 1) {
      copy_left(step.left, depth);
      step.left = left_;
      step.row_stride = kLeftPitch;
    }
    const DoublePanels right =
        product_.right->fetch_double(offsets_[kRight], panel, count, k, depth, right_);
    step.right = right.first;
    step.right_panel = right.stride;
    step.rows = static_cast<int>(task_.rows);
    step.panels = count;
    step.depth = depth;
    step.out = sums_;
    step.out_panel = task_.rows * kPanelColumns;
    step.fresh = k == 0;
    kernels::matmul_kernels().step_double(step);
  }

  // Along whichever axis lies closer in memory.
  void copy_left(const double* from, int depth) const {
    const std::int64_t row = product_.left.row, column = product_.left.column;
    if (row == 1) {
      for (int i = 0; i < depth; ++i) {
        for (std::int64_t r = 0; r < task_.rows; ++r) {
          left_[r * kLeftPitch + i] = from[r + i * column];
        }
      }
      return;
    }
    for (std::int64_t r = 0; r < task_.rows; ++r) {
      for (int i = 0; i < depth; ++i) left_[r * kLeftPitch + i] = from[r * row + i * column];
    }
  }

  // One panel of the output; `stored` is where its sums (with a gate: the gate's) are.
  void finish(std::int64_t panel, int stored) const {
    const std::int64_t column = panel * kPanelColumns;
    const int columns =
        static_cast<int>(std::min<std::int64_t>(kPanelColumns, product_.columns - column));
    const std::int64_t panel_sums = task_.rows * kPanelColumns;
    double bias[kPanelColumns], gate_bias[kPanelColumns];
    for (int c = 0; c < columns; ++c) {
      bias[c] = number(product_.bias, column + c);
      gate_bias[c] = number(product_.gate_bias, column + c);
    }
    for (std::int64_t r = 0; r < task_.rows; ++r) {
      double* const gates = sums_ + stored * panel_sums + r * kPanelColumns;
      double* const x = product_.gated ? gates + panel_sums : gates;
      if (product_.bias.data != nullptr) {
        for (int c = 0; c < columns; ++c) x[c] += bias[c];
      }
      keep(product_.before, r, column, x, columns);
      if (product_.gated) {
        for (int c = 0; c < columns; ++c) gates[c] += gate_bias[c];
        keep(product_.gate_before, r, column, gates, columns);
        for (int c = 0; c < columns; ++c) x[c] *= kernels::activated(product_.curve, gates[c]);
      } else if (product_.curve != kernels::Curve::identity) {
        for (int c = 0; c < columns; ++c) x[c] = kernels::activated(product_.curve, x[c]);
      }
      if (product_.residual.data != nullptr) {
        const double* const residual =
            at(product_.residual, task_.first_row + r, column, offsets_[kResidual]);
        for (int c = 0; c < columns; ++c) x[c] += residual[c * product_.residual.column];
      }
      keep(product_.out.data, r, column, x, columns);
    }
  }

  // A row of one panel goes to an array that lies as the output does.
  void keep(void* array, std::int64_t row, std::int64_t column, const double* x,
            int columns) const {
    if (array == nullptr) return;
    MutableMatrix first = product_.out;
    first.data = array;
    double* const to =
        static_cast<double*>(first.at(task_.first_row + row, column, offsets_[kOut]).data);
    if (first.column == 1) {
      std::copy_n(x, columns, to);
    } else {
      for (int c = 0; c < columns; ++c) to[c * first.column] = x[c];
    }
  }

  const Product& product_;
  const ProductTask& task_;
  const int factor_;  // panels per panel of the output
  const ProductAxes::Offsets offsets_;
  double *sums_, *right_, *left_;  // this thread's memory
};

}  // namespace

void run_double_task(const Product& product, const ProductTask& task) {
  DoubleTask(product, task).run();
}

}  // namespace volvelle
