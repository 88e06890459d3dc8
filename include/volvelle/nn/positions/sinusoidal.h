#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/tensor/dtype.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// How sines and cosines lie in a row.
enum class SinusoidalLayout : std::uint8_t {
  interleaved,   ///< sine and cosine of frequency i in columns 2i and 2i + 1, as in the paper
  concatenated,  ///< all sines, then all cosines
};

/// Which frequencies there are, for width d.
enum class SinusoidalKind : std::uint8_t {
  paper,    ///< w_i = base^(-2i/d): stops short of base turns
  fairseq,  ///< w_i = exp(-i ln(base) / (d/2 - 1)): the last is 1/base
};

/// Odd widths: of the paper's kind the last frequency has a sine and no cosine; of fairseq's kind
/// the last column is 0.
struct SinusoidalOptions {
  double base = 10000;
  SinusoidalLayout layout = SinusoidalLayout::interleaved;
  SinusoidalKind kind = SinusoidalKind::paper;
  std::int64_t offset = 0;  ///< position p has the sines and cosines of p + offset
};

/// w_0, w_1, ...: one of each pair of columns, the last of one column where the width is odd and
/// the kind is the paper's. Units: radians per position.
/// Throws InvalidArgument: a width below 1 (fairseq: 4), a base that is not above 0.
/// Source: Vaswani et al. 2017, arXiv:1706.03762.
VOLVELLE_API std::vector<double> sinusoidal_frequencies(std::int64_t width,
                                                        const SinusoidalOptions& options = {});

/// Rows of positions first .. first + rows - 1, (rows, width). Angles are computed in double; dtype
/// is float32, which a model adds, or float64.
VOLVELLE_API Tensor sinusoidal_table(std::int64_t rows, std::int64_t width,
                                     const SinusoidalOptions& options = {},
                                     DType dtype = DType::float32, std::int64_t first = 0);

/// The settings of "sinusoidal(...)".
VOLVELLE_API SinusoidalOptions sinusoidal_options(const PositionText& text);

}  // namespace volvelle
