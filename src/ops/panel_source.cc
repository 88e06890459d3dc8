#include "ops/panel_source.h"

#include <algorithm>

#include "kernels/matmul_pack.h"
#include "ops/weight_storage.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr std::int64_t kPanelBlock = std::int64_t{kDepthBlock} * kPanelColumns;

void write_one(const Matrix& from, int columns, int depth, float* to) {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  if (from.row == 1 && from.dtype == DType::float32) {
    pack.from_columns(static_cast<const float*>(from.data), from.column, columns, depth, to);
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

}  // namespace

void ViewPanels::write(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                       int depth, float* to, std::int64_t pitch) const {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  const std::int64_t first = panel * kPanelColumns;
  const int columns =
      static_cast<int>(std::min<std::int64_t>(count * kPanelColumns, columns_ - first));
  const Matrix from = matrix_.at(k, first, offset);
  const bool plain = from.dtype == DType::float32;
  if (plain && from.column == 1 && from.row != 1) {
    pack.from_rows(static_cast<const float*>(from.data), from.row, columns, depth, to, pitch);
    return;
  }
  for (int c = 0; c < columns; c += kPanelColumns, to += pitch) {
    write_one(from.at(0, c), std::min(kPanelColumns, columns - c), depth, to);
  }
}

Panels ViewPanels::fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                         int depth, float* scratch) const {
  write(offset, panel, count, k, depth, scratch, kPanelBlock);
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
  for (int i = 0; i < depth; i += kPanelColumns) {
    const std::int64_t stored = (k + i) / kPanelColumns;
    for (int p = 0; p < count; ++p) {  // squares of one stored panel follow each other
      const std::int64_t first = (panel + p) * kPanelColumns;
      const int inputs =
          static_cast<int>(std::min<std::int64_t>(kPanelColumns, storage_.inputs - first));
      const float* square = wide;
      if (storage_.format == WeightFormat::float32) {
        square = reinterpret_cast<const float*>(storage_.at(stored, first));
      } else {
        widen_panel(storage_, stored, first, inputs, wide);
      }
      const int outputs = std::min(kPanelColumns, depth - i);
      float* to = scratch + p * kPanelBlock + i * kPanelColumns;
      pack.transpose(square, kPanelColumns, inputs, outputs, to, kPanelColumns);
      for (int o = 0; inputs < kPanelColumns && o < outputs; ++o) {
        std::fill(to + o * kPanelColumns + inputs, to + (o + 1) * kPanelColumns, 0.0f);
      }
    }
  }
  return {scratch, kPanelBlock};
}

}  // namespace volvelle
