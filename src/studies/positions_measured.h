#pragma once

#include <string>
#include <vector>

#include "studies/offset_spread.h"
#include "studies/position_arms.h"
#include "volvelle/studies/positions.h"

namespace volvelle {

/// The spread after the projections of one seed.
struct DrawnSpread {
  std::uint64_t seed = 0;
  double spread = 0;
};

/// Everything that the study measures.
struct PositionsMeasured {
  std::vector<PositionArm> arms;
  std::vector<ArmFigures> figures;  ///< of the arms, in their order
  PositionRows table;               ///< sinusoidal, `tokens` rows and `shift` more
  double shift_off = 0;             ///< from the turned rows
  PositionRows plain, projected;    ///< products of rows, (T,T)
  std::vector<OffsetSpread> plain_spreads, projected_spreads;
  double spread_plain = 0, spread_projected = 0;
  std::vector<DrawnSpread> draws;
  std::int64_t learned_parameters = 0;
  std::string learned_refusal;  ///< what it says of the position after its last
  PositionRows bias;            ///< of the clamped table, (T,T)

  const ArmFigures& arm(const std::string& key) const;
};

/// The clamped table of the example, offsets -2 to 2. It is an illustration, not learned.
inline constexpr double kExampleBias[] = {0.0, 0.5, -0.5, 1.0, -1.0};

/// Offsets over which the projected spread is taken: the longest two have too few pairs.
inline std::int64_t projected_offsets(std::int64_t tokens) { return tokens - 3; }

bool measure_positions(const PositionsStudyOptions& options, const StudyRun& run,
                       PositionsMeasured& measured);

}  // namespace volvelle
