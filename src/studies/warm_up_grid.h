#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/warm_up_run.h"

namespace volvelle {

/// What was trained at one place of the table, seed after seed.
struct WarmUpCell {
  std::string placement;
  std::int64_t depth = 1;
  double rate = 0;
  WarmUpArm arm = {};
  std::vector<WarmUpOutcome> outcomes = {};  ///< those that finished

  std::int64_t count(RunVerdict verdict) const;
  std::int64_t runs() const { return static_cast<std::int64_t>(outcomes.size()); }
  /// More than half of the seeds; nothing learned where nothing ran.
  bool mostly_learned() const { return 2 * count(RunVerdict::learned) > runs(); }
  bool all_learned() const { return runs() > 0 && count(RunVerdict::learned) == runs(); }
  bool none_learned() const { return runs() > 0 && count(RunVerdict::learned) == 0; }
};

/// A row of the grid: one placement, depth and arm at ascending rates.
struct WarmUpRow {
  std::vector<WarmUpCell> cells;

  const WarmUpCell& front() const { return cells.front(); }
};

struct WarmUpGrid {
  std::vector<WarmUpRow> rows;
  WarmUpRun control = {};
  WarmUpOutcome control_outcome = {};
  bool complete = true;
  std::int64_t runs = 0;         ///< without the control
  std::int64_t bought_runs = 0;  ///< of these, paid for by broken ones

  /// The row of a placement, depth and arm; null where there is none.
  const WarmUpRow* row(const std::string& placement, std::int64_t depth,
                       const WarmUpArm& arm) const;
};

/// Whether a row's cell ended otherwise than a neighbouring rate, or than itself with another seed.
bool is_at_edge(const WarmUpRow& row, std::size_t rate);

/// Whether it deserves more seeds: at an edge, or held against a cell at one that ended otherwise
/// (another arm of the placement, or the same arm of another placement, at its depth and rate).
bool wants_seeds(const WarmUpGrid& grid, const WarmUpRow& row, std::size_t rate);

/// Trains all cells, those at an edge with further seeds, then what broken runs have paid for, then
/// the control. Which cells get further seeds is decided between rounds, from runs that all have
/// ended.
WarmUpGrid train_grid(const WarmUpOptions& options, const StudyRun& run);

}  // namespace volvelle
