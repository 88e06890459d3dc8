#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "volvelle/nn/positions/sinusoidal.h"

namespace volvelle {

/// Writes the row of one position, whose frequencies these are.
template <class T>
void sinusoidal_row(std::int64_t position, std::int64_t width,
                    const std::vector<double>& frequencies, const SinusoidalOptions& options,
                    T* row) {
  const bool interleaved = options.layout == SinusoidalLayout::interleaved;
  const auto sines = static_cast<std::int64_t>(frequencies.size());
  const double place = static_cast<double>(position) + static_cast<double>(options.offset);
  row[width - 1] = 0;  // of fairseq's kind nothing else is written there where the width is odd
  for (std::int64_t i = 0; i < sines; ++i) {
    const double angle = place * frequencies[static_cast<std::size_t>(i)];
    const std::int64_t cosine = interleaved ? 2 * i + 1 : sines + i;
    row[interleaved ? 2 * i : i] = static_cast<T>(std::sin(angle));
    if (cosine < width) row[cosine] = static_cast<T>(std::cos(angle));
  }
}

}  // namespace volvelle
