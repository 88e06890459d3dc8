#pragma once

#include <cstdint>

#include "ops/matrix.h"

namespace volvelle {

/// Rows of a bfloat16 left operand over its whole depth, as products of pairs read them: rows a
/// multiple of 16, depth a multiple of 32, zeros beyond what there is.
struct LeftPairs {
  const std::uint16_t* data = nullptr;
  std::int64_t row = 0;  ///< stride
};

inline constexpr std::int64_t kPairRows = 16;

constexpr std::int64_t whole_pair_rows(std::int64_t rows) {
  return (rows + kPairRows - 1) / kPairRows * kPairRows;
}

/// Whether the rows lie so already.
bool lie_as_pairs(const Matrix& matrix, std::int64_t rows, std::int64_t depth);

/// Of a copy otherwise: numbers from row to row, and numbers in all.
std::int64_t pair_pitch(std::int64_t depth);
std::int64_t pair_scratch(std::int64_t rows, std::int64_t depth);

/// Words that copying columns needs on the way.
inline constexpr std::int64_t kInterleavedDepth = 64;
constexpr std::int64_t interleaved_words(std::int64_t rows) {
  return (rows + 31) / 32 * 32 * kInterleavedDepth / 2;
}

/// Copies them to `scratch`; `words` holds interleaved_words(rows).
LeftPairs copy_pairs(const Matrix& matrix, std::int64_t rows, std::int64_t depth,
                     std::uint16_t* scratch, std::uint32_t* words);

}  // namespace volvelle
