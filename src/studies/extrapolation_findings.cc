#include "studies/extrapolation_findings.h"

#include <cmath>

#include "volvelle/report/number.h"

namespace volvelle {

std::size_t band_count(const ExtrapolationOptions& options) {
  return 1 + longer_bands(options).size();
}

std::string band_name(const ExtrapolationOptions& options, std::size_t band) {
  if (band == 0) return "seen";
  const PositionBand longer = longer_bands(options)[band - 1];
  const auto times = [&](std::int64_t place) {
    return rounded(static_cast<double>(place) / static_cast<double>(options.train), 2);
  };
  return times(longer.from) + "-" + times(longer.to) + "x";
}

const BandFigures* figures_in(const ContestOutcome& outcome, std::size_t band) {
  if (!outcome.finished) return nullptr;
  if (band == 0) return &outcome.seen;
  return band <= outcome.bands.size() ? &outcome.bands[band - 1] : nullptr;
}

const BandFigures* windows_in(const ContestOutcome& outcome, std::size_t band) {
  if (!outcome.finished) return nullptr;
  if (band == 0) return &outcome.seen;
  return band <= outcome.windows.size() ? &outcome.windows[band - 1] : nullptr;
}

std::vector<const ContestOutcome*> counted(const Contest& contest, const ContestEntry& entry) {
  const std::vector<ContestPart> parts = contest.tasks[entry.task]->parts();
  std::vector<const ContestOutcome*> outcomes;
  for (const ContestOutcome& outcome : entry.outcomes) {
    if (outcome.finished && outcome.counts(parts)) outcomes.push_back(&outcome);
  }
  return outcomes;
}

std::int64_t finished_runs(const ContestEntry& entry) {
  std::int64_t runs = 0;
  for (const ContestOutcome& outcome : entry.outcomes) runs += outcome.finished ? 1 : 0;
  return runs;
}

std::vector<double> values_in(const Contest& contest, const ContestEntry& entry, std::size_t band,
                              bool windowed,
                              const std::function<double(const BandFigures&)>& figure) {
  std::vector<double> values;
  for (const ContestOutcome* outcome : counted(contest, entry)) {
    const BandFigures* figures = windowed ? windows_in(*outcome, band) : figures_in(*outcome, band);
    if (figures == nullptr) continue;
    const double value = figure(*figures);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

double shown_loss(const BandFigures& figures) { return figures.above_best(); }

std::optional<double> median_of(const std::vector<double>& values) {
  const double median = lower_median(values);
  return std::isnan(median) ? std::nullopt : std::optional<double>(median);
}

WindowPairs window_pairs(const Contest& contest, const ContestEntry& entry, std::size_t band) {
  WindowPairs pairs;
  std::vector<double> gains;
  for (const ContestOutcome* outcome : counted(contest, entry)) {
    const BandFigures* whole = figures_in(*outcome, band);
    const BandFigures* window = windows_in(*outcome, band);
    if (whole == nullptr || window == nullptr) continue;
    const double gain = window->loss - whole->loss;
    gains.push_back(gain);
    pairs.whole_better += gain > 0 ? 1 : 0;
    pairs.window_better += gain < 0 ? 1 : 0;
  }
  pairs.gain = median_of(gains);
  return pairs;
}

const ContestEntry* entry_named(const Contest& contest, std::size_t task, const std::string& name) {
  for (const ContestEntry& entry : contest.entries) {
    if (entry.task == task && contest.contestants[entry.contestant].name == name) return &entry;
  }
  return nullptr;
}

}  // namespace volvelle
