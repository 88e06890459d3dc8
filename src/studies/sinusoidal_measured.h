#pragma once

#include <cstdint>
#include <vector>

#include "studies/embedding_scale.h"
#include "studies/frequency_ladders.h"
#include "studies/sinusoid_checks.h"
#include "studies/sinusoid_variants.h"
#include "volvelle/studies/sinusoidal.h"

namespace volvelle {

/// A variant beside the oracle, up to a position.
struct PrecisionBand {
  std::int64_t first = 0, last = 0;
  std::vector<double> error;           ///< largest difference from the loop, by TableVariant
  std::vector<std::int64_t> distinct;  ///< rows among those from 0 on, by TableVariant
};

/// Everything that the study measures.
struct SinusoidalMeasured {
  PositionRows table;                    ///< the scheme's, length x width
  std::vector<SinusoidFigures> figures;  ///< by TableVariant, on length x width
  std::vector<std::int64_t> distinct;    ///< by TableVariant, of rows x row_width
  std::vector<std::int64_t> of_rows;     ///< rows that it was counted among
  std::vector<PrecisionBand> bands;
  FrequencyLadder geometric, linear;
  ClosestRows closest_geometric, closest_linear;
  std::int64_t linear_pairs = 0;
  std::vector<EmbeddingScale> scales;
  std::int64_t parameters = 0;            ///< as the scheme states them
  bool concatenated_is_permuted = false;  ///< its concatenated kind is a permutation of columns
  double far_off = 0;                     ///< difference from the loop at far positions
};

/// Positions at which `far_off` is looked at.
inline constexpr std::int64_t kFarPosition = 1'000'000;

/// Stops between variants where it is told to; returns whether it came to its end.
bool measure_sinusoidal(const SinusoidalStudyOptions& options, const StudyRun& run,
                        SinusoidalMeasured& measured);

}  // namespace volvelle
