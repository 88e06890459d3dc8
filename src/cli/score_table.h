#pragma once

#include <cstdint>
#include <string>

#include "volvelle/tensor/view.h"

namespace volvelle::cli {

inline constexpr char kExcludedMark[] = ".";

/// One head's matrix (T,S) with its queries and keys named; the cells that `excluded` (of the same
/// shape, may be absent) marks are shown as kExcludedMark.
std::string score_table(const View& matrix, const View& excluded, int digits);

/// A matrix with its rows named ("query 0") and its columns not.
std::string row_table(const View& matrix, const std::string& row, int digits);

/// The element at (i, j).
double element(const View& matrix, std::int64_t i, std::int64_t j);

/// The matrix of one head of one batch row, of an array (B,H,...,...).
View head_of(const View& array, std::int64_t batch, std::int64_t head);

}  // namespace volvelle::cli
