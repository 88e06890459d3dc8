#include "ops/panel_source.h"

#include <algorithm>

#include "kernels/matmul_pack.h"
#include "ops/weight_storage.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr std::int64_t kPanelBlock = std::int64_t{kDepthBlock} * kPanelColumns;

}  // namespace

void ViewPanels::write(std::int64_t offset, std::int64_t panel, std::int64_t k, int depth,
                       float* to) const {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  const std::int64_t first = panel * kPanelColumns;
  const int columns = static_cast<int>(std::min<std::int64_t>(kPanelColumns, columns_ - first));
  const Matrix from = matrix_.at(k, first, offset);
  const bool plain = from.dtype == DType::float32;
  if (from.row == 1 && plain) {
    pack.from_columns(static_cast<const float*>(from.data), from.column, columns, depth, to);
  } else if (from.column == 1 && plain) {
    pack.from_rows(static_cast<const float*>(from.data), from.row, columns, depth, to);
  } else if (from.row == 1) {
    alignas(64) float wide[kPanelBlock];
    for (int c = 0; c < columns; ++c) {
      read_line(from.at(0, c).data, from.dtype, 1, depth, wide + c * kDepthBlock);
    }
    pack.from_columns(wide, kDepthBlock, columns, depth, to);
  } else {
    for (int i = 0; i < depth; ++i, to += kPanelColumns) {
      read_line(from.at(i, 0).data, from.dtype, from.column, columns, to);
      std::fill(to + columns, to + kPanelColumns, 0.0f);
    }
  }
}

Panels ViewPanels::fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                         int depth, float* scratch) const {
  for (int p = 0; p < count; ++p) write(offset, panel + p, k, depth, scratch + p * kPanelBlock);
  return {scratch, kPanelBlock};
}

bool StoredPanels::in_place() const { return storage_.format == WeightFormat::float32; }

Panels StoredPanels::fetch(std::int64_t /*offset*/, std::int64_t panel, int count, std::int64_t k,
                           int depth, float* scratch) const {
  if (in_place()) {
    return {reinterpret_cast<const float*>(storage_.at(panel, k)),
            storage_.panel_bytes / static_cast<std::int64_t>(sizeof(float))};
  }
  for (int p = 0; p < count; ++p) {
    widen_panel(storage_, panel + p, k, depth, scratch + p * kPanelBlock);
  }
  return {scratch, kPanelBlock};
}

// Squares of 32 x 32 are transposed; those at the edges are smaller.
Panels TransposedPanels::fetch(std::int64_t /*offset*/, std::int64_t panel, int count,
                               std::int64_t k, int depth, float* scratch) const {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  alignas(64) float wide[kPanelColumns * kPanelColumns];
  for (int p = 0; p < count; ++p) {
    const std::int64_t first = (panel + p) * kPanelColumns;
    const int inputs =
        static_cast<int>(std::min<std::int64_t>(kPanelColumns, storage_.inputs - first));
    float* to = scratch + p * kPanelBlock;
    for (int i = 0; i < depth; i += kPanelColumns) {
      const float* square = wide;
      if (storage_.format == WeightFormat::float32) {
        square = reinterpret_cast<const float*>(storage_.at((k + i) / kPanelColumns, first));
      } else {
        widen_panel(storage_, (k + i) / kPanelColumns, first, inputs, wide);
      }
      pack.to_columns(square, std::min(kPanelColumns, depth - i), inputs, to + i * kPanelColumns,
                      kPanelColumns);
    }
    for (int i = 0; inputs < kPanelColumns && i < depth; ++i) {
      std::fill(to + i * kPanelColumns + inputs, to + (i + 1) * kPanelColumns, 0.0f);
    }
  }
  return {scratch, kPanelBlock};
}

}  // namespace volvelle
