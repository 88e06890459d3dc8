#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/extrapolation_contest.h"
#include "studies/seed_statistics.h"

namespace volvelle {

/// Bands of a contest by number: 0 is what was seen in training, 1 the next longer test, ...
std::size_t band_count(const ExtrapolationOptions& options);
/// "seen", "1-2x", "2-4x".
std::string band_name(const ExtrapolationOptions& options, std::size_t band);

/// What an outcome has in a band: absent beyond a table's end.
const BandFigures* figures_in(const ContestOutcome& outcome, std::size_t band);
/// The same in windows of the training length; in band 0 what it has seen.
const BandFigures* windows_in(const ContestOutcome& outcome, std::size_t band);

/// The outcomes that count.
std::vector<const ContestOutcome*> counted(const Contest& contest, const ContestEntry& entry);
std::int64_t finished_runs(const ContestEntry& entry);

/// One figure of each outcome that counts and has it; `windowed` from windows.
std::vector<double> values_in(const Contest& contest, const ContestEntry& entry, std::size_t band,
                              bool windowed,
                              const std::function<double(const BandFigures&)>& figure);

/// Loss above the best possible; where that is not known, the loss.
double shown_loss(const BandFigures& figures);

/// Lower median, absent for no values or where it is no number.
std::optional<double> median_of(const std::vector<double>& values);

/// Run by run: what it loses when it sees all, and when it sees the window.
struct WindowPairs {
  std::int64_t whole_better = 0, window_better = 0;
  std::optional<double> gain;  ///< median of window minus whole
};
WindowPairs window_pairs(const Contest& contest, const ContestEntry& entry, std::size_t band);

/// The entry of a contestant in a task; null where there is none.
const ContestEntry* entry_named(const Contest& contest, std::size_t task, const std::string& name);

}  // namespace volvelle
