#include "ops/left_pairs.h"

#include <algorithm>
#include <cstring>

#include "kernels/matmul.h"
#include "kernels/matmul_pack.h"
#include "ops/product_cut.h"

namespace volvelle {
namespace {

constexpr int kPanelColumns = kernels::kPanelColumns;

void copy_rows(const Matrix& matrix, std::int64_t rows, std::int64_t depth, std::int64_t pitch,
               std::uint16_t* to) {
  for (std::int64_t r = 0; r < rows; ++r, to += pitch) {
    const std::uint16_t* from = static_cast<const std::uint16_t*>(matrix.at(r, 0).data);
    if (matrix.column == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(depth) * sizeof *to);
    } else {
      for (std::int64_t i = 0; i < depth; ++i) to[i] = from[i * matrix.column];
    }
  }
}

// Of a transposed operand what lies next to each other are rows. Neighbours in depth are woven into
// words, as the right operand has them, and the words are transposed. An odd last number has a 0
// for its partner.
void copy_columns(const Matrix& matrix, std::int64_t rows, std::int64_t depth, std::int64_t pitch,
                  std::uint16_t* to, std::uint32_t* words) {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  for (std::int64_t first = 0; first < depth; first += kInterleavedDepth) {
    const int some = static_cast<int>(std::min(kInterleavedDepth, depth - first));
    const int pairs = (some + 1) / 2;
    const std::int64_t panel_words = std::int64_t{pairs} * kPanelColumns;
    pack.pairs_from_rows(static_cast<const std::uint16_t*>(matrix.at(0, first).data), matrix.column,
                         static_cast<int>(rows), some, words, panel_words);
    for (std::int64_t r = 0; r < rows; r += kPanelColumns) {
      const int count = static_cast<int>(std::min<std::int64_t>(kPanelColumns, rows - r));
      pack.transpose_words(words + r / kPanelColumns * panel_words, kPanelColumns, pairs, count,
                           reinterpret_cast<std::uint32_t*>(to + r * pitch + first), pitch / 2);
    }
  }
}

}  // namespace

bool lie_as_pairs(const Matrix& matrix, std::int64_t rows, std::int64_t depth) {
  // Many rows a multiple of 8 KiB apart meet in a few sets of the second-level cache.
  const bool crowded = rows > kFewRows && matrix.row % 4096 == 0;
  return matrix.column == 1 && rows % kPairRows == 0 && depth % 32 == 0 && !crowded;
}

std::int64_t pair_pitch(std::int64_t depth) {
  const std::int64_t whole = (depth + 31) / 32 * 32;
  return whole + (whole % 1024 == 0 ? 32 : 0);  // see above
}

std::int64_t pair_scratch(std::int64_t rows, std::int64_t depth) {
  return whole_pair_rows(rows) * pair_pitch(depth);
}

LeftPairs copy_pairs(const Matrix& matrix, std::int64_t rows, std::int64_t depth,
                     std::uint16_t* scratch, std::uint32_t* words) {
  const std::int64_t pitch = pair_pitch(depth);
  if (matrix.row == 1 && matrix.column != 1 && rows > 1) {
    copy_columns(matrix, rows, depth, pitch, scratch, words);
  } else {
    copy_rows(matrix, rows, depth, pitch, scratch);
  }
  const std::int64_t whole = (depth + 31) / 32 * 32;
  for (std::int64_t r = 0; r < whole_pair_rows(rows); ++r) {
    std::uint16_t* const row = scratch + r * pitch;
    std::fill(row + (r < rows ? depth : 0), row + whole, std::uint16_t{0});
  }
  return {scratch, pitch};
}

}  // namespace volvelle
