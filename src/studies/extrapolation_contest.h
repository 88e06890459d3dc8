#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "studies/extrapolation_order.h"
#include "studies/extrapolation_run.h"
#include "volvelle/studies/study.h"

namespace volvelle {

/// What one contestant did in one task.
struct ContestEntry {
  std::size_t task = 0;
  std::size_t contestant = 0;
  std::int64_t parameters = 0;
  double rate = 0;                       ///< the one that was chosen
  std::vector<ContestOutcome> outcomes;  ///< by seed; unfinished ones say nothing
};

/// A learned table whose last quarter was seen always, or rarely.
struct RowsOutcome {
  bool finished = false;
  BandFigures often, last_quarter;  ///< of the positions before the last quarter, and in it
  double often_change = 0, last_change = 0;  ///< root mean square of what training changed
};

struct RowsEntry {
  std::size_t task = 0;
  std::int64_t full_every = 1;
  std::vector<RowsOutcome> outcomes;  ///< by seed
};

struct OrderEntry {
  OrderRun run;                        ///< the seed is the first
  std::vector<OrderOutcome> outcomes;  ///< by seed
};

struct Contest {
  std::vector<std::unique_ptr<ExtrapolationTask>> tasks;
  std::vector<Contestant> contestants;
  std::vector<ContestEntry> entries;  ///< by task, then by contestant
  std::vector<RowsEntry> rows;        ///< where a learned table takes part
  std::vector<OrderEntry> order;      ///< the first is the control
  std::int64_t runs = 0;              ///< networks that were trained for the entries
  bool complete = true;
};

/// Trains and tests all. What is trained next is decided between rounds, from runs that have ended.
Contest hold_contest(const ExtrapolationOptions& options, const StudyRun& run);

}  // namespace volvelle
