#include "ops/product_finish.h"

#include <algorithm>

#include "kernels/matmul.h"

namespace volvelle {
namespace {

using kernels::kPanelColumns;

// Rows that pass through float32 on their way from or to other dtypes and strides.
constexpr std::int64_t kStagedRows = 32;

bool is_plain(const Matrix& matrix, std::int64_t columns) {
  return matrix.dtype == DType::float32 && (matrix.column == 1 || columns == 1);
}

// Where the kernel may write itself.
bool is_direct(const MutableMatrix& matrix, std::int64_t columns) {
  return (matrix.dtype == DType::float32 || matrix.dtype == DType::bfloat16) &&
         (matrix.column == 1 || columns == 1);
}

// Some rows of one panel.
class PanelFinish {
 public:
  PanelFinish(const kernels::FinishStep& step, const Matrix& residual, const MutableMatrix& out,
              const MutableMatrix& before, const MutableMatrix& gate_before)
      : step_(step), residual_(residual), out_(out), before_(before), gate_before_(gate_before) {}

  void run(std::int64_t rows) {
    const bool direct_out = is_direct(out_, step_.columns);
    const bool direct_residual = residual_.data == nullptr || is_plain(residual_, step_.columns);
    const std::int64_t at_once = direct_out && direct_residual ? rows : kStagedRows;
    for (std::int64_t first = 0; first < rows; first += at_once) {
      const std::int64_t count = std::min(at_once, rows - first);
      kernels::FinishStep step = step_;
      step.rows = static_cast<int>(count);
      step.sums += first * kPanelColumns;
      if (step.gate != nullptr) step.gate += first * kPanelColumns;
      float added[kStagedRows * kPanelColumns];
      float results[3][kStagedRows * kPanelColumns];
      place_residual(step, direct_residual, first, added);
      step.out_row = direct_out ? out_.row : kPanelColumns;
      step.to_bfloat16 = direct_out && out_.dtype == DType::bfloat16;
      step.out = place(out_, direct_out, first, results[0]);
      step.before = place(before_, direct_out, first, results[1]);
      step.gate_before = place(gate_before_, direct_out, first, results[2]);
      kernels::matmul_finish(step);
      if (direct_out) continue;
      write(results[0], step, out_, first);
      write(results[1], step, before_, first);
      write(results[2], step, gate_before_, first);
    }
  }

 private:
  static void* place(const MutableMatrix& to, bool direct, std::int64_t first, float* staged) {
    if (to.data == nullptr) return nullptr;
    return direct ? to.at(first, 0).data : staged;
  }

  static void write(const float* staged, const kernels::FinishStep& step, const MutableMatrix& to,
                    std::int64_t first) {
    if (to.data == nullptr) return;
    for (std::int64_t r = 0; r < step.rows; ++r) {
      write_line(staged + r * kPanelColumns, step.columns, to.at(first + r, 0).data, to.dtype,
                 to.column);
    }
  }

  void place_residual(kernels::FinishStep& step, bool direct, std::int64_t first,
                      float* added) const {
    if (residual_.data == nullptr) return;
    if (direct) {
      step.residual = static_cast<const float*>(residual_.at(first, 0).data);
      step.residual_row = residual_.row;
      return;
    }
    for (std::int64_t r = 0; r < step.rows; ++r) {
      read_line(residual_.at(first + r, 0).data, residual_.dtype, residual_.column, step.columns,
                added + r * kPanelColumns);
    }
    step.residual = added;
    step.residual_row = kPanelColumns;
  }

  const kernels::FinishStep step_;
  const Matrix residual_;
  const MutableMatrix out_, before_, gate_before_;
};

// The part of a bias that a panel adds, 0 beyond the last column; null where there is no bias.
const float* bias_of(const Matrix& bias, std::int64_t column, int columns, float* to) {
  if (bias.data == nullptr) return nullptr;
  read_line(bias.at(0, column).data, bias.dtype, bias.column, columns, to);
  std::fill(to + columns, to + kPanelColumns, 0.0f);
  return to;
}

}  // namespace

void finish_product(const Product& product, const ProductTask& task,
                    const ProductAxes::Offsets& offsets, const float* sums,
                    std::int64_t panel_sums) {
  alignas(64) float bias[kPanelColumns];
  alignas(64) float gate_bias[kPanelColumns];
  for (std::int64_t p = 0; p < task.panels; ++p) {
    const std::int64_t column = (task.first_panel + p) * kPanelColumns;
    kernels::FinishStep step;
    step.columns =
        static_cast<int>(std::min<std::int64_t>(kPanelColumns, product.columns - column));
    step.curve = product.curve;
    if (product.gated) {
      step.gate = sums + 2 * p * panel_sums;
      step.sums = step.gate + panel_sums;
      step.gate_bias = bias_of(product.gate_bias, column, step.columns, gate_bias);
    } else {
      step.sums = sums + p * panel_sums;
    }
    step.bias = bias_of(product.bias, column, step.columns, bias);
    const Matrix residual = product.residual.data == nullptr
                                ? Matrix()
                                : product.residual.at(task.first_row, column, offsets[kResidual]);
    const auto place = [&](void* first) {
      if (first == nullptr) return MutableMatrix();
      MutableMatrix matrix = product.out;
      matrix.data = first;
      return matrix.at(task.first_row, column, offsets[kOut]);
    };
    PanelFinish(step, residual, place(product.out.data), place(product.before),
                place(product.gate_before))
        .run(task.rows);
  }
}

}  // namespace volvelle
