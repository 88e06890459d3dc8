#include "studies/warm_up_findings.h"

#include <algorithm>
#include <cmath>

#include "volvelle/report/number.h"

namespace volvelle {

std::optional<FailingRate> failing_rate(const WarmUpGrid& grid, const WarmUpRow& row) {
  FailingRate found{.row = &row, .low = {}, .high = {}};
  for (std::size_t rate = 0; rate < row.cells.size(); ++rate) {
    const WarmUpCell& cell = row.cells[rate];
    if (cell.runs() == 0) continue;
    if (cell.mostly_learned()) {
      found.lower_rate_learned = true;
      if (cell.all_learned()) found.low = cell.rate;
      continue;
    }
    if (cell.arm.kind != WarmUpArm::Kind::warm_up) {
      for (const WarmUpRow& other : grid.rows) {
        const WarmUpCell& climbed = other.cells[rate];
        if (climbed.arm.kind == WarmUpArm::Kind::warm_up && climbed.placement == cell.placement &&
            climbed.depth == cell.depth && climbed.mostly_learned()) {
          found.warm_up_learned = true;
        }
      }
    }
    if (!found.lower_rate_learned && !found.warm_up_learned) continue;
    found.at = rate;
    for (std::size_t above = rate; above < row.cells.size() && !found.high; ++above) {
      if (row.cells[above].none_learned()) found.high = row.cells[above].rate;
    }
    return found;
  }
  return {};
}

std::size_t telling_rate(const WarmUpGrid& grid, std::int64_t depth) {
  std::optional<std::size_t> lowest;
  for (const WarmUpRow& row : grid.rows) {
    if (row.front().depth != depth) continue;
    if (const auto failing = failing_rate(grid, row)) {
      lowest = std::min(lowest.value_or(failing->at), failing->at);
    }
  }
  return lowest.value_or(grid.rows.front().cells.size() / 2);
}

std::vector<LayerFigures> stack_figures(const WarmUpCell& cell) {
  std::vector<LayerFigures> layers;
  if (cell.outcomes.empty()) return layers;
  for (const LayerFigures& figures : cell.outcomes.front().layers) {
    if (figures.layer.starts_with("stack.layers.")) layers.push_back(figures);
  }
  return layers;
}

double PairedRuns::chance() const {
  const std::int64_t of = only_first + only_second;
  const std::int64_t fewer = std::min(only_first, only_second);
  double ways = 1, sum = 0;  // binomial coefficients, exact enough far beyond any study's size
  for (std::int64_t k = 0; k <= fewer; ++k) {
    sum += ways;
    ways = ways * static_cast<double>(of - k) / static_cast<double>(k + 1);
  }
  return std::min(1.0, 2 * sum * std::exp2(-static_cast<double>(of)));
}

PairedRuns paired_runs(const WarmUpRow& first, const WarmUpRow& second) {
  PairedRuns pairs;
  for (std::size_t rate = 0; rate < std::min(first.cells.size(), second.cells.size()); ++rate) {
    const auto& a = first.cells[rate].outcomes;
    const auto& b = second.cells[rate].outcomes;
    for (std::size_t seed = 0; seed < std::min(a.size(), b.size()); ++seed) {
      const bool one = a[seed].verdict == RunVerdict::learned;
      const bool two = b[seed].verdict == RunVerdict::learned;
      ++(one ? (two ? pairs.both : pairs.only_first) : (two ? pairs.only_second : pairs.neither));
    }
  }
  return pairs;
}

std::string rate_text(double rate) { return rounded(rate, 6); }

ShareInterval share_interval(std::int64_t some, std::int64_t of) {
  if (of <= 0) return {};
  const double n = static_cast<double>(of), share = static_cast<double>(some) / n;
  const double z = 1.959963984540054, square = z * z / n;
  const double middle = (share + square / 2) / (1 + square);
  const double half = z * std::sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace volvelle
