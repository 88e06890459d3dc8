#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "studies/extrapolation_run.h"
#include "volvelle/studies/position_faults.h"

namespace volvelle {

/// One mistake in one network.
struct FaultOutcome {
  BandFigures before, after;
  double moved = 0;  ///< the largest change of a logit

  double cost() const { return after.loss - before.loss; }
};

/// One network, and every mistake of the list that its scheme has a place for.
struct FaultNetwork {
  bool finished = false;
  std::vector<FaultOutcome> outcomes;  ///< by fault; empty parts where it has no place
  double hand_difference = 0;  ///< of the pass written by hand without mistakes from the model's
};

struct FaultRuns {
  std::vector<std::string> absent;  ///< by fault: why the scheme has no place for it, or empty
  std::vector<FaultNetwork> trained, untrained;  ///< by seed
  bool complete = true;
};

/// The task that the networks learn.
std::unique_ptr<ExtrapolationTask> fault_task(const PositionFaultsOptions& options);

/// Their sizes and training, as the contest of schemes has them.
ExtrapolationOptions fault_sizes(const PositionFaultsOptions& options);

FaultRuns run_position_faults(const PositionFaultsOptions& options, const StudyRun& run);

}  // namespace volvelle
