#pragma once

#include <optional>
#include <string>

#include "attention/resolved.h"
#include "check/gradient_pair.h"

namespace volvelle {

/// A foreign gradient whose shape is not ours, brought to it.
struct GradientReading {
  View view;
  Tensor owned;            ///< its memory where sums were made
  std::string fault;       ///< what its shape shows
  std::string what;        ///< "has one gradient for each of the 8 query heads ..."
  std::string when_right;  ///< "summed over them" ...: what makes it ours
};

/// `theirs` on the axes of pair.ours: as it is, with query heads summed, a bias's broadcast axes
/// summed, or axes in another order, whichever comes closest to ours. Absent when no reading fits.
std::optional<GradientReading> read_gradient(const ResolvedAttention& resolved,
                                             const GradientPair& pair, const View& theirs);

}  // namespace volvelle
