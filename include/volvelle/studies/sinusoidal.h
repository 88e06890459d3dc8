#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

struct SinusoidalStudyOptions {
  std::int64_t length = 50;     ///< rows of the table that is looked into
  std::int64_t width = 16;      ///< its columns, an even number
  std::int64_t shift = 5;       ///< positions between the rows that a rotation takes to each other
  std::int64_t rows = 5000;     ///< of the table whose rows are told apart
  std::int64_t row_width = 64;  ///< its columns, an even number
  double base = 10000;
  std::uint64_t seed = 0;  ///< of the embeddings that the table is added to
};

/// What the table of sines and cosines promises, measured on the one that the scheme `sinusoidal`
/// adds to token vectors: equal to a literal double loop, wavelengths, length of rows, range,
/// another position as a rotation, distinct rows; a linear ladder of rates beside the geometric
/// one, the table beside embeddings with and without the factor sqrt(width), and what 16-bit
/// numbers do to it. Controls: an exponent of i/d, and positions held in float16.
/// Throws InvalidArgument: odd widths (with the remedy), sizes out of range, a base of 1 or less.
/// Source:  Vaswani et al. 2017, arXiv:1706.03762.
VOLVELLE_API StudyResult study_sinusoidal(const SinusoidalStudyOptions& options = {},
                                          const StudyRun& run = {});

}  // namespace volvelle
