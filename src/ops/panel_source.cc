#include "ops/panel_source.h"

#include <algorithm>

#include "kernels/matmul_pack.h"
#include "ops/weight_storage.h"

namespace volvelle {
namespace {

using kernels::kDepthBlock;
using kernels::kPanelColumns;

constexpr std::int64_t kPanelBlock = std::int64_t{kDepthBlock} * kPanelColumns;

constexpr std::int64_t kPairBlock = kPairDepth / 2 * kPanelColumns;

// Zeros up to a multiple of 16 pairs.
void fill_up(int depth, std::uint32_t* pairs) {
  std::fill(pairs + (depth + 1) / 2 * kPanelColumns, pairs + (depth + 31) / 32 * 16 * kPanelColumns,
            0u);
}

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

constexpr std::int64_t kDoubleBlock = kPanelBlock;

// to[i][c] = from(i, c) in rows of 32, 0 beyond `columns`; what lies next to each other is read so.
void write_doubles(const double* from, std::int64_t row, std::int64_t column, int columns,
                   int depth, double* to) {
  for (int i = 0; columns < kPanelColumns && i < depth; ++i) {
    std::fill(to + i * kPanelColumns + columns, to + (i + 1) * kPanelColumns, 0.0);
  }
  if (column == 1) {
    for (int i = 0; i < depth; ++i) std::copy_n(from + i * row, columns, to + i * kPanelColumns);
    return;
  }
  for (int c = 0; c < columns; ++c) {
    for (int i = 0; i < depth; ++i) to[i * kPanelColumns + c] = from[i * row + c * column];
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

DoublePanels ViewPanels::fetch_double(std::int64_t offset, std::int64_t panel, int count,
                                      std::int64_t k, int depth, double* scratch) const {
  const Matrix from = matrix_.at(k, panel * kPanelColumns, offset);
  for (int p = 0; p < count; ++p) {
    const std::int64_t first = p * kPanelColumns;
    const int columns = static_cast<int>(
        std::min<std::int64_t>(kPanelColumns, columns_ - panel * kPanelColumns - first));
    write_doubles(static_cast<const double*>(from.at(0, first).data), from.row, from.column,
                  columns, depth, scratch + p * kDoubleBlock);
  }
  return {scratch, kDoubleBlock};
}

PairPanels PanelSource::fetch_pairs(std::int64_t offset, std::int64_t panel, int count,
                                    std::int64_t k, int depth, std::uint32_t* scratch) const {
  alignas(64) float wide[kPanelBlock];
  for (int p = 0; p < count; ++p) {
    std::uint32_t* const to = scratch + p * kPairBlock;
    for (int i = 0; i < depth; i += kDepthBlock) {
      const int some = std::min(kDepthBlock, depth - i);
      const Panels panels = fetch(offset, panel + p, 1, k + i, some, wide);
      kernels::pack_kernels().narrow_pairs(panels.first, some, to + i / 2 * kPanelColumns);
    }
    fill_up(depth, to);
  }
  return {scratch, kPairBlock};
}

PairPanels ViewPanels::fetch_pairs(std::int64_t offset, std::int64_t panel, int count,
                                   std::int64_t k, int depth, std::uint32_t* scratch) const {
  const Matrix from = matrix_.at(k, panel * kPanelColumns, offset);
  if (from.column != 1 || from.dtype != DType::bfloat16) {
    return PanelSource::fetch_pairs(offset, panel, count, k, depth, scratch);
  }
  const std::int64_t columns =
      std::min<std::int64_t>(count * kPanelColumns, columns_ - panel * kPanelColumns);
  kernels::pack_kernels().pairs_from_rows(static_cast<const std::uint16_t*>(from.data), from.row,
                                          static_cast<int>(columns), depth, scratch, kPairBlock);
  for (int p = 0; p < count; ++p) fill_up(depth, scratch + p * kPairBlock);
  return {scratch, kPairBlock};
}

bool StoredPanels::is_bfloat16() const { return storage_.format == WeightFormat::bfloat16; }

PairPanels StoredPanels::fetch_pairs(std::int64_t offset, std::int64_t panel, int count,
                                     std::int64_t k, int depth, std::uint32_t* scratch) const {
  if (!is_bfloat16()) {
    return PanelSource::fetch_pairs(offset, panel, count, k, depth, scratch);
  }
  return {reinterpret_cast<const std::uint32_t*>(storage_.at(panel, k)),
          storage_.panel_bytes / static_cast<std::int64_t>(sizeof(std::uint32_t))};
}

bool TransposedPanels::is_bfloat16() const { return storage_.format == WeightFormat::bfloat16; }

Panels StoredPanels::fetch(std::int64_t /*offset*/, std::int64_t panel, int count, std::int64_t k,
                           int depth, float* scratch) const {
  if (storage_.format == WeightFormat::float32) {
    return {reinterpret_cast<const float*>(storage_.at(panel, k)),
            storage_.panel_bytes / static_cast<std::int64_t>(sizeof(float))};
  }
  widen_panels(storage_, panel, count, k, depth, scratch, kPanelBlock);
  return {scratch, kPanelBlock};
}

DoublePanels StoredPanels::fetch_double(std::int64_t /*offset*/, std::int64_t panel, int /*count*/,
                                        std::int64_t k, int /*depth*/, double* /*scratch*/) const {
  return {reinterpret_cast<const double*>(storage_.at(panel, k)),
          storage_.panel_bytes / static_cast<std::int64_t>(sizeof(double))};
}

DoublePanels TransposedPanels::fetch_double(std::int64_t /*offset*/, std::int64_t panel, int count,
                                            std::int64_t k, int depth, double* scratch) const {
  for (int i = 0; i < depth; i += kPanelColumns) {
    for (int p = 0; p < count; ++p) {
      const std::int64_t first = (panel + p) * kPanelColumns;
      const int inputs =
          static_cast<int>(std::min<std::int64_t>(kPanelColumns, storage_.inputs - first));
      write_doubles(reinterpret_cast<const double*>(storage_.at((k + i) / kPanelColumns, first)), 1,
                    kPanelColumns, inputs, std::min(kPanelColumns, depth - i),
                    scratch + p * kDoubleBlock + i * kPanelColumns);
    }
  }
  return {scratch, kDoubleBlock};
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
        widen_panels(storage_, stored, 1, first, inputs, wide, 0);
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
