#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "studies/warm_up_grid.h"

namespace volvelle {

/// From which rate on a row fails, where that is not for want of time or of a solvable task.
struct FailingRate {
  const WarmUpRow* row = nullptr;
  std::size_t at = 0;  ///< the smallest rate at which at most half of the seeds learned
  /// Below it the highest rate at which all seeds learned, and from it on the lowest at which none
  /// did: absent where there is none.
  std::optional<double> low, high;
  bool lower_rate_learned = false;  ///< why it counts as a failure of the rate:
  bool warm_up_learned = false;     ///< a warm-up to the same rate did

  double rate() const { return row->cells[at].rate; }
};

/// Of a row; absent where it fails at no rate, or where nothing learned that would make it one.
std::optional<FailingRate> failing_rate(const WarmUpGrid& grid, const WarmUpRow& row);

/// The place of the rate that tells most at a depth: the lowest at which a row fails, or else the
/// middle one.
std::size_t telling_rate(const WarmUpGrid& grid, std::int64_t depth);

/// Figures of the layers of the stack in the first seed's first steps, without those of the table
/// and the head; empty where none were taken.
std::vector<LayerFigures> stack_figures(const WarmUpCell& cell);

/// Two rows run for run: the same depth, rate and seed.
struct PairedRuns {
  std::int64_t both = 0, only_first = 0, only_second = 0, neither = 0;

  std::int64_t pairs() const { return both + only_first + only_second + neither; }
  /// Two-sided sign test of only_first against only_second: how often chance alone would divide
  /// them at least as unevenly.
  double chance() const;
};

/// Whether they learned.
PairedRuns paired_runs(const WarmUpRow& first, const WarmUpRow& second);

/// "0.0003", as tables show it.
std::string rate_text(double rate);

/// 95% interval of a share, after Wilson 1927: [low, high].
struct ShareInterval {
  double low = 0, high = 1;
};
ShareInterval share_interval(std::int64_t some, std::int64_t of);

}  // namespace volvelle
